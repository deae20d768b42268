//! What is read as YAML is written as YAML that reads the same; reading always ends soon.
#![no_main]

use libfuzzer_sys::fuzz_target;
use orlop_machinery::yaml;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(value) = yaml::parse(bytes) {
        let text = yaml::to_string(&value);
        assert_eq!(yaml::parse(text.as_bytes()).expect("it was written as YAML"), value, "{text}");
    }
});
