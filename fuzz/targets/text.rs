//! Quantities, times, durations, selectors, paths and tokens: what is read is printed as text that
//! reads the same.
#![no_main]

use std::fmt::Display;
use std::str::FromStr;

use libfuzzer_sys::fuzz_target;
use orlop_machinery::continue_token::ContinueToken;
use orlop_machinery::duration::Duration;
use orlop_machinery::field_selector::FieldSelector;
use orlop_machinery::json_path::JsonPath;
use orlop_machinery::label_selector::LabelSelector;
use orlop_machinery::quantity::{self, Quantity};
use orlop_machinery::time::{MicroTime, Time};
use orlop_machinery::{bytes, names, text};

fuzz_target!(|input: &[u8]| {
    let Ok(input) = std::str::from_utf8(input) else { return };
    reads_again::<Time>(input);
    reads_again::<MicroTime>(input);
    reads_again::<Duration>(input);
    // Beyond the largest suffix upstream loses zeros when it prints, and so do we.
    if input.parse::<Quantity>().is_ok_and(|quantity| quantity.as_f64().abs() < 1e18) {
        reads_again::<Quantity>(input);
    }
    reads_again::<LabelSelector>(input);
    if let Ok(selector) = input.parse::<FieldSelector>() {
        // Terms are sorted as they were written, so printing may change their order, as upstream.
        selector.to_string().parse::<FieldSelector>().expect("it was printed");
    }
    _ = quantity::canonicalize(input);
    _ = JsonPath::parse(input);
    _ = ContinueToken::decode(input, "/registry/");
    if let Ok(canonical) = bytes::canonicalize(input) {
        assert_eq!(
            bytes::decode(&canonical).expect("it is canonical").len(),
            bytes::decoded_len(&canonical)
        );
    }
    for rule in
        [names::dns_label, names::dns_subdomain, names::qualified_name, names::ip, names::cidr]
    {
        _ = rule(input);
    }
    _ = text::quote(input);
});

fn reads_again<T: FromStr + Display + PartialEq + std::fmt::Debug>(input: &str)
where
    T::Err: std::fmt::Debug,
{
    if let Ok(read) = input.parse::<T>() {
        let printed = read.to_string();
        assert_eq!(printed.parse::<T>().expect("it was printed"), read, "{input:?}");
    }
}
