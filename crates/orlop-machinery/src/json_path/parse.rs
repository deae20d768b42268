//! Reading a path. As upstream's parser, quirks included: see `client-go/util/jsonpath/parser.go`.

use super::{Block, Filter, JsonPathError, Operator, Slice, Step};
use crate::value::{Str, Value};

/// How deep paths may stand inside paths. Upstream has no bound.
const DEPTH_MAX: usize = 16;

/// Reads a template: text, with paths between braces.
pub(super) fn template(text: &str) -> Result<Vec<Block>, JsonPathError> {
    Parser { text, at: 0, depth: 0 }.template()
}

struct Parser<'a> {
    text: &'a str,
    /// Up to here the text was read; always between two characters.
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn template(&mut self) -> Result<Vec<Block>, JsonPathError> {
        let mut blocks = Vec::new();
        loop {
            let rest = self.rest();
            let (text, has_action) = match rest.find('{') {
                Some(at) => (&rest[..at], true),
                None => (rest, false),
            };
            if !text.is_empty() {
                blocks.push(vec![Step::Text(Value::from(text))]);
            }
            self.at += text.len();
            if !has_action {
                return Ok(blocks);
            }
            self.at += 1;
            blocks.push(self.action()?);
        }
    }

    /// What stands between braces, up to and with the closing one.
    fn action(&mut self) -> Result<Block, JsonPathError> {
        let mut steps = Vec::new();
        loop {
            let start = self.at;
            if self.skip("}") {
                return Ok(steps);
            }
            if self.skip("[?(") {
                steps.push(self.filter()?);
                continue;
            }
            if self.skip("..") {
                self.recursive(&mut steps)?;
                continue;
            }
            match self.next() {
                None | Some('\r' | '\n') => return Err(JsonPathError::new("unclosed action")),
                Some(' ' | '@' | '$') => {}
                Some('[') => self.brackets(&mut steps)?,
                Some(quote @ ('"' | '\'')) => steps.push(self.quoted(start, quote)?),
                Some('.') => steps.push(self.field()),
                Some(c) if c == '+' || c == '-' || c.is_ascii_digit() => {
                    steps.push(self.number(start)?);
                }
                Some(c) if is_alphanumeric(c) => steps.push(self.identifier(start)),
                Some(c) => {
                    let message = format!("unrecognized character in action: {}", name_of(c));
                    return Err(JsonPathError::new(message));
                }
            }
        }
    }

    /// After `..`.
    fn recursive(&mut self, steps: &mut Block) -> Result<(), JsonPathError> {
        if steps.last() == Some(&Step::Recursive) {
            return Err(JsonPathError::new("invalid multiple recursive descent"));
        }
        steps.push(Step::Recursive);
        if self.peek().is_some_and(is_alphanumeric) {
            steps.push(self.field());
        }
        Ok(())
    }

    /// After a dot: up to the next character that ends a name and is not escaped.
    fn field(&mut self) -> Step {
        let start = self.at;
        loop {
            match self.peek() {
                Some('\\') => {
                    self.next();
                    self.next();
                }
                c if is_terminator(c) => break,
                _ => {
                    self.next();
                }
            }
        }
        match &self.text[start..self.at] {
            "*" => Step::Wildcard,
            name => Step::Field(Str::from(name.replace('\\', ""))),
        }
    }

    /// The bare word that starts at `start`.
    fn identifier(&mut self, start: usize) -> Step {
        while !is_terminator(self.peek()) {
            self.next();
        }
        match &self.text[start..self.at] {
            "true" => Step::Literal(Value::Bool(true)),
            "false" => Step::Literal(Value::Bool(false)),
            word => Step::Identifier(Str::new(word)),
        }
    }

    /// The number that starts at `start`, whose first character was read.
    fn number(&mut self, start: usize) -> Result<Step, JsonPathError> {
        while self.peek().is_some_and(|c| c == '.' || c.is_ascii_digit()) {
            self.next();
        }
        let text = &self.text[start..self.at];
        if let Ok(number) = text.parse() {
            return Ok(Step::Literal(Value::Int(number)));
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Step::Literal(Value::Float(number))),
            _ => Err(JsonPathError::new(format!("cannot parse number {text}"))),
        }
    }

    /// The quoted text whose opening quote is at `start`.
    fn quoted(&mut self, start: usize, quote: char) -> Result<Step, JsonPathError> {
        loop {
            match self.next() {
                None | Some('\n') => return Err(JsonPathError::new("unterminated quoted string")),
                Some(c) if c == quote && !self.is_escaped() => break,
                Some(_) => {}
            }
        }
        let text = &self.text[start..self.at];
        match unquote(&text[1..text.len() - 1], quote) {
            Some(unquoted) => Ok(Step::Text(Value::from(unquoted))),
            None => {
                let message = format!("unquote string {text} error invalid syntax");
                Err(JsonPathError::new(message))
            }
        }
    }

    /// After `[`: an index, a slice, a quoted key, or several of them.
    fn brackets(&mut self, steps: &mut Block) -> Result<(), JsonPathError> {
        let start = self.at;
        loop {
            match self.next() {
                None | Some('\n') => return Err(JsonPathError::new("unterminated array")),
                Some(']') => break,
                Some(_) => {}
            }
        }
        let text = match &self.text[start..self.at - 1] {
            "*" => ":",
            text => text,
        };
        if text.contains(',') {
            let parts = text.split(',');
            let blocks = parts.map(|part| self.nested(&format!("[{}]", part.trim_matches(' '))));
            steps.push(Step::Union(blocks.collect::<Result<_, _>>()?));
            return Ok(());
        }
        let key = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
        match key {
            Some(key) if !key.contains('\'') => steps.extend(self.nested(&format!(".{key}"))?),
            _ => steps.push(Step::Slice(slice(text)?)),
        }
        Ok(())
    }

    /// After `[?(`.
    fn filter(&mut self) -> Result<Step, JsonPathError> {
        let start = self.at;
        // Only the first pair of quotes counts.
        let mut open_quote = None;
        let mut is_closed = false;
        loop {
            match self.next() {
                None | Some('\n') => return Err(JsonPathError::new("unterminated filter")),
                Some(c @ ('"' | '\'')) => match open_quote {
                    None => open_quote = Some(c),
                    Some(quote) => is_closed |= quote == c && !self.is_escaped(),
                },
                Some(')') if open_quote.is_some() == is_closed => break,
                Some(_) => {}
            }
        }
        let text = &self.text[start..self.at - 1];
        if self.next() != Some(']') {
            return Err(JsonPathError::new("unclosed array expect ]"));
        }
        let filter = match split_comparison(text) {
            None => {
                Filter { left: self.nested(text)?, operator: Operator::Exists, right: Block::new() }
            }
            Some((left, operator, right)) => Filter {
                left: self.nested(left)?,
                operator: Operator::of(operator),
                right: self.nested(right)?,
            },
        };
        Ok(Step::Filter(Box::new(filter)))
    }

    /// Reads a path that stands inside this one.
    fn nested(&self, text: &str) -> Result<Block, JsonPathError> {
        if self.depth == DEPTH_MAX {
            return Err(JsonPathError::new("exceeded max depth"));
        }
        let text = format!("{{{text}}}");
        let mut parser = Parser { text: &text, at: 0, depth: self.depth + 1 };
        // What follows a closing brace is read, and then ignored.
        Ok(parser.template()?.swap_remove(0))
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Whether the character that was read last, one byte long, stands behind a backslash.
    fn is_escaped(&self) -> bool {
        self.text.as_bytes()[..self.at - 1].last() == Some(&b'\\')
    }

    fn skip(&mut self, word: &str) -> bool {
        let is_there = self.rest().starts_with(word);
        if is_there {
            self.at += word.len();
        }
        is_there
    }
}

