//! Names that the server chooses.
//!
//! After `staging/src/k8s.io/apiserver/pkg/storage/names/generate.go` and
//! `staging/src/k8s.io/apimachinery/pkg/util/rand/rand.go`. The randomness is an argument.

/// How much of a base stays in front of the suffix.
pub const BASE_MAX: usize = 58;
/// How often a server tries another name when the chosen one is taken.
pub const ATTEMPTS_MAX: usize = 8;
const SUFFIX_LEN: usize = 5;
/// No vowels, and nothing that looks like one: names do not become words.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// The base, cut to [`BASE_MAX`] bytes, and five random letters and digits.
///
/// ```
/// use orlop_machinery::generate_name::generate_name;
///
/// assert_eq!(generate_name("web-", [0; 16]), "web-bbbbb");
/// ```
#[must_use]
pub fn generate_name(base: &str, random: [u8; 16]) -> String {
    let mut end = base.len().min(BASE_MAX);
    while !base.is_char_boundary(end) {
        end -= 1;
    }
    let mut name = String::with_capacity(end + SUFFIX_LEN);
    name.push_str(&base[..end]);
    let mut bits = u128::from_le_bytes(random);
    let mut draws_left = 128 / 5;
    for _ in 0..SUFFIX_LEN {
        // Of five bits, the values past the alphabet are drawn again, so that every letter is
        // equally likely. Should the bits run out, which one in 10^13 does, they wrap instead.
        let mut drawn = take_bits(&mut bits);
        draws_left -= 1;
        while drawn >= ALPHABET.len() && draws_left > SUFFIX_LEN {
            drawn = take_bits(&mut bits);
            draws_left -= 1;
        }
        name.push(char::from(ALPHABET[drawn % ALPHABET.len()]));
    }
    name
}

/// Text of the same length from the letters of generated names, for hashes that stand in names.
#[must_use]
pub fn safe_encode(text: &str) -> String {
    let size = u32::try_from(ALPHABET.len()).expect("a small alphabet");
    text.chars().map(|c| char::from(ALPHABET[(u32::from(c) % size) as usize])).collect()
}

/// The next five bits.
fn take_bits(bits: &mut u128) -> usize {
    let drawn = (*bits & 31) as usize;
    *bits >>= 5;
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_long_base_is_cut() {
        let check = |base: &str, expect: &str| assert_eq!(generate_name(base, [0; 16]), expect);
        check("", "bbbbb");
        check(&"x".repeat(58), &format!("{}bbbbb", "x".repeat(58)));
        check(&"x".repeat(99), &format!("{}bbbbb", "x".repeat(58)));
        check(&format!("{}\u{e4}", "x".repeat(57)), &format!("{}bbbbb", "x".repeat(57)));
    }

    #[test]
    fn random_bits_past_the_alphabet_are_drawn_again() {
        // 31, then 26, 0, 1, 2, 3.
        let bits: u128 = 31 | 26 << 5 | 1 << 15 | 2 << 20 | 3 << 25;
        assert_eq!(generate_name("", bits.to_le_bytes()), "9bcdf");
        assert_eq!(generate_name("", [0xff; 16]).len(), 5);
    }

    #[test]
    fn a_hash_is_encoded_letter_by_letter() {
        // The digits are the codes 48 to 57; modulo 27 they are 21 to 26 and 0 to 3.
        assert_eq!(safe_encode("0123456789"), "456789bcdf");
        assert_eq!(safe_encode(""), "");
    }

    proptest! {
        #[test]
        fn a_suffix_is_always_of_the_alphabet(random: [u8; 16]) {
            let name = generate_name("a-", random);
            prop_assert_eq!(name.len(), 7);
            prop_assert!(name.bytes().skip(2).all(|byte| ALPHABET.contains(&byte)));
        }
    }
}
