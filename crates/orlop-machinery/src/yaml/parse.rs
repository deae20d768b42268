//! The ways into YAML text: one document or all of them.

use std::borrow::Cow;

use granit_parser::{Event, Parser, StrInput};

use super::error::{Stop, YamlError, syntax_error};
use super::nodes::Builder;
use super::value::Reader;
use crate::json::DEPTH_MAX;
use crate::value::Value;

/// So many bytes are read again at most because of lines that are not indented.
const READ_AGAIN_MAX: usize = 4 << 20;

/// Reads the first document of a text; null when there is none.
///
/// # Errors
///
/// When the text is not YAML, when it says what JSON cannot say, when it is nested too deeply or
/// its aliases make too much of it, and when a key stands twice in its map.
pub fn parse(text: &[u8]) -> Result<Value, YamlError> {
    match parse_with_duplicates(text)? {
        (value, duplicates) if duplicates.is_empty() => Ok(value),
        (_, duplicates) => Err(YamlError::Duplicates(duplicates)),
    }
}

/// The same, but of several entries with one key the last one stays; with a line about each, such
/// as `line 2: key "a" already set in map`.
///
/// # Errors
///
/// As [`parse`], except for keys that stand twice.
pub fn parse_with_duplicates(text: &[u8]) -> Result<(Value, Vec<String>), YamlError> {
    read(text, |mut documents| {
        let value = documents.next_value()?.unwrap_or_default();
        Ok((value, documents.duplicates))
    })
}

/// Reads all documents of a text that are not empty.
///
/// # Errors
///
/// As [`parse`].
pub fn parse_all(text: &[u8]) -> Result<Vec<Value>, YamlError> {
    read(text, |mut documents| {
        let mut values = Vec::new();
        while let Some(value) = documents.next_value()? {
            if !documents.duplicates.is_empty() {
                return Err(YamlError::Duplicates(documents.duplicates).into());
            }
            values.extend(Some(value).filter(|value| !value.is_null()));
        }
        Ok(values)
    })
}

