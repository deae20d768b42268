//! The names of the files of a store.

/// Says that the folder is a store, of which version, and with which secret.
pub(super) const FORMAT: &str = "FORMAT";
/// A snapshot that is not complete.
pub(super) const SNAPSHOT_UNFINISHED: &str = "snapshot.tmp";

/// A file that is not a segment yet, or not any more and to be used again.
pub(super) fn spare(number: u64) -> String {
    format!("spare-{number}.tmp")
}

/// A segment of the log.
pub(super) fn segment(number: u64) -> String {
    format!("{number:016x}.log")
}

/// A snapshot of everything up to a batch.
pub(super) fn snapshot(batch: u64) -> String {
    format!("{batch:016x}.snapshot")
}

/// The numbers of the segments among these files, ascending.
pub(super) fn segments(files: &[String]) -> Vec<u64> {
    numbers(files, ".log")
}

/// The batches of the snapshots among these files, ascending.
pub(super) fn snapshots(files: &[String]) -> Vec<u64> {
    numbers(files, ".snapshot")
}

fn numbers(files: &[String], suffix: &str) -> Vec<u64> {
    let number = |name: &String| {
        let digits = name.strip_suffix(suffix).filter(|digits| digits.len() == 16)?;
        u64::from_str_radix(digits, 16).ok()
    };
    let mut numbers: Vec<u64> = files.iter().filter_map(number).collect();
    numbers.sort_unstable();
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_agree() {
        let files = [segment(17), segment(2), snapshot(5), FORMAT.into(), "x.log".into()];
        assert_eq!(segments(&files), [2, 17]);
        assert_eq!(snapshots(&files), [5]);
    }
}
