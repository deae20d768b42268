//! Text into an [`Ast`].
//!
//! Behaviour follows cel-go: the grammar is `parser/gen/CEL.g4`, the tree is that of
//! `parser/parser.go`, and broken text gets the messages that ANTLR's generated parser gives, with
//! its recovery from errors (`error_strategy.go` of ANTLR's Go runtime), because users see them.
//! Macros are expanded as soon as their call is read.
//!
//! The grammar's rules are in `rules`, recovery in `recovery`. Everything is bounded:
//! the length of the text, the depth of each rule, the number of errors and of nodes.

mod lexer;
mod literal;
mod recovery;
mod rules;
mod token;

use orlop_machinery::Str;

use self::lexer::Lexer;
use self::token::{Token, TokenKind, TokenSet};
use crate::ast::{Ast, Expr, ExprId, Literal};
use crate::environment::Functions;
use crate::error::Issues;
use crate::function::MacroCall;

/// The most characters of an expression, as cel-go has it.
const CHARACTERS_MAX: usize = 100_000;
/// How often a rule may be inside itself, and how deep the tree of operators and members may be.
const DEPTH_MAX: u16 = 250;
/// The most nodes of a tree. Macros copy their arguments, so a short text can have a large tree;
/// no text of the allowed length reaches this without copies.
const NODES_MAX: usize = 250_000;
/// How deep a tree may be with everything that macros add, so that walking it needs little stack.
/// Upstream has no such limit; what it accepts and this refuses has some hundred macros within
/// each other.
const TREE_DEPTH_MAX: u16 = 500;

/// What else may be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldNames {
    /// Fields are identifiers.
    #[default]
    Plain,
    /// Fields that are no identifiers may stand in backquotes. Kubernetes has it turned off.
    Quoted,
}

/// Parses an expression and expands its macros.
///
/// # Errors
///
/// Everything that is wrong with the text, in cel-go's words.
pub fn parse(source: &str, functions: &Functions, field_names: FieldNames) -> Result<Ast, Issues> {
    let characters = source.chars().count();
    if characters > CHARACTERS_MAX {
        let mut issues = Issues::new(source);
        issues.report(
            None,
            format!(
                "expression code point size exceeds limit: size: {characters}, \
                 limit {CHARACTERS_MAX}"
            ),
        );
        return Err(issues);
    }
    Parser::new(source, functions, field_names).parse()
}

/// Why a rule is left before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// It does not go on with what stands here, which has been reported; the rule around it may.
    Rule,
    /// A limit is reached, which has been reported; nothing more is looked at.
    Everything,
}

/// A rule that can be inside itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Expr,
    Relation,
    Calc,
    Member,
    /// One that is inside itself only with an [`Rule::Expr`] in between.
    Other,
}

/// A part of the tree. None where there is only an error.
#[derive(Clone, Copy, Debug)]
struct Node {
    id: ExprId,
    /// How many operators and members are above each other in it.
    height: u16,
}

struct Parser<'a> {
    source: &'a str,
    functions: &'a Functions,
    field_names: FieldNames,
    lexer: Lexer<'a>,
    /// Tokens read so far.
    tokens: Vec<Token>,
    /// The current one.
    at: usize,
    /// How much of `lexer.skipped` is reported.
    skipped_reported: usize,
    /// What can follow each rule that is being read, the innermost last.
    follow: Vec<TokenSet>,
    depths: [u16; 5],
    recovery: recovery::Recovery,
    ast: Ast,
    /// Whether something was left out of the tree because it would have been too high.
    is_too_high: bool,
    /// What ANTLR's parser reports.
    syntax_issues: Vec<(Option<u32>, String)>,
    /// What is reported about the tree; upstream looks at it only when all text has been read.
    tree_issues: Vec<(Option<u32>, String)>,
}

