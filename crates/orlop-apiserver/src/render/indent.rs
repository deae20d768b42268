//! JSON for people.
//!
//! As Go's `json.Indent` with two spaces writes it.

/// Compact JSON with line ends and indentation.
pub(super) fn indent(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let mut rest = json;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'"' => {
                let end = string_end(rest);
                out.push(b'"');
                out.extend_from_slice(&rest[..end]);
                rest = &rest[end..];
            }
            b'{' | b'[' => {
                out.push(byte);
                match rest.first() {
                    Some(&close @ (b'}' | b']')) => {
                        out.push(close);
                        rest = &rest[1..];
                    }
                    _ => {
                        depth += 1;
                        break_line(depth, &mut out);
                    }
                }
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
            _ => out.push(byte),
        }
    }
    out
}

/// Where a string ends, its last quote included.
fn string_end(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

fn break_line(depth: usize, out: &mut Vec<u8>) {
    out.push(b'\n');
    out.resize(out.len() + 2 * depth, b' ');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_indented_as_go_does() {
        let check = |json: &str, expect: &str| {
            assert_eq!(String::from_utf8(indent(json.as_bytes())).unwrap(), expect);
        };
        check("{}", "{}");
        check(r#"{"a":[],"b":{}}"#, "{\n  \"a\": [],\n  \"b\": {}\n}");
        check(
            r#"{"a":[1,{"b":"x,y:{\"}"}],"c":null}"#,
            concat!(
                "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"x,y:{\\\"}\"\n    }\n  ],\n",
                "  \"c\": null\n}",
            ),
        );
        check("\"a", "\"a");
        check("\"a\\", "\"a\\");
    }
}