impl Operator {
    fn of(text: &str) -> Operator {
        match text {
            "<" => Operator::Less,
            ">" => Operator::Greater,
            "==" => Operator::Equal,
            "!=" => Operator::NotEqual,
            "<=" => Operator::LessOrEqual,
            ">=" => Operator::GreaterOrEqual,
            text => Operator::Unknown(Str::new(text)),
        }
    }
}

/// Splits at the first run of `!<>=`. Neither side may be empty.
fn split_comparison(text: &str) -> Option<(&str, &str, &str)> {
    let is_operator = |c| matches!(c, '!' | '<' | '>' | '=');
    let start = text.find(is_operator).filter(|&at| at > 0)?;
    let (left, rest) = text.split_at(start);
    let length = rest.find(|c| !is_operator(c)).unwrap_or(rest.len());
    // With nothing behind it, the operator's last character is what it is compared with.
    let length = if length == rest.len() { length - 1 } else { length };
    let (operator, right) = rest.split_at(length);
    (!operator.is_empty()).then_some((left, operator, right))
}

/// Reads `start:end:step`, each of them optional.
fn slice(text: &str) -> Result<Slice, JsonPathError> {
    let mut parts = text.split(':');
    let mut next = || parts.next().map(number_or_nothing);
    let (start, end, step) = (next(), next(), next());
    let is_number = |part: &Option<Option<&str>>| !matches!(part, Some(None));
    if parts.next().is_some() || ![start, end, step].iter().all(is_number) {
        return Err(JsonPathError::new(format!("invalid array index {text}")));
    }
    let start_number = index(start.flatten())?;
    let start = start_number.unwrap_or(0);
    let is_index = end.is_none();
    let end = if is_index { Some(start.wrapping_add(1)) } else { index(end.flatten())? };
    Ok(Slice { start, end, is_index, step: index(step.flatten())? })
}

