//! The names of time zones.
//!
//! After `validateTimeZone` in `pkg/apis/batch/validation/validation.go` and `LoadLocation` of
//! Go's package `time`. The names are those of the IANA time zone database 2025c, which Go brings
//! along; what the zones are does not stand here.

/// Sorted, one in a line.
const NAMES: &str = include_str!("time_zone/names.txt");

/// The most characters between two slashes.
const PART_MAX: usize = 14;

/// What is wrong with the name of a time zone, in upstream's words; nothing when it is fine.
pub(crate) fn time_zone(name: &str) -> Vec<String> {
    if name.is_empty() {
        return vec!["timeZone must be nil or non-empty string".to_owned()];
    }
    if !name.split('/').all(is_well_formed) {
        return vec![unknown(name)];
    }
    let mut problems = Vec::new();
    if name.eq_ignore_ascii_case("Local") {
        let problem = "timeZone must be an explicit time zone as defined in \
                       https://www.iana.org/time-zones";
        problems.push(problem.to_owned());
    }
    problems.extend(load(name).err());
    problems
}

/// Whether Go can load a time zone. Nothing stands for UTC, and `Local` for that of the machine.
///
/// # Errors
///
/// In the words of Go, when there is no such zone.
pub(crate) fn load(name: &str) -> Result<(), String> {
    if matches!(name, "" | "UTC" | "Local") {
        return Ok(());
    }
    if name.starts_with(['/', '\\']) || name.split(['/', '\\']).any(|part| part == "..") {
        return Err("time: invalid location name".to_owned());
    }
    // A few hundred names, looked through when a CronJob is written.
    match NAMES.lines().any(|known| known == name) {
        true => Ok(()),
        false => Err(unknown(name)),
    }
}

fn is_well_formed(part: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-_+".contains(&byte);
    (1..=PART_MAX).contains(&part.len())
        && !matches!(part, "." | "..")
        && !part.starts_with('-')
        && part.bytes().all(is_allowed)
}

fn unknown(name: &str) -> String {
    format!("unknown time zone {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expect: &[&str]) {
        assert_eq!(time_zone(name), expect, "{name:?}");
    }

    #[test]
    fn zones_of_the_database_are_fine() {
        for name in ["UTC", "Europe/Berlin", "America/Argentina/Ushuaia", "Etc/GMT+5", "W-SU"] {
            check(name, &[]);
        }
        assert!(NAMES.lines().is_sorted());
    }

    #[test]
    fn other_names_are_unknown() {
        for name in
            ["Mars/Phobos", "europe/berlin", "a//b", "/UTC", "../UTC", "-UTC", "UTC ", "a\\b"]
        {
            check(name, &[&unknown(name)]);
        }
        check("fifteenletters_", &["unknown time zone fifteenletters_"]);
        check("", &["timeZone must be nil or non-empty string"]);
    }

    #[test]
    fn the_zone_of_the_machine_is_no_zone() {
        let explicit = "timeZone must be an explicit time zone as defined in \
                        https://www.iana.org/time-zones";
        check("Local", &[explicit]);
        check("local", &[explicit, "unknown time zone local"]);
    }

    #[test]
    fn go_loads_more_than_a_name() {
        assert_eq!(load(""), Ok(()));
        assert_eq!(load("Local"), Ok(()));
        assert_eq!(load("../UTC"), Err("time: invalid location name".into()));
    }
}
