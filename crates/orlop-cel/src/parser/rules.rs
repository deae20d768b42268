//! The rules of the grammar, one method each.
//!
//! A method writes what it has read so far to its last argument, so that it is there when the rule
//! ends with an error: upstream looks at such trees too. The numbers are those that ANTLR gives the
//! places in the grammar; recovery compares them.
//!
//! Three choices need more than the next token: whether a minus belongs to a number, whether a
//! member is a call, and whether names are those of a message.

use orlop_machinery::Str;

use super::token::{
    EXPR, FIELD, OPTIONAL_EXPR, OPTIONAL_FIELD, PRIMARY, PRODUCT, RELATION, SUFFIX, SUM, Token,
    TokenKind as Kind, TokenSet,
};
use super::{Call, FieldNames, Node, Parser, Rule, Stop, literal};
use crate::ast::{Expr, ListItem, Literal, MapEntry, StructField};
use crate::operator;

/// Words that are kept for later. They can be fields, but no variables or functions.
const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

const END_OF_RULE: TokenSet = TokenSet::END_OF_RULE;
const OR: TokenSet = TokenSet::of(&[Kind::Or]).or_end_of_rule();
const AND: TokenSet = TokenSet::of(&[Kind::And]).or_end_of_rule();
const RELATION_OR_END: TokenSet = RELATION.or_end_of_rule();
const CALC_OR_END: TokenSet = PRODUCT.or(SUM).or_end_of_rule();
const SUFFIX_OR_END: TokenSet = SUFFIX.or_end_of_rule();
const COMMA_OR_END: TokenSet = TokenSet::of(&[Kind::Comma]).or_end_of_rule();
const COLON: TokenSet = TokenSet::of(&[Kind::Colon]);
const CLOSE_PAREN: TokenSet = TokenSet::of(&[Kind::RightParen]);
const CLOSE_BRACKET: TokenSet = TokenSet::of(&[Kind::RightBracket]);
const CLOSE_LIST: TokenSet = TokenSet::of(&[Kind::Comma, Kind::RightBracket]);
const CLOSE_MAP: TokenSet = TokenSet::of(&[Kind::Comma, Kind::RightBrace]);

/// Something that may be an error.
type Out = Option<Node>;

/// A field of a message as it is written.
struct MessageField {
    is_optional: bool,
    name: Str,
    /// Where its colon stands.
    offset: u32,
    value: Out,
}

