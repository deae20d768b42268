//! Addresses of mail.
//!
//! After Go's `net/mail.ParseAddress`: one address, perhaps with the name of its owner, perhaps in
//! a group of one.

use core::net::IpAddr;

use super::digits::is_base64;

/// Whether a text is an address.
pub(super) fn is_email(text: &str) -> bool {
    let mut parser = Parser { rest: text };
    parser.address(true) == Some(1) && parser.skip_comments().is_some() && parser.rest.is_empty()
}

struct Parser<'t> {
    rest: &'t str,
}

/// Nothing when something is wrong.
type Parsed<T> = Option<T>;

impl<'t> Parser<'t> {
    /// Reads an address, or a group; how many addresses there were.
    fn address(&mut self, allows_group: bool) -> Parsed<usize> {
        self.skip_space();
        if self.rest.is_empty() {
            return None;
        }
        let before = self.rest;
        if self.plain_address().is_some() {
            self.skip_space();
            if self.take('(') {
                self.comment()?;
            }
            return Some(1);
        }
        self.rest = before;
        if !self.rest.starts_with('<') {
            self.phrase()?;
        }
        self.skip_space();
        if allows_group && self.take(':') {
            return self.group();
        }
        self.expect('<')?;
        self.plain_address()?;
        self.expect('>')?;
        Some(1)
    }

    fn group(&mut self) -> Parsed<usize> {
        self.skip_space();
        let mut count = 0;
        if self.take(';') {
            self.skip_comments()?;
            return Some(count);
        }
        loop {
            self.skip_space();
            count += self.address(false)?;
            self.skip_comments()?;
            if self.take(';') {
                self.skip_comments()?;
                return Some(count);
            }
            self.expect(',')?;
        }
    }

    /// Reads `local@domain`.
    fn plain_address(&mut self) -> Parsed<()> {
        self.skip_space();
        if self.rest.starts_with('"') {
            let quoted = self.quoted()?;
            if quoted.is_empty() {
                return None;
            }
        } else {
            self.dotted_atom()?;
        }
        self.expect('@')?;
        self.skip_space();
        if self.take('[') {
            let (address, rest) = self.rest.split_once(']')?;
            self.rest = rest;
            return address.parse::<IpAddr>().ok().map(|_| ());
        }
        self.dotted_atom()
    }

    /// Reads the words of a name.
    fn phrase(&mut self) -> Parsed<()> {
        let mut count = 0;
        loop {
            if count > 0 {
                self.skip_comments()?;
            }
            self.skip_space();
            let word = match self.rest.chars().next() {
                None => break,
                Some('"') => self.quoted().map(|_| ()),
                // One in an unknown charset ends the name.
                Some(_) => self.atom().filter(|word| !has_unknown_charset(word)).map(|_| ()),
            };
            if word.is_none() {
                break;
            }
            count += 1;
        }
        (count > 0 || self.rest.is_empty()).then_some(())
    }

    /// Reads a quoted text; what is between the quotes.
    fn quoted(&mut self) -> Parsed<&'t str> {
        let text = self.rest.strip_prefix('"')?;
        let mut is_escaped = false;
        for (at, c) in text.char_indices() {
            let is_plain = is_visible(c) || matches!(c, ' ' | '\t');
            match c {
                _ if is_escaped => {
                    is_escaped = false;
                    if !is_plain {
                        return None;
                    }
                }
                '"' => {
                    self.rest = &text[at + 1..];
                    return Some(&text[..at]);
                }
                '\\' => is_escaped = true,
                _ if !is_plain => return None,
                _ => {}
            }
        }
        None
    }

    fn atom(&mut self) -> Parsed<&'t str> {
        let is_part = |c: char| is_visible(c) && !"()<>[]:;@\\,\"".contains(c);
        let end = self.rest.find(|c: char| !is_part(c)).unwrap_or(self.rest.len());
        let (atom, rest) = self.rest.split_at(end);
        if atom.is_empty() {
            return None;
        }
        self.rest = rest;
        Some(atom)
    }

    fn dotted_atom(&mut self) -> Parsed<()> {
        let atom = self.atom()?;
        let is_fine = !atom.starts_with('.') && !atom.ends_with('.') && !atom.contains("..");
        is_fine.then_some(())
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    fn skip_comments(&mut self) -> Parsed<()> {
        self.skip_space();
        while self.take('(') {
            self.comment()?;
            self.skip_space();
        }
        Some(())
    }

    /// Reads a comment whose parenthesis was read.
    fn comment(&mut self) -> Parsed<()> {
        let mut depth = 1;
        let mut characters = self.rest.chars();
        while depth > 0 {
            match characters.next()? {
                '\\' if !characters.as_str().is_empty() => {
                    characters.next();
                }
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
        }
        self.rest = characters.as_str();
        Some(())
    }

    fn take(&mut self, c: char) -> bool {
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, c: char) -> Parsed<()> {
        self.take(c).then_some(())
    }
}

/// Whether a word is encoded (`=?CHARSET?q?TEXT?=`) in a charset that Go does not know.
fn has_unknown_charset(word: &str) -> bool {
    let inner = word.strip_prefix("=?").and_then(|word| word.strip_suffix("?="));
    let parts: Vec<&str> = inner.unwrap_or_default().split('?').collect();
    let [charset, encoding, text] = parts.as_slice() else { return false };
    let is_readable = match *encoding {
        "b" | "B" => text.is_empty() || is_base64(text),
        "q" | "Q" => text.split('=').skip(1).all(|after| {
            let digits = after.as_bytes().get(..2);
            digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        }),
        _ => false,
    };
    let known = ["utf-8", "iso-8859-1", "us-ascii"];
    is_readable
        && !charset.is_empty()
        && !known.iter().any(|name| name.eq_ignore_ascii_case(charset))
}

fn is_visible(c: char) -> bool {
    ('!'..='~').contains(&c) || !c.is_ascii()
}
