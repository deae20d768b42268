//! What is read as JSON is written as JSON that is written the same when it is read again, whoever
//! reads it. The values may differ: as in Go, `4.0` is written as `4`,
//! and `-0e1` as `-0`, which is the whole number 0.
#![no_main]

use libfuzzer_sys::fuzz_target;
use orlop_machinery::json;

fuzz_target!(|bytes: &[u8]| {
    let read = json::parse(bytes);
    match json::parse_with_duplicates(bytes) {
        Ok((value, _)) => assert_eq!(read.as_ref(), Ok(&value)),
        Err(error) => assert_eq!(read.as_ref(), Err(&error)),
    }
    if let Ok(value) = read {
        let text = json::to_string(&value);
        let again = json::parse(text.as_bytes()).expect("it was written as JSON");
        let once_more = json::to_string(&again);
        assert_eq!(once_more.replace("-0", "0"), text.replace("-0", "0"));
    }
});
