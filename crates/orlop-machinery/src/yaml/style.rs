//! Which way of writing a text in YAML keeps it what it is. After `yaml_emitter_analyze_scalar` of
//! go-yaml's `emitterc.go`.

/// Which styles keep a text what it is.
pub(super) struct Analysis {
    pub(super) allows_plain: bool,
    pub(super) allows_single_quotes: bool,
    pub(super) allows_block: bool,
}

impl Analysis {
    pub(super) fn of(text: &str) -> Analysis {
        let mut has_indicator = text.starts_with("---") || text.starts_with("...");
        let (mut has_break, mut has_special) = (false, false);
        let (mut has_break_space, mut has_space_break) = (false, false);
        let mut before = None;
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            let is_blank_next = rest.as_str().is_empty() || rest.as_str().starts_with([' ', '\t']);
            let is_blank_before =
                before.is_none_or(|c| is_break(c) || matches!(c, ' ' | '\t' | '\0'));
            has_indicator |= match c {
                ':' => is_blank_next,
                '#' => is_blank_before,
                '-' | '?' => before.is_none() && is_blank_next,
                ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%'
                | '@' | '`' => before.is_none(),
                _ => false,
            };
            has_special |= !is_printable(c) || is_break(c) && c != '\n';
            has_break |= c == '\n';
            has_break_space |= c == ' ' && before == Some('\n');
            has_space_break |= c == '\n' && before == Some(' ');
            before = Some(c);
        }
        let has_outer_space = text.starts_with([' ', '\n']) || text.ends_with([' ', '\n']);
        let is_empty = text.is_empty();
        let is_odd = has_special || has_space_break;
        Analysis {
            allows_plain: !(has_outer_space || has_break || has_indicator || is_odd || is_empty),
            allows_single_quotes: !(has_break_space || is_odd),
            allows_block: !(is_odd || text.ends_with(' ') || is_empty),
        }
    }
}

/// Whether a character can stand in a text without an escape.
pub(super) fn is_printable(c: char) -> bool {
    matches!(c,
        '\n'
        | ' '..='~'
        | '\u{a0}'..='\u{d7ff}'
        | '\u{e000}'..='\u{fefe}'
        | '\u{ff00}'..='\u{fffd}')
}

/// Whether a character ends a line.
pub(super) fn is_break(c: char) -> bool {
    matches!(c, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether other readers take the text for a number in base 60: `12:30:45`.
pub(super) fn is_base_60(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = whole.split(':');
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let first = parts.next().unwrap_or_default();
    let is_first = first.starts_with(|c: char| c.is_ascii_digit()) && is_digits(first);
    let is_sixtieth = |part: &str| match part.as_bytes() {
        [low] => low.is_ascii_digit(),
        [high, low] => (b'0'..=b'5').contains(high) && low.is_ascii_digit(),
        _ => false,
    };
    let mut count = 0;
    is_first
        && is_digits(fraction)
        && parts.all(|part| {
            count += 1;
            is_sixtieth(part)
        })
        && count > 0
}