impl<'a> Parser<'a> {
    fn new(source: &'a str, functions: &'a Functions, field_names: FieldNames) -> Parser<'a> {
        Parser {
            source,
            functions,
            field_names,
            lexer: Lexer::new(source),
            tokens: Vec::with_capacity(source.len() / 4 + 2),
            at: 0,
            skipped_reported: 0,
            follow: Vec::with_capacity(32),
            depths: [0; 5],
            recovery: recovery::Recovery::default(),
            ast: Ast::default(),
            is_too_high: false,
            syntax_issues: Vec::new(),
            tree_issues: Vec::new(),
        }
    }

    fn parse(mut self) -> Result<Ast, Issues> {
        let root = self.start();
        match root {
            Ok(root) => {
                root.into_iter().for_each(|root| self.ast.set_root(root.id));
                if self.is_too_high {
                    self.tree_issues.push((None, "max recursion depth exceeded".to_owned()));
                }
            }
            Err(_) => self.tree_issues.clear(),
        }
        if self.syntax_issues.is_empty() && self.tree_issues.is_empty() {
            if depth(&self.ast) <= TREE_DEPTH_MAX {
                return Ok(self.ast);
            }
            self.tree_issues.push((None, format!("expression depth exceeds {TREE_DEPTH_MAX}")));
        }
        let mut issues = Issues::new(self.source);
        for (offset, message) in self.syntax_issues.into_iter().chain(self.tree_issues) {
            issues.report(offset, message);
        }
        Err(issues.sorted())
    }

    /// Reads a rule; what can follow it here is known. An error in it is recovered from.
    fn rule<T: Default>(
        &mut self,
        rule: Rule,
        follow: TokenSet,
        read: impl FnOnce(&mut Self, &mut T) -> Result<(), Stop>,
    ) -> Result<T, Stop> {
        let depth = self.depths[rule as usize];
        self.enter(rule)?;
        self.follow.push(follow);
        let mut out = T::default();
        let done = match read(self, &mut out) {
            Err(Stop::Rule) => self.recover(),
            done => done,
        };
        self.follow.pop();
        self.depths[rule as usize] = depth;
        done.map(|()| out)
    }

    /// Counts a rule that is inside itself; [`Parser::rule`] takes it back.
    fn enter(&mut self, rule: Rule) -> Result<(), Stop> {
        let depth = &mut self.depths[rule as usize];
        *depth += 1;
        if *depth > DEPTH_MAX && rule != Rule::Other {
            return Err(self.give_up(format!("expression recursion limit exceeded: {DEPTH_MAX}")));
        }
        Ok(())
    }

    fn give_up(&mut self, message: String) -> Stop {
        self.syntax_issues.push((None, message));
        Stop::Everything
    }

    fn add(&mut self, expr: Expr, offset: u32, height: u16) -> Result<Option<Node>, Stop> {
        if self.ast.len() >= NODES_MAX {
            return Err(self.give_up(format!("expression node limit exceeded: {NODES_MAX}")));
        }
        if height > DEPTH_MAX {
            self.is_too_high = true;
            return Ok(None);
        }
        Ok(Some(Node { id: self.ast.add(expr, offset), height }))
    }

    /// The node, or one that stands for an error.
    fn id(&mut self, node: Option<Node>, offset: u32) -> ExprId {
        match node {
            Some(node) => node.id,
            None => self.ast.add(Expr::Literal(Literal::Null), offset),
        }
    }

    /// A call of an operator, which is higher than its operands.
    fn operator<const N: usize>(
        &mut self,
        function: &'static str,
        offset: u32,
        operands: [Option<Node>; N],
    ) -> Result<Option<Node>, Stop> {
        let height = operands.iter().flatten().map(|node| node.height).max().unwrap_or(0);
        let args = operands.map(|node| self.id(node, offset)).to_vec();
        let call = Expr::Call { function: Str::const_new(function), target: None, args };
        self.add(call, offset, height.saturating_add(1))
    }

    /// A call, or what the macro of that name becomes.
    fn call_or_macro(&mut self, call: Call<'_>) -> Result<Option<Node>, Stop> {
        let Call { function, offset, target, args } = call;
        let parts = || target.iter().chain(&args).flatten();
        let height = parts().map(|node| node.height).max().unwrap_or(0);
        // A member is one higher than its parts, a call of a function is not.
        let height = if target.is_some() { height.saturating_add(1) } else { height };
        let is_member = target.is_some();
        let target = target.map(|target| self.id(target, offset));
        let args: Vec<ExprId> = args.into_iter().map(|arg| self.id(arg, offset)).collect();
        if let Some(found) = self.functions.find_macro(function, is_member, args.len()) {
            let mut call = MacroCall { ast: &mut self.ast, offset, target, args: &args };
            match (found.expand)(&mut call) {
                Ok(None) => {}
                Ok(Some(_)) if self.ast.len() > NODES_MAX => {
                    let text = format!("expression node limit exceeded: {NODES_MAX}");
                    return Err(self.give_up(text));
                }
                Ok(Some(_)) if height > DEPTH_MAX => {
                    self.is_too_high = true;
                    return Ok(None);
                }
                Ok(Some(id)) => return Ok(Some(Node { id, height })),
                Err(error) => {
                    self.tree_issues.push((Some(error.offset), error.message));
                    let nothing = Expr::Literal(Literal::Null);
                    return self.add(nothing, error.offset, height);
                }
            }
        }
        self.add(Expr::Call { function: function.into(), target, args }, offset, height)
    }

    /// Makes a tree of `a && b && ...` that is as low as possible, as upstream does.
    fn balance(
        &mut self,
        function: &'static str,
        terms: &[Option<Node>],
        offsets: &[u32],
    ) -> Result<Option<Node>, Stop> {
        let [single] = terms else {
            let middle = offsets.len() / 2;
            let left = self.balance(function, &terms[..=middle], &offsets[..middle])?;
            let right = self.balance(function, &terms[middle + 1..], &offsets[middle + 1..])?;
            let node = self.operator(function, offsets[middle], [left, right])?;
            // Only its terms count for the height, as upstream does not walk the logic itself.
            let height = [left, right].iter().flatten().map(|node| node.height).max();
            return Ok(node.map(|node| Node { height: height.unwrap_or(0), ..node }));
        };
        Ok(*single)
    }

    fn tree_issue(&mut self, offset: u32, message: impl Into<String>) {
        self.tree_issues.push((Some(offset), message.into()));
    }

    fn token(&mut self) -> Token {
        self.token_ahead(0)
    }

    fn kind(&mut self) -> TokenKind {
        self.token().kind
    }

    /// The token so many after the current one. After the end there is only the end.
    fn token_ahead(&mut self, count: usize) -> Token {
        while self.tokens.len() <= self.at + count {
            if let Some(last) = self.tokens.last()
                && last.kind == TokenKind::End
            {
                return *last;
            }
            let token = self.lexer.next();
            self.tokens.push(token);
        }
        self.tokens[self.at + count]
    }

    fn text(&self, token: Token) -> &'a str {
        &self.source[token.start..token.end]
    }
}

/// How deep a tree is. Children come before their parents, so one pass is enough.
fn depth(ast: &Ast) -> u16 {
    let mut depths = vec![0_u16; ast.len()];
    for id in ast.ids() {
        let mut deepest = 0;
        ast.expr(id).for_each_child(|child| deepest = deepest.max(depths[child.index()]));
        depths[id.index()] = deepest.saturating_add(1);
    }
    depths.get(ast.root().index()).copied().unwrap_or(0)
}

/// A call as it is written.
struct Call<'a> {
    function: &'a str,
    offset: u32,
    /// Some when it is called on something, which may be an error.
    target: Option<Option<Node>>,
    args: Vec<Option<Node>>,
}
