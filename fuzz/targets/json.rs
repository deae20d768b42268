//! What is read as JSON is written as JSON that is written the same when it is read again, whoever
//! reads it. The values may differ: as in Go, `4.0` is written as `4`.
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
        assert_eq!(json::to_string(&again), text);
    }
});