/// The text when it is an optional minus and digits, of which there may be none.
fn number_or_nothing(text: &str) -> Option<&str> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(text)
}

fn index(text: Option<&str>) -> Result<Option<i64>, JsonPathError> {
    match text {
        None | Some("") => Ok(None),
        Some(text) => match text.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(JsonPathError::new(format!("array index {text} is not a number"))),
        },
    }
}

fn is_terminator(c: Option<char>) -> bool {
    matches!(
        c,
        None | Some(' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}')
    )
}

fn is_alphanumeric(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// A character as Go's `%#U` shows it.
fn name_of(c: char) -> String {
    let code = format!("U+{:04X}", u32::from(c));
    if crate::text::is_printable(c) { format!("{code} '{c}'") } else { code }
}

/// Takes Go's escapes out of what stood between quotes.
fn unquote(text: &str, quote: char) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == quote {
            return None;
        }
        if c != '\\' {
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        let byte = match chars.next()? {
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'v' => 11,
            '\\' => b'\\',
            c if c == quote => u8::try_from(c).ok()?,
            'x' => u8::try_from(digits(&mut chars, 2, 16, 0)?).ok()?,
            c @ ('u' | 'U') => {
                let count = if c == 'u' { 4 } else { 8 };
                let c = char::from_u32(digits(&mut chars, count, 16, 0)?)?;
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            c => u8::try_from(digits(&mut chars, 2, 8, c.to_digit(8)?)?).ok()?,
        };
        out.push(byte);
    }
    Some(String::from_utf8_lossy(&out).into_owned())
}

/// Reads so many digits behind the number that was read before them.
fn digits(chars: &mut std::str::Chars<'_>, count: usize, radix: u32, first: u32) -> Option<u32> {
    (0..count).try_fold(first, |number, _| {
        number.checked_mul(radix)?.checked_add(chars.next()?.to_digit(radix)?)
    })
}
