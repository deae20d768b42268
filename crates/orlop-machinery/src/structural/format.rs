//! Formats of text and numbers.
//!
//! The names are those of `pkg/apiserver/validation/formats.go` of apiextensions; what they mean is
//! after `kube-openapi/pkg/validation/strfmt` and its copy of `govalidator`. A name counts without
//! its dashes, as there. Where Go asks its own library (addresses of mail and of networks), the
//! rules of that library are in the files beside this one.

mod digits;
mod email;
mod network;
mod time;

use std::sync::OnceLock;

use regex::Regex;

use crate::regular_expression::compile;
use crate::url::Url;

/// A format that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    BsonObjectId,
    Byte,
    Cidr,
    CreditCard,
    Date,
    DateTime,
    Double,
    Duration,
    Email,
    Float,
    HexColor,
    Hostname,
    Int32,
    Int64,
    Ipv4,
    Ipv6,
    Isbn,
    Isbn10,
    Isbn13,
    LongName,
    Mac,
    Password,
    RgbColor,
    ShortName,
    Ssn,
    Uri,
    /// With the version that it must have, if any.
    Uuid(Option<u8>),
}

const TEXT_FORMATS: [(&str, Format); 26] = [
    ("bsonobjectid", Format::BsonObjectId),
    ("byte", Format::Byte),
    ("cidr", Format::Cidr),
    ("creditcard", Format::CreditCard),
    ("date", Format::Date),
    ("datetime", Format::DateTime),
    ("duration", Format::Duration),
    ("email", Format::Email),
    ("hexcolor", Format::HexColor),
    ("hostname", Format::Hostname),
    ("ipv4", Format::Ipv4),
    ("ipv6", Format::Ipv6),
    ("isbn", Format::Isbn),
    ("isbn10", Format::Isbn10),
    ("isbn13", Format::Isbn13),
    ("k8slongname", Format::LongName),
    ("k8sshortname", Format::ShortName),
    ("mac", Format::Mac),
    ("password", Format::Password),
    ("rgbcolor", Format::RgbColor),
    ("ssn", Format::Ssn),
    ("uri", Format::Uri),
    ("uuid", Format::Uuid(None)),
    ("uuid3", Format::Uuid(Some(b'3'))),
    ("uuid4", Format::Uuid(Some(b'4'))),
    ("uuid5", Format::Uuid(Some(b'5'))),
];

/// One word, or labels with dots between them of which the last has letters only. Letters and
/// symbols are those of Unicode.
const HOSTNAME: &str = concat!(
    r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)",
    r"|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}",
    r"([a-zA-Z\p{L}]){2,63})$",
);
/// Three numbers up to 255.
const RGB_COLOR: &str = concat!(
    r"^rgb\(\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*",
    r"(,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*){2}\)$",
);

impl Format {
    /// A format of text by its name.
    pub(super) fn of_text(name: &str) -> Option<Format> {
        let is_same = |known: &str| name.bytes().filter(|byte| *byte != b'-').eq(known.bytes());
        TEXT_FORMATS.iter().find(|(known, _)| is_same(known)).map(|(_, format)| *format)
    }

    /// A format of whole numbers by its name.
    pub(super) fn of_integer(name: &str) -> Option<Format> {
        match name {
            "int32" => Some(Format::Int32),
            "int64" => Some(Format::Int64),
            _ => None,
        }
    }

    /// A format of numbers by its name.
    pub(super) fn of_number(name: &str) -> Option<Format> {
        match name {
            "float" => Some(Format::Float),
            "double" => Some(Format::Double),
            _ => None,
        }
    }

    /// Whether it is about text.
    pub(super) fn is_of_text(self) -> bool {
        !matches!(self, Format::Int32 | Format::Int64 | Format::Float | Format::Double)
    }

