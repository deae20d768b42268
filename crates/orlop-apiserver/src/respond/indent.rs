//! JSON for people, as Go's `json.Indent` prints it with two spaces.

/// Adds lines and spaces to JSON that has none.
pub(crate) fn indent(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len() + json.len() / 2);
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = json.get(at).copied() {
        match byte {
            b'"' => {
                let end = string_end(json, at);
                out.extend_from_slice(&json[at..end]);
                at = end;
                continue;
            }
            b'{' | b'[' if matches!(json.get(at + 1), Some(b'}' | b']')) => {
                out.extend_from_slice(&json[at..at + 2]);
                at += 2;
                continue;
            }
            b'{' | b'[' => {
                depth += 1;
                out.push(byte);
                break_line(depth, &mut out);
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                break_line(depth, &mut out);
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                break_line(depth, &mut out);
            }
            b':' => out.extend_from_slice(b": "),
            byte => out.push(byte),
        }
        at += 1;
    }
    out
}

/// Where the string that starts here ends.
fn string_end(json: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    json.len()
}

fn break_line(depth: usize, out: &mut Vec<u8>) {
    out.push(b'\n');
    out.extend(std::iter::repeat_n(b' ', depth * 2));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_gets_lines_and_spaces() {
        let check = |json: &str, expect: &str| {
            assert_eq!(String::from_utf8(indent(json.as_bytes())).unwrap(), expect);
        };
        check("{}", "{}");
        check("[]", "[]");
        check("5", "5");
        check(r#"{"a":{},"b":[]}"#, "{\n  \"a\": {},\n  \"b\": []\n}");
        let nested = "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"{,:}\\\"\\\\\"\n    }\n  ]\n}";
        check(r#"{"a":[1,{"b":"{,:}\"\\"}]}"#, nested);
        check("\"open", "\"open");
        check("\"open\\", "\"open\\");
        check("}}", "\n}\n}");
    }
}
