//! Tokens, and sets of them.
//!
//! The order of the kinds is that of cel-go's grammar (`parser/gen/CEL.g4`): messages list what
//! was expected in this order.

use std::fmt;
use std::ops::BitOr;

/// A token: what it is and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// In bytes.
    pub(super) start: usize,
    /// In bytes.
    pub(super) end: usize,
    /// Where it starts, in characters.
    pub(super) offset: u32,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum TokenKind {
    End,
    Equals,
    NotEquals,
    In,
    Less,
    LessEquals,
    GreaterEquals,
    Greater,
    And,
    Or,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    LeftParen,
    RightParen,
    Dot,
    Comma,
    Minus,
    Not,
    Question,
    Colon,
    Plus,
    Star,
    Slash,
    Percent,
    True,
    False,
    Null,
    Double,
    Int,
    Uint,
    String,
    Bytes,
    Ident,
    QuotedIdent,
}

/// How kinds are named in messages, in their order.
const NAMES: [&str; 36] = [
    "<EOF>",
    "'=='",
    "'!='",
    "'in'",
    "'<'",
    "'<='",
    "'>='",
    "'>'",
    "'&&'",
    "'||'",
    "'['",
    "']'",
    "'{'",
    "'}'",
    "'('",
    "')'",
    "'.'",
    "','",
    "'-'",
    "'!'",
    "'?'",
    "':'",
    "'+'",
    "'*'",
    "'/'",
    "'%'",
    "'true'",
    "'false'",
    "'null'",
    "NUM_FLOAT",
    "NUM_INT",
    "NUM_UINT",
    "STRING",
    "BYTES",
    "IDENTIFIER",
    "ESC_IDENTIFIER",
];

/// A set of kinds, and whether the rule may end here so that what follows it counts too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TokenSet(u64);

const END_OF_RULE: u64 = 1 << 63;

impl TokenSet {
    /// No token: the rule may end.
    pub(super) const END_OF_RULE: TokenSet = TokenSet(END_OF_RULE);
    pub(super) const EMPTY: TokenSet = TokenSet(0);

    pub(super) const fn of(kinds: &[TokenKind]) -> TokenSet {
        let (mut bits, mut at) = (0, 0);
        while at < kinds.len() {
            bits |= 1 << kinds[at] as u8;
            at += 1;
        }
        TokenSet(bits)
    }

    pub(super) const fn or(self, other: TokenSet) -> TokenSet {
        TokenSet(self.0 | other.0)
    }

    pub(super) const fn or_end_of_rule(self) -> TokenSet {
        self.or(TokenSet::END_OF_RULE)
    }

    pub(super) const fn contains(self, kind: TokenKind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }

    pub(super) const fn may_end_rule(self) -> bool {
        self.0 & END_OF_RULE != 0
    }
}

impl BitOr for TokenSet {
    type Output = TokenSet;

    fn bitor(self, other: TokenSet) -> TokenSet {
        self.or(other)
    }
}

/// As messages list it.
impl fmt::Display for TokenSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has = |at: &usize| self.0 & (1 << at) != 0;
        let names: Vec<&str> = (0..NAMES.len()).filter(has).map(|at| NAMES[at]).collect();
        match names.as_slice() {
            [name] => f.write_str(name),
            names => write!(f, "{{{}}}", names.join(", ")),
        }
    }
}

use TokenKind as Kind;

/// What a primary expression starts with.
pub(super) const PRIMARY: TokenSet = TokenSet::of(&[
    Kind::LeftBracket,
    Kind::LeftBrace,
    Kind::LeftParen,
    Kind::Dot,
    Kind::Minus,
    Kind::True,
    Kind::False,
    Kind::Null,
    Kind::Double,
    Kind::Int,
    Kind::Uint,
    Kind::String,
    Kind::Bytes,
    Kind::Ident,
]);
/// What any expression starts with.
pub(super) const EXPR: TokenSet = PRIMARY.or(TokenSet::of(&[Kind::Not]));
/// What an item that may be optional starts with.
pub(super) const OPTIONAL_EXPR: TokenSet = EXPR.or(TokenSet::of(&[Kind::Question]));
/// A field's name.
pub(super) const FIELD: TokenSet = TokenSet::of(&[Kind::Ident, Kind::QuotedIdent]);
/// A field's name that may be optional.
pub(super) const OPTIONAL_FIELD: TokenSet = FIELD.or(TokenSet::of(&[Kind::Question]));
/// Comparisons.
pub(super) const RELATION: TokenSet = TokenSet::of(&[
    Kind::Equals,
    Kind::NotEquals,
    Kind::In,
    Kind::Less,
    Kind::LessEquals,
    Kind::GreaterEquals,
    Kind::Greater,
]);
/// Operators that bind tighter than those of [`SUM`].
pub(super) const PRODUCT: TokenSet = TokenSet::of(&[Kind::Star, Kind::Slash, Kind::Percent]);
/// Plus and minus.
pub(super) const SUM: TokenSet = TokenSet::of(&[Kind::Plus, Kind::Minus]);
/// What goes on after a primary expression.
pub(super) const SUFFIX: TokenSet = TokenSet::of(&[Kind::Dot, Kind::LeftBracket]);