    /// Whether a text has the format. Formats of numbers say nothing about text.
    pub(super) fn is_valid(self, text: &str) -> bool {
        match self {
            Format::Int32 | Format::Int64 | Format::Float | Format::Double | Format::Password => {
                true
            }
            Format::BsonObjectId => text.len() == 24 && is_hexadecimal(text),
            Format::Byte => digits::is_base64(text),
            Format::Cidr => network::is_cidr(text),
            Format::CreditCard => digits::is_credit_card(text),
            Format::Date => time::is_date(text),
            Format::DateTime => time::is_date_time(text),
            Format::Duration => time::is_duration(text),
            Format::Email => email::is_email(text),
            Format::HexColor => {
                let digits = text.strip_prefix('#').unwrap_or(text);
                matches!(digits.len(), 3 | 6) && is_hexadecimal(digits)
            }
            Format::Hostname => is_hostname(text),
            Format::Ipv4 => network::is_ipv4(text),
            Format::Ipv6 => network::is_ipv6(text),
            Format::Isbn => digits::is_isbn10(text) || digits::is_isbn13(text),
            Format::Isbn10 => digits::is_isbn10(text),
            Format::Isbn13 => digits::is_isbn13(text),
            Format::LongName => text.len() <= 253 && text.split('.').all(is_name_segment),
            Format::ShortName => text.len() <= 63 && is_name_segment(text),
            Format::Mac => network::is_mac(text),
            Format::RgbColor => {
                static COLOR: OnceLock<Regex> = OnceLock::new();
                regex(&COLOR, RGB_COLOR).is_match(text)
            }
            Format::Ssn => digits::is_social_security_number(text),
            Format::Uri => Url::parse_request_uri(text).is_ok(),
            Format::Uuid(version) => is_uuid(text, version),
        }
    }
}