/// Reads a text; again with a line indented, if the scanner minds that it is not and Go does not.
fn read<T>(text: &[u8], read: impl Fn(Documents<'_>) -> Result<T, Stop>) -> Result<T, YamlError> {
    let mut text = Cow::Borrowed(read_text(text)?);
    let mut read_bytes = 0;
    loop {
        let line = match read(Documents::new(&text)) {
            Ok(result) => return Ok(result),
            Err(Stop::Error(error)) => return Err(error),
            Err(Stop::NotIndented { line }) => line,
        };
        read_bytes += text.len();
        if read_bytes > READ_AGAIN_MAX {
            let message = "found too many lines in quotes that are not indented".to_owned();
            return Err(YamlError::Syntax { line: Some(line), message });
        }
        text = Cow::Owned(indent(&text, line));
    }
}

/// Moves a line of a text in quotes to the right, where spaces mean nothing: further than any
/// collection that is open.
fn indent(text: &str, line: usize) -> String {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let (before, after) = text.split_at(start);
    let width = before.lines().rfind(|line| !line.trim().is_empty()).map_or(1, str::len);
    format!("{before}{}{after}", " ".repeat(width))
}

/// The text without its byte order mark. YAML allows few control characters.
fn read_text(text: &[u8]) -> Result<&str, YamlError> {
    let refuse = |message: &str| Err(YamlError::Meaning(message.to_owned()));
    let Ok(text) = std::str::from_utf8(text) else {
        return refuse("invalid leading UTF-8 octet");
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let is_allowed = |c: char| match c {
        '\t' | '\n' | '\r' | '\u{85}' => true,
        '\u{feff}' | '\u{fffe}' | '\u{ffff}' => false,
        c => !c.is_control(),
    };
    if text.bytes().any(|byte| !(b' '..0x7f).contains(&byte)) && !text.chars().all(is_allowed) {
        return refuse("control characters are not allowed");
    }
    Ok(text)
}

/// The documents of a text, one after the other.
struct Documents<'a> {
    text: &'a str,
    events: Parser<'a, StrInput<'a>>,
    /// The keys that stood twice in the document that was read last.
    duplicates: Vec<String>,
}

impl<'a> Documents<'a> {
    fn new(text: &'a str) -> Documents<'a> {
        let options = granit_parser::options! {
            emit_comments: false,
            emit_anchor_events: true,
            emit_unresolved_aliases: true,
            flow_nesting_limit: DEPTH_MAX,
            block_nesting_limit: DEPTH_MAX,
        };
        let events = Parser::new_from_str_with_options(text, options);
        Documents { text, events, duplicates: Vec::new() }
    }

    /// The value of the next document; none at the end.
    fn next_value(&mut self) -> Result<Option<Value>, Stop> {
        let mut builder = Builder::new(self.text);
        loop {
            let Some(event) = self.events.next() else { return Ok(None) };
            match event.map_err(|error| syntax_error(&error, self.text))? {
                (Event::StreamEnd, _) => return Ok(None),
                (Event::DocumentEnd, _) => break,
                (event, span) => builder.add(event, &span)?,
            }
        }
        let Some(root) = builder.root else { return Ok(Some(Value::Null)) };
        let mut reader = Reader::new(builder.nodes);
        let value = reader.value(root, 0)?;
        self.duplicates = reader.duplicates;
        Ok(Some(value))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let got = parse(text.as_bytes());
        let got = got.map_or_else(|error| error.to_string(), |value| json::to_string(&value));
        assert_eq!(got, expect, "{text:.200}");
    }

    #[test]
    fn scalars_mean_what_yaml_1_1_says() {
        check("", "null");
        check("# nothing\n", "null");
        check(
            "a: yes\nb: off\nc: y\nd: ~\ne:\n",
            r#"{"a":true,"b":false,"c":true,"d":null,"e":null}"#,
        );
        check("[0755, 0o17, 0x1f, 1_000, 08, +5, 0b11]", "[493,15,31,1000,8,5,3]");
        check("[1e3, 1.0, .5, -0.0, 1e400, 1e30]", r#"[1000,1,0.5,0,"1e400",1e+30]"#);
        check("[2001-01-01, 12:30:45, 1:2]", r#"["2001-01-01","12:30:45","1:2"]"#);
        check("['yes', \"5\", 'null']", r#"["yes","5","null"]"#);
        check("a: .inf", "json: unsupported value: +Inf");
    }

    #[test]
    fn tags_say_what_a_scalar_is() {
        check("[!!str 5, !!int '5', !!float 5, !!bool on, !!null '']", r#"["5",5,5,true,null]"#);
        check("[!foo 5, ! 5, !!binary aGk=]", r#"["5","5","hi"]"#);
        check("a: !!int x", "yaml: cannot decode !!str `x` as a !!int");
        check("a: !!binary '*'", "yaml: !!binary value contains invalid base64 data");
    }

    #[test]
    fn texts_of_many_lines_are_folded_or_kept() {
        check("a: |\n  x\n   y\nb: >\n  x\n  y\n\n  z\n", r#"{"a":"x\n y\n","b":"x y\nz\n"}"#);
        check("a: |-\n  x\nb: |+\n  x\n\n", r#"{"a":"x","b":"x\n\n"}"#);
        check("a: |\n  x", r#"{"a":"x"}"#);
        check("a: x\n  y\nb: 'x\n\n  y'", r#"{"a":"x y","b":"x\ny"}"#);
        check("a:\n  b: \"x\ny\n  z\"\n  c: 1", r#"{"a":{"b":"x y z","c":1}}"#);
    }

    #[test]
    fn keys_become_text() {
        check(
            "{1: a, true: b, 1.5: c, 1000000.0: d}",
            r#"{"1":"a","1.5":"c","1e+06":"d","true":"b"}"#,
        );
        let refused = "unsupported map key of type: ";
        check(
            "~: {b: [1]}",
            &format!(
                "{refused}%!s(<nil>), key: <nil>, value: {}",
                r#"map[interface {}]interface {}{"b":[]interface {}{1}}"#
            ),
        );
        check(
            "18446744073709551615: a",
            &format!(r#"{refused}uint64, key: 0xffffffffffffffff, value: "a""#),
        );
        check(
            "a: {{ .Values.x }}",
            concat!(
                "yaml: invalid map key: map[interface {}]interface {}",
                r#"{".Values.x":interface {}(nil)}"#,
            ),
        );
    }

    #[test]
    fn aliases_stand_for_what_they_name() {
        check("a: &x {b: 1}\nc: *x\nd: &x 2\ne: *x", r#"{"a":{"b":1},"c":{"b":1},"d":2,"e":2}"#);
        check("&k a: 1\nb: *k", r#"{"a":1,"b":"a"}"#);
        check("a: *nope", "yaml: unknown anchor 'nope' referenced");
        check("a: &x [*x]", "yaml: anchor 'x' value contains itself");
    }

    #[test]
    fn merge_keys_bring_the_entries_of_another_map() {
        check("a: &x {b: 1}\nc:\n  <<: *x\n  d: 2", r#"{"a":{"b":1},"c":{"b":1,"d":2}}"#);
        check("<<: [{a: 1}, {b: 3}]", r#"{"a":1,"b":3}"#);
        check("'<<': {a: 1}", r#"{"\u003c\u003c":{"a":1}}"#);
        check("<<: 5", "yaml: map merge requires map or sequence of maps as the value");
        check("a: &x 1\n<<: *x", "yaml: map merge requires map or sequence of maps as the value");
        let (value, lines) = parse_with_duplicates(b"a: 1\n<<: {a: 2, b: 3}\nb: 4").unwrap();
        assert_eq!(json::to_string(&value), r#"{"a":2,"b":4}"#);
        let expect =
            [r#"line 2: key "a" already set in map"#, r#"line 3: key "b" already set in map"#];
        assert_eq!(lines, expect);
    }

    #[test]
    fn keys_that_stand_twice_are_an_error() {
        check(
            "a: 1\nb:\n  c: 1\n  c:\n    d: 2\na: 2",
            "yaml: unmarshal errors:\n  line 5: key \"c\" already set in map\n  \
             line 6: key \"a\" already set in map",
        );
        check("1: a\n1: b\n'1': c", "yaml: unmarshal errors:\n  line 2: key 1 already set in map");
    }

    #[test]
    fn there_may_be_many_documents() {
        let all = |text: &str| {
            let values = parse_all(text.as_bytes())?;
            Ok::<_, YamlError>(values.iter().map(json::to_string).collect::<Vec<_>>().join(" "))
        };
        check("---\na: 1\n---\nb: [", r#"{"a":1}"#);
        let text = "---\na: 1\n---\n# no\n---\nb: 2\n...\n---\n- c\n";
        assert_eq!(all(text).unwrap(), r#"{"a":1} {"b":2} ["c"]"#);
        assert_eq!(all("").unwrap(), "");
        assert_eq!(all(r#"{"a":1}"#).unwrap(), r#"{"a":1}"#);
        assert!(all("a: 1\n---\nb: 1\nb: 2").is_err());
        check("%YAML 1.2\n---\na: 1", "yaml: found incompatible YAML document");
    }

    #[test]
    fn errors_are_in_the_words_of_go() {
        check("a: b: c", "yaml: mapping values are not allowed in this context");
        check("x: 1\na: b: c", "yaml: line 2: mapping values are not allowed in this context");
        check("a:\n - b\n c: d", "yaml: line 2: did not find expected '-' indicator");
        check("a: 1\n b: 2", "yaml: line 2: mapping values are not allowed in this context");
        check("a:\n    b: 1\n  c: 2", "yaml: line 2: did not find expected key");
        check("a:\n- b: c\n d: e", "yaml: line 2: did not find expected key");
        check("list:\n- a\n-b\n- c", "yaml: line 4: could not find expected ':'");
        check("x: 1\na: [1, 2", "yaml: line 2: did not find expected ',' or ']'");
        check("a: 'x\nb: 1", "yaml: line 2: found unexpected end of stream");
        check("a:\n\tb: 1", "yaml: line 2: found character that cannot start any token");
        check("a: @x", "yaml: found character that cannot start any token");
        check(r#"a: "\q""#, "yaml: found unknown escape character");
        check("a: \u{1}", "yaml: control characters are not allowed");
        assert_eq!(parse(b"\xff").unwrap_err().to_string(), "yaml: invalid leading UTF-8 octet");
    }

    #[test]
    fn what_makes_much_of_little_is_refused_quickly() {
        let mut laughs = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
        for level in 1..30 {
            let item = format!("*a{}", level - 1);
            laughs += &format!("a{level}: &a{level} [{}]\n", vec![item; 9].join(", "));
        }
        check(&laughs, "yaml: document contains excessive aliasing");
        let long = format!("a: &a {}\nb: [{}]", "x".repeat(1 << 20), "*a, ".repeat(1000));
        check(&long, "yaml: document contains excessive aliasing");
        let entries: String = (0..500).map(|at| format!("x{at}: 1, ")).collect();
        let merges = format!("a: &a {{{entries}}}\nb: {{{}}}", "<<: *a, ".repeat(50_000));
        check(&merges, "yaml: document contains excessive aliasing");
        for open in ["[", "{a: ", "- "] {
            check(&open.repeat(100_000), "yaml: exceeded max depth of 512");
        }
        let not_indented = format!("a: \"{}\"", "x\n".repeat(200_000));
        assert!(parse(not_indented.as_bytes()).is_err());
    }

    proptest! {
        #[test]
        fn what_is_nearly_yaml_makes_no_panic(
            words in prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..30)
        ) {
            let text = words.concat();
            let _ = parse(text.as_bytes());
            let _ = parse_all(text.as_bytes());
        }

        #[test]
        fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = parse(&bytes);
        }
    }

    const WORDS: [&str; 30] = [
        "a", "b", "5", ": ", "- ", "[", "]", "{", "}", ", ", "\n", "\n  ", "  ", "&a ", "*a", "<<",
        "'", "\"", "#", " #", "|\n", ">-\n", "!", "!!int ", "? ", "%YAML", "---", "...", "\t",
        "\\",
    ];
}
