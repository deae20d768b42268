//! Numbers that are written as text, some of which check themselves.
//!
//! After `kube-openapi/pkg/internal/third_party/govalidator`.

/// Groups of four characters; the last one may be filled.
pub(super) fn is_base64(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let filled = bytes.iter().rev().take_while(|byte| **byte == b'=').count();
    !bytes.is_empty()
        && bytes.len().is_multiple_of(4)
        && filled <= 2
        && bytes[..bytes.len() - filled].iter().all(is_digit)
}

/// Digits of a known issuer, the last of which checks the others. All but digits is left out.
pub(super) fn is_credit_card(text: &str) -> bool {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_digit).map(|byte| byte - b'0').collect();
    let starts = |length: usize| digits.iter().take(length).fold(0, |n, d| n * 10 + u32::from(*d));
    let is_known = match digits.len() {
        13 => starts(1) == 4,
        14 => matches!(starts(3), 300..=305) || matches!(starts(2), 36 | 38),
        15 => matches!(starts(2), 34 | 37) || matches!(starts(4), 2131 | 1800),
        16 => starts(1) == 4 || matches!(starts(2), 51..=55 | 65 | 35) || starts(4) == 6011,
        _ => false,
    };
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| {
            let digit = u32::from(*digit) * if at % 2 == 1 { 2 } else { 1 };
            digit / 10 + digit % 10
        })
        .sum();
    is_known && sum.is_multiple_of(10)
}

/// Ten digits, the last of which checks the others and may be X.
pub(super) fn is_isbn10(text: &str) -> bool {
    let characters = without_space_and_minus(text);
    let Some((last, digits)) = characters.split_last() else { return false };
    if digits.len() != 9 || !digits.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let check = match last {
        b'X' => 10,
        digit if digit.is_ascii_digit() => u32::from(digit - b'0'),
        _ => return false,
    };
    let weighed = digits.iter().zip(1..).map(|(digit, weight)| weight * u32::from(digit - b'0'));
    (weighed.sum::<u32>() + 10 * check).is_multiple_of(11)
}

/// Thirteen digits, the last of which checks the others.
pub(super) fn is_isbn13(text: &str) -> bool {
    let characters = without_space_and_minus(text);
    if characters.len() != 13 || !characters.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let weighed = characters.iter().zip([1, 3].into_iter().cycle());
    weighed.map(|(digit, weight)| weight * u32::from(digit - b'0')).sum::<u32>().is_multiple_of(10)
}

fn without_space_and_minus(text: &str) -> Vec<u8> {
    let is_left_out = |byte: &u8| matches!(byte, b'\t' | b'\n' | 0x0c | b'\r' | b' ' | b'-');
    text.bytes().filter(|byte| !is_left_out(byte)).collect()
}

/// Three, two and four digits with a separator between.
pub(super) fn is_social_security_number(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 11
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            3 | 6 => matches!(byte, b'-' | b' '),
            _ => byte.is_ascii_digit(),
        })
}