fn regex(cell: &'static OnceLock<Regex>, expression: &str) -> &'static Regex {
    cell.get_or_init(|| compile(expression).expect("it is written here, and tested"))
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_hostname(text: &str) -> bool {
    static HOST: OnceLock<Regex> = OnceLock::new();
    let is_short = text.len() <= 255 && text.split('.').all(|label| label.len() <= 63);
    is_short && regex(&HOST, HOSTNAME).is_match(text)
}

/// Lower case letters, digits, and dashes inside.
fn is_name_segment(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    is_letter(*first) && is_letter(*last) && bytes.iter().all(|b| is_letter(*b) || *b == b'-')
}

/// Groups of 8, 4, 4, 4 and 12 digits, with a dash between two or without. The third one begins
/// with the version; of the versions 4 and 5, the fourth one begins with 8, 9, a or b.
fn is_uuid(text: &str, version: Option<u8>) -> bool {
    let mut rest = text.as_bytes();
    for (at, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if at > 0 {
            rest = rest.strip_prefix(b"-").unwrap_or(rest);
        }
        let Some((group, after)) = rest.split_at_checked(length) else { return false };
        let first = group[0].to_ascii_lowercase();
        let is_fine = match at {
            2 => version.is_none_or(|version| first == version),
            3 if matches!(version, Some(b'4' | b'5')) => b"89ab".contains(&first),
            _ => true,
        };
        if !is_fine || !group.iter().all(u8::is_ascii_hexdigit) {
            return false;
        }
        rest = after;
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_count_without_dashes() {
        assert_eq!(Format::of_text("date-time"), Some(Format::DateTime));
        assert_eq!(Format::of_text("k8s-short-name"), Some(Format::ShortName));
        assert_eq!(Format::of_text("int32"), None);
        assert_eq!(Format::of_text(""), None);
    }

    /// A format, texts that have it, and texts that have it not.
    type Case = (&'static str, &'static [&'static str], &'static [&'static str]);

    fn check(cases: &[Case]) {
        for (name, good, bad) in cases {
            let format = Format::of_text(name).expect("known");
            for text in *good {
                assert!(format.is_valid(text), "{name} {text}");
            }
            for text in *bad {
                assert!(!format.is_valid(text), "{name} {text}");
            }
        }
    }

    #[test]
    fn words_and_numbers_have_formats() {
        check(&[
            ("bsonobjectid", &["507f1f77bcf86cd799439011"], &["", "507f1f77bcf86cd79943901", "x"]),
            ("byte", &["aGVsbG8=", "aGVsbG8h", "aA=="], &["", "a", "aGVsbG8", "a-_=", "aGVs\n"]),
            ("cidr", &["10.0.0.0/8", "010.0.0.1/08", "::1/128"], &["10.0.0.0", "10.0.0.0/33", ""]),
            ("creditcard", &["4111-1111-1111-1111", "378282246310005"], &["4111111111111112", ""]),
            ("date", &["2020-02-29"], &["2021-02-29", "2020-2-1", "20-01-01", "", "2020-01-01 "]),
            (
                "date-time",
                &["2014-12-15T19:30:20.000Z", "2014-12-15t19:30:20z", "2014-12-15T19:30:20+01:00"],
                &["2014-12-15", "2014-12-15T24:30:20Z", "2014-12-15T19:30:60Z", "x", ""],
            ),
            (
                "duration",
                &["1h30m", "22 ns", "3 weeks", "1 D", "0", "x5 sec", "5 hourly", "7 \u{b5}s"],
                &["", "abc", "5", "5 parsecs of"],
            ),
        ]);
    }

    #[test]
    fn addresses_have_formats() {
        check(&[
            (
                "email",
                &["a@b.c", "A B <a@b.c>", "\"x y\"@b", "a@[1.2.3.4]", "a@b (c)", "g: a@b;"],
                &["", "a", "a@", "@b", "a@b@c", "a..b@c", "<a@b", "a b@c", "g: a@b, c@d;"],
            ),
            ("hexcolor", &["#fff", "FFFFFF"], &["#ff", "#ggg", ""]),
            ("hostname", &["a", "a.bc", "1.example.com"], &["", "a.b", "-a", "a_b", "a.bc."]),
            (
                "ipv4",
                &["1.2.3.4", "01.2.3.4", "::ffff:1.2.3.4"],
                &["1.2.3", "::1", "", "1.2.3.256"],
            ),
            ("ipv6", &["::1", "fe80::", "::ffff:1.2.3.4"], &["1.2.3.4", "", "::g", "fe80::1%eth0"]),
            ("isbn", &["0321751043", "978-0321751041", "0-306-40615-2"], &["0321751044", ""]),
            ("isbn10", &["043942089X"], &["978-0321751041", "0439420890"]),
            ("isbn13", &["978-0321751041"], &["0321751043", "978-0321751042"]),
            ("k8s-long-name", &["a.b-c.0"], &["", "A", "a..b", "-a", "a."]),
            ("k8s-short-name", &["a-b"], &["", "a.b", "a-"]),
            (
                "mac",
                &["01:23:45:67:89:ab", "01-23-45-67-89-AB", "0123.4567.89ab", "0123456789ab"],
                &["", "01:23:45:67:89", "01:23-45:67:89:ab", "0123.4567.89a"],
            ),
            ("password", &["", "anything"], &[]),
            ("rgbcolor", &["rgb(0,0,0)", "rgb( 255 , 1,20 )"], &["rgb(256,0,0)", "rgb(0,0)", ""]),
            ("ssn", &["111-22-3333", "111 22 3333"], &["111223333", "111-22-333", "11-222-3333"]),
            (
                "uri",
                &["http://a.b/c?d#e", "/a", "mailto:a", "*", "http://[::1]:80/", "a://b@c:1"],
                &["", "a", "a b", "http://a:b", "http://[::1", "http://%41/", "/%zz", "//\u{7f}"],
            ),
            (
                "uuid",
                &["123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3A456426614174000"],
                &[
                    "",
                    "123e4567-e89b-12d3-a456-42661417400",
                    "g23e4567-e89b-12d3-a456-426614174000",
                ],
            ),
            (
                "uuid3",
                &["123e4567-e89b-32d3-0456-426614174000"],
                &["123e4567-e89b-12d3-a456-426614174000"],
            ),
            (
                "uuid4",
                &["123e4567-e89b-42d3-a456-426614174000"],
                &["123e4567-e89b-42d3-0456-426614174000"],
            ),
            (
                "uuid5",
                &["123e4567-e89b-52d3-B456-426614174000"],
                &["123e4567-e89b-42d3-a456-426614174000"],
            ),
        ]);
    }
}
