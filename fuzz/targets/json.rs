//! What is read as JSON is written as JSON that reads the same, whoever reads it.
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
        assert_eq!(json::parse(&json::to_vec(&value)), Ok(value));
    }
});
