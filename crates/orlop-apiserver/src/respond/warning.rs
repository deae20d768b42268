//! Warnings as headers.
//!
//! After `staging/src/k8s.io/apiserver/pkg/endpoints/filters/warning.go`: when all texts together
//! are too long, each is cut, and what still does not fit is dropped.

use http::header::{HeaderMap, HeaderValue, WARNING};

/// How long all texts may be before each is cut, in characters.
const TOTAL_MAX: usize = 4 * 1024;
/// How long a text is that was cut.
const ITEM_MAX: usize = 256;

/// Adds a header for each warning, once.
pub(crate) fn add_warnings(headers: &mut HeaderMap, warnings: &[String]) {
    let mut texts: Vec<&str> = Vec::with_capacity(warnings.len());
    for text in warnings.iter().map(String::as_str).filter(|text| is_sayable(text)) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    let total: usize = texts.iter().map(|text| text.chars().count()).sum();
    let mut written = 0;
    for text in texts {
        let text = if total > TOTAL_MAX { cut(text) } else { text };
        if let Ok(value) = HeaderValue::from_bytes(describe(text).as_bytes()) {
            headers.append(WARNING, value);
        }
        written += text.chars().count();
        if written >= TOTAL_MAX {
            return;
        }
    }
}

/// A control character would end the header.
fn is_sayable(text: &str) -> bool {
    !text.is_empty() && !text.contains(char::is_control)
}

fn cut(text: &str) -> &str {
    text.char_indices().nth(ITEM_MAX).map_or(text, |(end, _)| &text[..end])
}

/// 299 is for warnings that stay; the dash is for nobody in particular.
fn describe(text: &str) -> String {
    format!("299 - \"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(warnings: &[&str]) -> Vec<String> {
        let warnings: Vec<String> = warnings.iter().map(|text| (*text).to_owned()).collect();
        let mut headers = HeaderMap::new();
        add_warnings(&mut headers, &warnings);
        let values = headers.get_all(WARNING).iter();
        values.map(|value| String::from_utf8(value.as_bytes().to_vec()).unwrap()).collect()
    }

    #[test]
    fn each_warning_is_a_header_once() {
        assert_eq!(write(&[]), [""; 0]);
        assert_eq!(write(&["a", "b", "a", ""]), ["299 - \"a\"", "299 - \"b\""]);
        assert_eq!(write(&[r#"a "b" \c"#]), [r#"299 - "a \"b\" \\c""#]);
        assert_eq!(write(&["a\nb", "c\u{7f}"]), [""; 0]);
        assert_eq!(write(&["\u{e9}"]), ["299 - \"\u{e9}\""]);
    }

    #[test]
    fn too_much_text_is_cut() {
        let long = "\u{e9}".repeat(TOTAL_MAX);
        assert_eq!(write(&[&long]), [format!("299 - \"{long}\"")]);
        let cut = "\u{e9}".repeat(ITEM_MAX);
        assert_eq!(write(&[&long, "b"]), [format!("299 - \"{cut}\""), "299 - \"b\"".to_owned()]);
        let many: Vec<String> = (0..40).map(|at| format!("{at:0300}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(write(&many).len(), TOTAL_MAX / ITEM_MAX);
    }
}
