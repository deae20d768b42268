//! What the parser does with text that does not fit.
//!
//! After `error_strategy.go` of ANTLR's Go runtime, with the limits of cel-go
//! (`parser/parser.go`): a single token that is too much is dropped, a single token that is missing
//! is thought, else the rule ends and tokens are skipped until one that can follow it. While
//! recovering nothing is reported until a token matches again.

use super::token::{Token, TokenKind, TokenSet};
use super::{Parser, Stop};

/// The most messages about syntax.
const REPORTS_MAX: usize = 100;
/// How often may be recovered.
const ATTEMPTS_MAX: u32 = 30;
/// How many tokens one recovery may skip.
const SKIPPED_MAX: u32 = 256;

/// Where recovering stands.
#[derive(Debug, Default)]
pub(super) struct Recovery {
    is_active: bool,
    attempts: u32,
    reports: usize,
    /// The place in the grammar, numbered as ANTLR numbers it.
    state: u16,
    /// Which token the last recovery ended at, and from which places in the grammar.
    last: Option<(usize, Vec<u16>)>,
}

impl Parser<'_> {
    /// Reads a token that must stand here. `after` is what can stand after it.
    ///
    /// None when it is missing and all goes on as if it were there.
    pub(super) fn expect(
        &mut self,
        state: u16,
        kind: TokenKind,
        after: TokenSet,
    ) -> Result<Option<Token>, Stop> {
        self.recovery.state = state;
        if self.kind() == kind {
            return self.take().map(Some);
        }
        self.count_attempt()?;
        let expected = TokenSet::of(&[kind]);
        if self.drop_token(expected)? {
            return self.take().map(Some);
        }
        let found = self.kind();
        if self.in_context(after).contains(found) {
            if !self.recovery.is_active {
                self.recovery.is_active = true;
                let at = self.token();
                let message = format!("missing {expected} at {}", self.shown(at));
                self.report(at, message)?;
            }
            return Ok(None);
        }
        Err(self.mismatched(expected)?)
    }

    /// Reads the current token, which fits.
    pub(super) fn take(&mut self) -> Result<Token, Stop> {
        self.end_recovery();
        let token = self.token();
        self.advance()?;
        Ok(token)
    }

    /// Looks whether what stands here can go on, before a choice in the grammar is made.
    pub(super) fn sync(&mut self, state: u16, expected: TokenSet) -> Result<(), Stop> {
        self.recovery.state = state;
        let found = self.kind();
        if self.recovery.is_active || expected.contains(found) || self.drop_token(expected)? {
            return Ok(());
        }
        Err(self.mismatched(expected)?)
    }

    /// The same after a turn of a loop that has at least one: it does not end the rule.
    pub(super) fn sync_loop(&mut self, state: u16, expected: TokenSet) -> Result<(), Stop> {
        self.recovery.state = state;
        let found = self.kind();
        if self.recovery.is_active || expected.contains(found) {
            return Ok(());
        }
        self.report_unwanted(expected)?;
        let until = expected | self.followers();
        while self.kind() != TokenKind::End && !until.contains(self.kind()) {
            self.advance()?;
        }
        Ok(())
    }

    /// No way on: so many tokens from here begin nothing.
    pub(super) fn no_way(&mut self, state: u16, count: usize) -> Result<Stop, Stop> {
        self.recovery.state = state;
        if self.recovery.is_active {
            return Ok(Stop::Rule);
        }
        self.recovery.is_active = true;
        let (first, last) = (self.token(), self.token_ahead(count - 1));
        let input = match first.kind {
            TokenKind::End => "<EOF>".to_owned(),
            _ => self.text_between(first.start, last.end),
        };
        let message = match input.as_str() {
            ".true" | ".false" | ".null" => {
                format!("mismatched input '{}' expecting IDENTIFIER", &input[1..])
            }
            _ => format!("no viable alternative at input {}", quote(&input)),
        };
        self.report(last, message)?;
        Ok(Stop::Rule)
    }

    /// Skips tokens until one that can follow the rule or any rule around it.
    pub(super) fn recover(&mut self) -> Result<(), Stop> {
        self.count_attempt()?;
        let mut skipped = 0;
        let state = self.recovery.state;
        let again = |(at, states): &(usize, Vec<u16>)| *at == self.at && states.contains(&state);
        if self.recovery.last.as_ref().is_some_and(again) {
            // The last recovery ended here too: without this it would go on for ever.
            self.skip(&mut skipped)?;
        }
        let mut states = self.recovery.last.take().map_or_else(Vec::new, |(_, states)| states);
        states.push(state);
        self.recovery.last = Some((self.at, states));
        let until = self.followers();
        while self.kind() != TokenKind::End && !until.contains(self.kind()) {
            self.skip(&mut skipped)?;
        }
        Ok(())
    }

    fn skip(&mut self, skipped: &mut u32) -> Result<(), Stop> {
        if *skipped == SKIPPED_MAX {
            let text = format!("error recovery token lookahead limit exceeded: {SKIPPED_MAX}");
            return Err(self.give_up(text));
        }
        *skipped += 1;
        self.advance()
    }

    /// Drops the current token when the next one fits.
    fn drop_token(&mut self, expected: TokenSet) -> Result<bool, Stop> {
        if !expected.contains(self.token_ahead(1).kind) {
            return Ok(false);
        }
        self.report_unwanted(expected)?;
        self.advance()?;
        self.end_recovery();
        Ok(true)
    }

    fn report_unwanted(&mut self, expected: TokenSet) -> Result<(), Stop> {
        if self.recovery.is_active {
            return Ok(());
        }
        self.recovery.is_active = true;
        let at = self.token();
        let message = format!("extraneous input {} expecting {expected}", self.shown(at));
        self.report(at, message)
    }

    fn mismatched(&mut self, expected: TokenSet) -> Result<Stop, Stop> {
        if !self.recovery.is_active {
            self.recovery.is_active = true;
            let at = self.token();
            let message = format!("mismatched input {} expecting {expected}", self.shown(at));
            self.report(at, message)?;
        }
        Ok(Stop::Rule)
    }

    fn count_attempt(&mut self) -> Result<(), Stop> {
        if self.recovery.attempts == ATTEMPTS_MAX {
            let at = self.token();
            let text = format!("error recovery attempt limit exceeded: {ATTEMPTS_MAX}");
            self.report(at, text)?;
            return Err(Stop::Everything);
        }
        self.recovery.attempts += 1;
        Ok(())
    }

    fn end_recovery(&mut self) {
        self.recovery.is_active = false;
        self.recovery.last = None;
    }

    /// Goes to the next token; the end stays.
    fn advance(&mut self) -> Result<(), Stop> {
        if self.kind() != TokenKind::End {
            self.at += 1;
        }
        self.report_skipped()
    }

    /// Reports text that the lexer could make nothing of.
    pub(super) fn report_skipped(&mut self) -> Result<(), Stop> {
        // The next token is always looked at, which is when upstream's lexer finds the text.
        self.token();
        while let Some(skipped) = self.lexer.skipped.get(self.skipped_reported).copied() {
            self.skipped_reported += 1;
            let text = &self.source[skipped.start..skipped.end];
            let message = format!("token recognition error at: '{text}'");
            self.report_at(skipped.offset, message)?;
        }
        Ok(())
    }

    fn report(&mut self, at: Token, message: String) -> Result<(), Stop> {
        self.report_at(at.offset, message)
    }

    fn report_at(&mut self, offset: u32, message: String) -> Result<(), Stop> {
        self.recovery.reports += 1;
        let (message, done) = if self.recovery.reports > REPORTS_MAX {
            (format!("More than {REPORTS_MAX} syntax errors"), Err(Stop::Everything))
        } else {
            (message, Ok(()))
        };
        self.syntax_issues.push((Some(offset), format!("Syntax error: {message}")));
        done
    }

    /// What can follow the rule that is being read, or any rule around it.
    fn followers(&self) -> TokenSet {
        self.follow.iter().fold(TokenSet::EMPTY, |all, follow| all | *follow)
    }

    /// What the set means here: where the rule may end, what follows it counts.
    fn in_context(&self, set: TokenSet) -> TokenSet {
        let mut all = set;
        if set.may_end_rule() {
            for follow in self.follow.iter().rev() {
                all = all | *follow;
                if !follow.may_end_rule() {
                    return all;
                }
            }
            all = all | TokenSet::of(&[TokenKind::End]);
        }
        all
    }

    fn shown(&self, token: Token) -> String {
        match token.kind {
            TokenKind::End => "'<EOF>'".to_owned(),
            _ => quote(self.text(token)),
        }
    }

    /// The text of all tokens and spaces in between, without what the lexer skipped.
    fn text_between(&self, start: usize, end: usize) -> String {
        let mut text = String::new();
        let mut at = start;
        for skipped in self.lexer.skipped.iter().filter(|s| s.start >= start && s.end <= end) {
            text.push_str(&self.source[at..skipped.start]);
            at = skipped.end;
        }
        text.push_str(&self.source[at..end]);
        text
    }
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r"))
}
