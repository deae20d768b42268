//! Expressions mean what other implementations of CEL agree that they mean: a value where all of
//! them have that value, none where none of them has one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use orlop_fuzz::expressions::{Chooser, Functions};
use orlop_fuzz::peers;

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    let (functions, peers): (_, &[fn(&str) -> peers::Outcome]) = match first % 2 {
        0 => (Functions::Standard, &[peers::cel, peers::kube_cel, peers::cel_core]),
        _ => (Functions::Strings, &[peers::kube_cel, peers::cel_core]),
    };
    let expression = Chooser::new(rest, functions).expression();
    let wanted = peers[0](&expression);
    if peers[1..].iter().all(|peer| peer(&expression) == wanted) {
        assert_eq!(peers::ours(&expression), wanted, "{expression}");
    }
});
