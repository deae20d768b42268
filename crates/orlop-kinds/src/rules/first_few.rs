//! The first few of a list, for a cell that has not room for all.
//!
//! After `formatEndpoints` and `listWithMoreString` in
//! `pkg/printers/internalversion/printers.go`.

/// How many are shown.
const MAX: usize = 3;

/// The first of `count` texts, and how many more there are; `without` where that is no text. Only
/// as many are asked for as are shown.
pub(crate) fn first_few(
    texts: impl Iterator<Item = String>,
    count: usize,
    without: &str,
) -> String {
    let shown: Vec<String> = texts.take(MAX).collect();
    let text = shown.join(",");
    match count.checked_sub(MAX).filter(|more| *more > 0) {
        Some(more) => format!("{text} + {more} more..."),
        None if text.is_empty() => without.to_owned(),
        None => text,
    }
}
