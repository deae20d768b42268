//! Reading the text form of a selector.
//!
//! Tokens are taken from the text one by one; one is looked at ahead. `in` and `notin` are words
//! like any other except where an operator stands, so labels may have these names. As upstream, a
//! zero byte ends a word.

use std::collections::BTreeSet;

use super::{LabelSelectorError, Operator, Requirement};
use crate::field::{ErrorKind, FieldError};
use crate::names;
use crate::value::{Str, Value};

/// Reads all requirements, in the order of the text.
pub(super) fn parse(text: &str) -> Result<Vec<Requirement>, LabelSelectorError> {
    let mut parser = Parser::new(text);
    let mut requirements = Vec::new();
    loop {
        match parser.next {
            Token::Word(_) | Token::Sign("!") => {}
            Token::End => return Ok(requirements),
            token @ Token::Sign(_) => {
                let expected = "!, identifier, or 'end of string'";
                return Err(LabelSelectorError::Syntax(found(token, expected)));
            }
        }
        let requirement = parser.requirement().map_err(LabelSelectorError::Requirement)?;
        requirements.push(requirement);
        match parser.take() {
            Token::End => return Ok(requirements),
            Token::Sign(",") => {}
            token => {
                let expected = "',' or 'end of string'";
                return Err(LabelSelectorError::Syntax(found(token, expected)));
            }
        }
        if !matches!(parser.next, Token::Word(_) | Token::Sign("!")) {
            let expected = "identifier after ','";
            return Err(LabelSelectorError::Syntax(found(parser.next, expected)));
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Token<'a> {
    Word(&'a str),
    /// One of `= == != ! ( ) , < >`.
    Sign(&'a str),
    End,
}

struct Parser<'a> {
    /// What was not yet read.
    rest: &'a str,
    /// The token that comes next, already read.
    next: Token<'a>,
}

fn found(token: Token<'_>, expected: &str) -> String {
    format!("found '{}', expected: {expected}", token.text())
}

impl<'a> Token<'a> {
    fn text(self) -> &'a str {
        match self {
            Token::Word(text) | Token::Sign(text) => text,
            Token::End => "",
        }
    }
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Parser<'a> {
        let mut parser = Parser { rest: text, next: Token::End };
        parser.next = parser.scan();
        parser
    }

    /// The next token. After the end there is only the end.
    fn take(&mut self) -> Token<'a> {
        if self.next == Token::End {
            return Token::End;
        }
        let token = self.next;
        self.next = self.scan();
        token
    }

    fn scan(&mut self) -> Token<'a> {
        self.rest = self.rest.trim_start_matches(is_space);
        let length = match self.rest.as_bytes() {
            [] | [0, ..] => return Token::End,
            [b'=', b'=', ..] | [b'!', b'=', ..] => 2,
            [byte, ..] if is_sign(char::from(*byte)) => 1,
            _ => {
                let is_end = |c| is_sign(c) || is_space(c) || c == '\0';
                let end = self.rest.find(is_end).unwrap_or(self.rest.len());
                let (word, rest) = self.rest.split_at(end);
                self.rest = rest.strip_prefix('\0').unwrap_or(rest);
                return Token::Word(word);
            }
        };
        let (sign, rest) = self.rest.split_at(length);
        self.rest = rest.strip_prefix('\0').unwrap_or(rest);
        Token::Sign(sign)
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let is_negated = self.next == Token::Sign("!");
        if is_negated {
            self.take();
        }
        let key = match self.take() {
            Token::Word(key) => key,
            token => return Err(found(token, "identifier")),
        };
        check_key(key)?;
        let operator = match self.next {
            _ if is_negated => Operator::DoesNotExist,
            Token::End | Token::Sign(",") => Operator::Exists,
            _ => self.operator()?,
        };
        let values = match operator {
            Operator::Exists | Operator::DoesNotExist => Vec::new(),
            Operator::In | Operator::NotIn => self.values()?,
            _ => vec![Str::new(self.exact_value()?)],
        };
        Requirement::new(key, operator, values).map_err(|error| error.to_string())
    }

    fn operator(&mut self) -> Result<Operator, String> {
        Ok(match self.take() {
            Token::Word("in") => Operator::In,
            Token::Word("notin") => Operator::NotIn,
            Token::Sign("=") => Operator::Equals,
            Token::Sign("==") => Operator::DoubleEquals,
            Token::Sign("!=") => Operator::NotEquals,
            Token::Sign(">") => Operator::GreaterThan,
            Token::Sign("<") => Operator::LessThan,
            token => return Err(found(token, "in, notin, =, ==, !=, gt, lt")),
        })
    }

    /// `(a,b)`: sorted, each once. Between two commas, or a comma and a parenthesis, is an empty
    /// value.
    fn values(&mut self) -> Result<Vec<Str>, String> {
        match self.take() {
            Token::Sign("(") => {}
            token => return Err(format!("found '{}' expected: '('", token.text())),
        }
        match self.next {
            Token::Word(_) | Token::Sign(",") => {}
            Token::Sign(")") => {
                self.take();
                return Ok(vec![Str::const_new("")]);
            }
            token => return Err(found(token, "',', ')' or identifier")),
        }
        let mut values = BTreeSet::new();
        loop {
            match self.take() {
                Token::Word(value) => {
                    values.insert(Str::new(value));
                    if !matches!(self.next, Token::Sign("," | ")")) {
                        return Err(found(self.next, "',' or ')'"));
                    }
                }
                Token::Sign(",") => {
                    if values.is_empty() || matches!(self.next, Token::Sign("," | ")")) {
                        values.insert(Str::const_new(""));
                    }
                }
                token => return Err(found(token, "',', or identifier")),
            }
            if self.next == Token::Sign(")") {
                self.take();
                return Ok(values.into_iter().collect());
            }
        }
    }

    fn exact_value(&mut self) -> Result<&'a str, String> {
        if matches!(self.next, Token::End | Token::Sign(",")) {
            return Ok("");
        }
        match self.take() {
            Token::Word(value) => Ok(value),
            token => Err(found(token, "identifier")),
        }
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn is_sign(c: char) -> bool {
    matches!(c, '=' | '!' | '(' | ')' | ',' | '>' | '<')
}

/// Refuses a bad key before its operator is read, as upstream does, with the name that Go prints
/// for no path.
fn check_key(key: &str) -> Result<(), String> {
    let wrong = names::label_key(key);
    if wrong.is_empty() {
        return Ok(());
    }
    let error = FieldError {
        kind: ErrorKind::Invalid,
        field: "<nil>".to_owned(),
        bad_value: Some(Value::from(key)),
        detail: wrong.join("; "),
    };
    Err(error.to_string())
}
