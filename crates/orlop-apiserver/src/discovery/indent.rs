//! JSON for people: two spaces for each level, as Go indents it.

/// A compact JSON text, indented. What is no JSON comes out as it may; nothing is lost.
pub(crate) fn indent(compact: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(compact.len() * 2);
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    for (place, &byte) in compact.iter().enumerate() {
        if in_string {
            out.push(byte);
            in_string = is_escaped || byte != b'"';
            is_escaped = byte == b'\\' && !is_escaped;
            continue;
        }
        match byte {
            b'{' | b'[' => {
                out.push(byte);
                // What is empty stays on its line.
                if !matches!(compact.get(place + 1), Some(b'}' | b']')) {
                    depth += 1;
                    break_line(&mut out, depth);
                }
            }
            b'}' | b']' => {
                let is_empty = place > 0 && matches!(compact[place - 1], b'{' | b'[');
                if !is_empty {
                    depth = depth.saturating_sub(1);
                    break_line(&mut out, depth);
                }
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                break_line(&mut out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            _ => {
                in_string = byte == b'"';
                out.push(byte);
            }
        }
    }
    out
}

fn break_line(out: &mut Vec<u8>, depth: usize) {
    out.push(b'\n');
    out.extend(std::iter::repeat_n(b' ', depth * 2));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(compact: &str, expect: &str) {
        assert_eq!(String::from_utf8(indent(compact.as_bytes())).unwrap(), expect);
    }

    #[test]
    fn each_level_has_two_spaces_and_what_is_empty_stays_on_its_line() {
        check(
            r#"{"a":1,"b":[true,{}],"c":[]}"#,
            "{\n  \"a\": 1,\n  \"b\": [\n    true,\n    {}\n  ],\n  \"c\": []\n}",
        );
        check("1", "1");
        check("", "");
    }

    #[test]
    fn strings_are_left_alone() {
        check(r#"["a,{b\":\\","x"]"#, "[\n  \"a,{b\\\":\\\\\",\n  \"x\"\n]");
    }
}