impl Parser<'_> {
    /// The whole text.
    pub(super) fn start(&mut self) -> Result<Out, Stop> {
        self.report_skipped()?;
        let end = TokenSet::of(&[Kind::End]);
        let root = self.rule(Rule::Expr, end, Parser::expr)?;
        match self.expect(35, Kind::End, END_OF_RULE) {
            Err(Stop::Rule) => self.recover()?,
            done => drop(done?),
        }
        Ok(root)
    }

    /// `or ? or : expr`
    fn expr(&mut self, out: &mut Out) -> Result<(), Stop> {
        let question = TokenSet::of(&[Kind::Question]).or_end_of_rule();
        *out = self.rule(Rule::Other, question, Parser::or)?;
        if self.kind() != Kind::Question {
            return Ok(());
        }
        let offset = self.take()?.offset;
        let then = self.rule(Rule::Other, COLON, Parser::or)?;
        let (otherwise, done) = match self.expect(40, Kind::Colon, EXPR) {
            Ok(_) => (self.rule(Rule::Expr, END_OF_RULE, Parser::expr)?, Ok(())),
            Err(stop) => (None, Err(stop)),
        };
        *out = self.operator(operator::CONDITIONAL, offset, [*out, then, otherwise])?;
        done
    }

    /// `and || and ...`
    fn or(&mut self, out: &mut Out) -> Result<(), Stop> {
        *out = self.rule(Rule::Other, OR, Parser::and)?;
        if self.kind() != Kind::Or {
            return Ok(());
        }
        let (mut terms, mut offsets) = (vec![*out], Vec::new());
        while self.kind() == Kind::Or {
            offsets.push(self.take()?.offset);
            terms.push(self.rule(Rule::Other, OR, Parser::and)?);
        }
        *out = self.balance(operator::OR, &terms, &offsets)?;
        Ok(())
    }

    /// `relation && relation ...`
    fn and(&mut self, out: &mut Out) -> Result<(), Stop> {
        *out = self.rule(Rule::Relation, AND, |parser, out| parser.relation(0, out))?;
        if self.kind() != Kind::And {
            return Ok(());
        }
        let (mut terms, mut offsets) = (vec![*out], Vec::new());
        while self.kind() == Kind::And {
            offsets.push(self.take()?.offset);
            terms.push(self.rule(Rule::Relation, AND, |parser, out| parser.relation(0, out))?);
        }
        *out = self.balance(operator::AND, &terms, &offsets)?;
        Ok(())
    }

    /// `calc < calc ...`; the right side of a comparison is read with a higher precedence.
    fn relation(&mut self, precedence: u8, out: &mut Out) -> Result<(), Stop> {
        *out = self.rule(Rule::Calc, RELATION_OR_END, |parser, out| parser.calc(0, out))?;
        while precedence < 2 && RELATION.contains(self.kind()) {
            let token = self.take()?;
            let read = |parser: &mut Self, out: &mut Out| parser.relation(2, out);
            let right = self.rule(Rule::Relation, RELATION_OR_END, read)?;
            *out = self.operator(function(token.kind), token.offset, [*out, right])?;
        }
        Ok(())
    }

    /// `unary * unary + unary ...`
    fn calc(&mut self, precedence: u8, out: &mut Out) -> Result<(), Stop> {
        *out = self.rule(Rule::Other, CALC_OR_END, Parser::unary)?;
        loop {
            let kind = self.kind();
            let inner = match kind {
                _ if precedence < 3 && PRODUCT.contains(kind) => 3,
                _ if precedence < 2 && SUM.contains(kind) => 2,
                _ => return Ok(()),
            };
            let token = self.take()?;
            let read = |parser: &mut Self, out: &mut Out| parser.calc(inner, out);
            let right = self.rule(Rule::Calc, CALC_OR_END, read)?;
            *out = self.operator(function(token.kind), token.offset, [*out, right])?;
        }
    }

    /// `member`, `!!member`, `--member`
    fn unary(&mut self, out: &mut Out) -> Result<(), Stop> {
        let start = self.token().offset;
        let done = self.unary_or_error(out);
        if done == Err(Stop::Rule) && out.is_none() {
            *out = self.add(Expr::Literal(Literal::Null), start, 0)?;
        }
        done
    }

    fn unary_or_error(&mut self, out: &mut Out) -> Result<(), Stop> {
        self.sync(99, EXPR)?;
        let number = TokenSet::of(&[Kind::Int, Kind::Double]);
        match self.kind() {
            Kind::Not => self.not(out),
            // The minus of a number is part of it.
            Kind::Minus => match self.token_ahead(1).kind {
                next if number.contains(next) => self.member_rule(out),
                next if PRIMARY.contains(next) => self.negate(out),
                _ => Err(self.no_way(99, 2)?),
            },
            kind if PRIMARY.contains(kind) => self.member_rule(out),
            _ => Err(self.no_way(99, 1)?),
        }
    }

    fn member_rule(&mut self, out: &mut Out) -> Result<(), Stop> {
        *out = self.rule(Rule::Member, END_OF_RULE, Parser::member)?;
        Ok(())
    }

    fn not(&mut self, out: &mut Out) -> Result<(), Stop> {
        let offset = self.token().offset;
        let mut is_odd = false;
        while self.kind() == Kind::Not {
            self.expect(87, Kind::Not, PRIMARY)?;
            self.sync_loop(90, EXPR)?;
            is_odd = !is_odd;
        }
        self.member_rule(out)?;
        if is_odd {
            self.unary_operator(operator::NOT, offset, out)?;
        }
        Ok(())
    }

    fn negate(&mut self, out: &mut Out) -> Result<(), Stop> {
        let offset = self.token().offset;
        let mut is_odd = false;
        loop {
            self.expect(93, Kind::Minus, PRIMARY)?;
            self.sync_loop(96, PRIMARY)?;
            is_odd = !is_odd;
            match self.kind() {
                Kind::Minus if PRIMARY.contains(self.token_ahead(1).kind) => {}
                Kind::Minus => return Err(self.no_way(96, 2)?),
                kind if PRIMARY.contains(kind) => break,
                _ => return Err(self.no_way(96, 1)?),
            }
        }
        self.member_rule(out)?;
        if is_odd {
            self.unary_operator(operator::NEGATE, offset, out)?;
        }
        Ok(())
    }

    /// Signs do not count for the height of the tree.
    fn unary_operator(
        &mut self,
        function: &'static str,
        offset: u32,
        out: &mut Out,
    ) -> Result<(), Stop> {
        let height = out.map_or(0, |node| node.height);
        let node = self.operator(function, offset, [*out])?;
        *out = node.map(|node| Node { height, ..node });
        Ok(())
    }

    /// `primary.field.call(args)[index] ...`
    fn member(&mut self, out: &mut Out) -> Result<(), Stop> {
        *out = self.rule(Rule::Other, SUFFIX_OR_END, Parser::primary)?;
        loop {
            match self.kind() {
                Kind::LeftBracket => self.index(out)?,
                Kind::Dot => match self.token_ahead(1).kind {
                    Kind::Ident if self.token_ahead(2).kind == Kind::LeftParen => {
                        self.member_call(out)?;
                    }
                    next if OPTIONAL_FIELD.contains(next) => self.select(out)?,
                    _ => return Err(self.no_way(126, 2)?),
                },
                _ => return Ok(()),
            }
        }
    }

    /// `.field`, `.?field`
    fn select(&mut self, out: &mut Out) -> Result<(), Stop> {
        let offset = self.take()?.offset;
        self.sync(107, OPTIONAL_FIELD)?;
        let is_optional = self.kind() == Kind::Question;
        if is_optional {
            self.take()?;
        }
        let start = self.token();
        let name = self.rule(Rule::Other, SUFFIX_OR_END, Parser::field_name)?;
        let field = match self.field(name) {
            Ok(field) => field,
            Err(message) => {
                self.tree_issue(start.offset, message);
                Str::default()
            }
        };
        let height = out.map_or(0, |node| node.height).saturating_add(1);
        if is_optional {
            let literal = Expr::Literal(Literal::String(field));
            let name = self.add(literal, start.offset, 0)?;
            *out = self.operator(operator::OPTIONAL_SELECT, offset, [*out, name])?;
        } else {
            let operand = self.id(*out, offset);
            *out = self.add(Expr::Select { operand, field, is_test: false }, offset, height)?;
        }
        Ok(())
    }

    /// A field's name, in backquotes or without.
    fn field_name(&mut self, out: &mut Option<Token>) -> Result<(), Stop> {
        self.sync(235, FIELD)?;
        if !FIELD.contains(self.kind()) {
            return Err(self.no_way(235, 1)?);
        }
        *out = Some(self.take()?);
        Ok(())
    }

    fn field(&self, name: Option<Token>) -> Result<Str, &'static str> {
        let token = name.ok_or("unsupported ident kind")?;
        let text = self.text(token);
        match token.kind {
            Kind::QuotedIdent if self.field_names == FieldNames::Plain => {
                Err("unsupported syntax: '`'")
            }
            Kind::QuotedIdent => Ok(Str::from(&text[1..text.len() - 1])),
            _ => Ok(Str::from(text)),
        }
    }

    /// `.name(args)`
    fn member_call(&mut self, out: &mut Out) -> Result<(), Stop> {
        self.take()?;
        let name = self.take()?;
        let offset = self.take()?.offset;
        let mut args = Vec::new();
        let done = self.arguments(115, SUFFIX_OR_END, &mut args);
        if done == Err(Stop::Everything) {
            return done;
        }
        let call = Call { function: self.text(name), offset, target: Some(*out), args };
        *out = self.call_or_macro(call)?;
        done
    }

    /// Arguments and the closing parenthesis. The places in the grammar go by that of the first.
    fn arguments(&mut self, state: u16, after: TokenSet, out: &mut Vec<Out>) -> Result<(), Stop> {
        self.sync(state, EXPR | CLOSE_PAREN)?;
        if EXPR.contains(self.kind()) {
            *out = self.rule(Rule::Other, CLOSE_PAREN, Parser::expr_list)?;
        }
        self.expect(state + 2, Kind::RightParen, after).map(drop)
    }

    fn expr_list(&mut self, out: &mut Vec<Out>) -> Result<(), Stop> {
        out.push(self.rule(Rule::Expr, COMMA_OR_END, Parser::expr)?);
        while self.kind() == Kind::Comma {
            self.take()?;
            out.push(self.rule(Rule::Expr, COMMA_OR_END, Parser::expr)?);
        }
        Ok(())
    }

    /// `[index]`, `[?index]`
    fn index(&mut self, out: &mut Out) -> Result<(), Stop> {
        let offset = self.take()?.offset;
        let (mut function, mut index) = (operator::INDEX, None);
        let mut done = self.sync(121, OPTIONAL_EXPR);
        if done.is_ok() {
            if self.kind() == Kind::Question {
                self.take()?;
                function = operator::OPTIONAL_INDEX;
            }
            index = self.rule(Rule::Expr, CLOSE_BRACKET, Parser::expr)?;
            done = self.expect(124, Kind::RightBracket, SUFFIX_OR_END).map(drop);
        }
        if done != Err(Stop::Everything) {
            *out = self.operator(function, offset, [*out, index])?;
        }
        done
    }

    /// A name, a call, a message, a list, a map, a literal, or an expression in parentheses.
    fn primary(&mut self, out: &mut Out) -> Result<(), Stop> {
        self.sync(184, PRIMARY)?;
        match self.kind() {
            Kind::Ident => self.name(out),
            Kind::Dot if self.token_ahead(1).kind == Kind::Ident => self.name(out),
            Kind::Dot => Err(self.no_way(184, 2)?),
            Kind::LeftParen => {
                self.take()?;
                *out = self.rule(Rule::Expr, CLOSE_PAREN, Parser::expr)?;
                self.expect(146, Kind::RightParen, END_OF_RULE).map(drop)
            }
            Kind::LeftBracket => self.list(out),
            Kind::LeftBrace => self.map(out),
            kind if PRIMARY.contains(kind) => {
                *out = self.rule(Rule::Other, END_OF_RULE, Parser::literal)?;
                Ok(())
            }
            _ => Err(self.no_way(184, 1)?),
        }
    }

    /// What starts with an identifier, or a dot and an identifier.
    fn name(&mut self, out: &mut Out) -> Result<(), Stop> {
        let start = self.token();
        let dots = usize::from(start.kind == Kind::Dot);
        let mut ahead = dots + 1;
        let is_call = self.token_ahead(ahead).kind == Kind::LeftParen;
        while self.token_ahead(ahead).kind == Kind::Dot
            && self.token_ahead(ahead + 1).kind == Kind::Ident
        {
            ahead += 2;
        }
        if self.token_ahead(ahead).kind == Kind::LeftBrace {
            return self.message(ahead, out);
        }
        if dots > 0 {
            self.take()?;
        }
        let ident = self.take()?;
        let simple = self.text(ident);
        let absolute = (dots > 0).then(|| format!(".{simple}"));
        let name = absolute.as_deref().unwrap_or(simple);
        if is_call {
            return self.global_call(name, start.offset, out);
        }
        if RESERVED.contains(&simple) {
            self.tree_issue(start.offset, format!("reserved identifier: {simple}"));
            *out = self.add(Expr::Literal(Literal::Null), start.offset, 0)?;
            return Ok(());
        }
        *out = self.add(Expr::Ident(Str::from(name)), ident.offset, 0)?;
        Ok(())
    }

    fn global_call(&mut self, name: &str, start: u32, out: &mut Out) -> Result<(), Stop> {
        let issues = self.tree_issues.len();
        let offset = self.take()?.offset;
        let mut args = Vec::new();
        let done = self.arguments(141, END_OF_RULE, &mut args);
        if done == Err(Stop::Everything) {
            return done;
        }
        let simple = name.trim_start_matches('.');
        if RESERVED.contains(&simple) {
            // Its arguments are not looked at.
            self.tree_issues.truncate(issues);
            self.tree_issue(start, format!("reserved identifier: {simple}"));
        } else {
            *out = self.call_or_macro(Call { function: name, offset, target: None, args })?;
        }
        done
    }

    /// `[item, ?item]`
    fn list(&mut self, out: &mut Out) -> Result<(), Stop> {
        let offset = self.take()?.offset;
        let mut items = Vec::new();
        let done = self.list_items(&mut items);
        if done == Err(Stop::Everything) {
            return done;
        }
        let height = items.iter().filter_map(|(_, item)| item.map(|item| item.height)).max();
        let items = items
            .into_iter()
            .map(|(is_optional, item)| ListItem { value: self.id(item, offset), is_optional })
            .collect();
        *out = self.add(Expr::List { items }, offset, height.unwrap_or(0))?;
        done
    }

    fn list_items(&mut self, items: &mut Vec<(bool, Out)>) -> Result<(), Stop> {
        self.sync(150, OPTIONAL_EXPR | CLOSE_LIST)?;
        if OPTIONAL_EXPR.contains(self.kind()) {
            *items = self.rule(Rule::Other, CLOSE_LIST, Parser::item_list)?;
        }
        self.sync(153, CLOSE_LIST)?;
        if self.kind() == Kind::Comma {
            self.take()?;
        }
        self.expect(155, Kind::RightBracket, END_OF_RULE).map(drop)
    }

    fn item_list(&mut self, items: &mut Vec<(bool, Out)>) -> Result<(), Stop> {
        items.push(self.rule(Rule::Other, COMMA_OR_END, Parser::item)?);
        while self.comma_before(OPTIONAL_EXPR) {
            self.take()?;
            items.push(self.rule(Rule::Other, COMMA_OR_END, Parser::item)?);
        }
        Ok(())
    }

    /// Whether there is a comma after which the list goes on; one may stand at its end.
    fn comma_before(&mut self, next: TokenSet) -> bool {
        self.kind() == Kind::Comma && next.contains(self.token_ahead(1).kind)
    }

    /// `expr`, `?expr`
    fn item(&mut self, out: &mut (bool, Out)) -> Result<(), Stop> {
        self.sync(238, OPTIONAL_EXPR)?;
        if self.kind() == Kind::Question {
            self.take()?;
            out.0 = true;
        }
        out.1 = self.rule(Rule::Expr, END_OF_RULE, Parser::expr)?;
        Ok(())
    }

    /// `{key: value, ?key: value}`
    fn map(&mut self, out: &mut Out) -> Result<(), Stop> {
        let offset = self.take()?.offset;
        let mut entries = Vec::new();
        let done = self.map_entries(&mut entries);
        if done == Err(Stop::Everything) {
            return done;
        }
        let heights = entries.iter().flat_map(|(_, key, value)| [key, value]);
        let height = heights.flatten().map(|node| node.height).max();
        let entries = entries
            .into_iter()
            .map(|(is_optional, key, value)| {
                let (key, value) = (self.id(key, offset), self.id(value, offset));
                MapEntry { key, value, is_optional }
            })
            .collect();
        *out = self.add(Expr::Map { entries }, offset, height.unwrap_or(0))?;
        done
    }

    fn map_entries(&mut self, entries: &mut Vec<(bool, Out, Out)>) -> Result<(), Stop> {
        self.sync(158, OPTIONAL_EXPR | CLOSE_MAP)?;
        if OPTIONAL_EXPR.contains(self.kind()) {
            *entries = self.rule(Rule::Other, CLOSE_MAP, Parser::entry_list)?;
        }
        self.close_brace(161)
    }

    /// A comma that may stand at the end, and the brace.
    fn close_brace(&mut self, state: u16) -> Result<(), Stop> {
        self.sync(state, CLOSE_MAP)?;
        if self.kind() == Kind::Comma {
            self.take()?;
        }
        self.expect(state + 2, Kind::RightBrace, END_OF_RULE).map(drop)
    }

    fn entry_list(&mut self, entries: &mut Vec<(bool, Out, Out)>) -> Result<(), Stop> {
        entries.push(self.entry(221)?);
        while self.comma_before(OPTIONAL_EXPR) {
            self.take()?;
            entries.push(self.entry(225)?);
        }
        Ok(())
    }

    fn entry(&mut self, state: u16) -> Result<(bool, Out, Out), Stop> {
        let issues = self.tree_issues.len();
        let (is_optional, key) = self.rule(Rule::Other, COLON, Parser::item)?;
        if let Err(stop) = self.expect(state, Kind::Colon, EXPR) {
            // A key without a value is not looked at.
            self.tree_issues.truncate(issues);
            return Err(stop);
        }
        let value = self.rule(Rule::Expr, COMMA_OR_END, Parser::expr)?;
        Ok((is_optional, key, value))
    }

    /// `a.b.Name{field: value, ?field: value}`; `names` is how many tokens the name has.
    fn message(&mut self, names: usize, out: &mut Out) -> Result<(), Stop> {
        let mut name = String::new();
        for _ in 0..names {
            let token = self.take()?;
            name.push_str(self.text(token));
        }
        let offset = self.take()?.offset;
        let mut fields = Vec::new();
        let done = self.message_fields(&mut fields);
        if done == Err(Stop::Everything) {
            return done;
        }
        let height = fields.iter().filter_map(|field| field.value.map(|value| value.height)).max();
        let fields = fields
            .into_iter()
            .map(|field| {
                let MessageField { is_optional, name, offset, value } = field;
                StructField { name, value: self.id(value, offset), is_optional, offset }
            })
            .collect();
        *out = self.add(Expr::Struct { name: name.into(), fields }, offset, height.unwrap_or(0))?;
        done
    }

    fn message_fields(&mut self, fields: &mut Vec<MessageField>) -> Result<(), Stop> {
        self.sync(177, OPTIONAL_FIELD | CLOSE_MAP)?;
        if OPTIONAL_FIELD.contains(self.kind()) {
            *fields = self.rule(Rule::Other, CLOSE_MAP, Parser::field_list)?;
        }
        self.close_brace(180)
    }

    fn field_list(&mut self, fields: &mut Vec<MessageField>) -> Result<(), Stop> {
        let start = self.token().offset;
        self.message_field(203, start, fields)?;
        while self.comma_before(OPTIONAL_FIELD) {
            self.take()?;
            self.message_field(207, start, fields)?;
        }
        Ok(())
    }

    fn message_field(
        &mut self,
        state: u16,
        start: u32,
        fields: &mut Vec<MessageField>,
    ) -> Result<(), Stop> {
        let (is_optional, name) = self.rule(Rule::Other, COLON, Parser::optional_field)?;
        let colon = self.expect(state, Kind::Colon, EXPR)?;
        let offset = colon.map_or(start, |colon| colon.offset);
        let issues = self.tree_issues.len();
        let value = self.rule(Rule::Expr, COMMA_OR_END, Parser::expr)?;
        match self.field(name) {
            Ok(name) => fields.push(MessageField { is_optional, name, offset, value }),
            Err(message) => {
                // The value of a field without a name is not looked at.
                self.tree_issues.truncate(issues);
                self.tree_issue(start, message);
            }
        }
        Ok(())
    }

    fn optional_field(&mut self, out: &mut (bool, Option<Token>)) -> Result<(), Stop> {
        self.sync(216, OPTIONAL_FIELD)?;
        if self.kind() == Kind::Question {
            self.take()?;
            out.0 = true;
        }
        out.1 = self.rule(Rule::Other, END_OF_RULE, Parser::field_name)?;
        Ok(())
    }

    fn literal(&mut self, out: &mut Out) -> Result<(), Stop> {
        let start = self.token();
        let is_negative = start.kind == Kind::Minus;
        if is_negative && !matches!(self.token_ahead(1).kind, Kind::Int | Kind::Double) {
            return Err(self.no_way(256, 2)?);
        }
        if is_negative {
            self.take()?;
        }
        let token = self.take()?;
        let value = literal::read(token.kind, self.text(token), is_negative);
        let value = value.unwrap_or_else(|message| {
            self.tree_issue(start.offset, message);
            Literal::Null
        });
        *out = self.add(Expr::Literal(value), start.offset, 0)?;
        Ok(())
    }
}

fn function(kind: Kind) -> &'static str {
    match kind {
        Kind::Equals => operator::EQUALS,
        Kind::NotEquals => operator::NOT_EQUALS,
        Kind::In => operator::IN,
        Kind::Less => operator::LESS,
        Kind::LessEquals => operator::LESS_EQUALS,
        Kind::Greater => operator::GREATER,
        Kind::GreaterEquals => operator::GREATER_EQUALS,
        Kind::Star => operator::MULTIPLY,
        Kind::Slash => operator::DIVIDE,
        Kind::Percent => operator::MODULO,
        Kind::Plus => operator::ADD,
        _ => operator::SUBTRACT,
    }
}
