//! What the operating system knows of the process, from `/proc` on Linux; nothing elsewhere.
//!
//! Names and meanings are those of Prometheus' client for Go.

use std::fs;

/// How many ticks `/proc` counts in a second. The interface fixes it, whatever the machine.
const TICKS: f64 = 100.0;

/// A metric of the process: name, kind, help, value.
pub(super) type Metric = (&'static str, &'static str, &'static str, f64);

/// All that is known, sorted by name.
pub(super) fn metrics() -> Vec<Metric> {
    let stat = read("/proc/self/stat");
    let status = read("/proc/self/status");
    let known = [
        (
            "process_cpu_seconds_total",
            "counter",
            "Total user and system CPU time spent in seconds.",
            cpu_seconds(&stat),
        ),
        (
            "process_max_fds",
            "gauge",
            "Maximum number of open file descriptors.",
            max_files(&read("/proc/self/limits")),
        ),
        ("process_open_fds", "gauge", "Number of open file descriptors.", open_files()),
        (
            "process_resident_memory_bytes",
            "gauge",
            "Resident memory size in bytes.",
            memory(&status, "VmRSS:"),
        ),
        (
            "process_start_time_seconds",
            "gauge",
            "Start time of the process since unix epoch in seconds.",
            start_time(&stat, &read("/proc/stat")),
        ),
        (
            "process_virtual_memory_bytes",
            "gauge",
            "Virtual memory size in bytes.",
            memory(&status, "VmSize:"),
        ),
    ];
    let told = known.into_iter();
    told.filter_map(|(name, kind, help, value)| Some((name, kind, help, value?))).collect()
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// A field of `/proc/self/stat` by its number in the manual. The second may hold anything.
fn stat_field(stat: &str, number: usize) -> Option<f64> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(number.checked_sub(3)?)?.parse().ok()
}

fn cpu_seconds(stat: &str) -> Option<f64> {
    Some((stat_field(stat, 14)? + stat_field(stat, 15)?) / TICKS)
}

fn start_time(stat: &str, of_machine: &str) -> Option<f64> {
    let boot: f64 = line(of_machine, "btime")?.trim().parse().ok()?;
    Some(boot + stat_field(stat, 22)? / TICKS)
}

fn memory(status: &str, name: &str) -> Option<f64> {
    let kibibytes: f64 = line(status, name)?.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024.0)
}

fn max_files(limits: &str) -> Option<f64> {
    line(limits, "Max open files")?.split_whitespace().next()?.parse().ok()
}

#[expect(clippy::cast_precision_loss, reason = "nobody has that many files")]
fn open_files() -> Option<f64> {
    Some(fs::read_dir("/proc/self/fd").ok()?.count() as f64)
}

/// What follows a name at the start of a line.
fn line<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_behind_any_name_of_the_program() {
        let mut stat = String::from("7 (a) b ) S");
        for number in 4..30 {
            stat.push_str(&format!(" {number}"));
        }
        assert_eq!(cpu_seconds(&stat), Some(0.29));
        assert_eq!(start_time(&stat, "cpu 1\nbtime 1000\n"), Some(1000.22));
        assert_eq!(cpu_seconds(""), None);
    }

    #[test]
    fn sizes_and_limits_are_read_from_their_lines() {
        assert_eq!(memory("VmSize:\t  10 kB\nVmRSS:\t 2 kB\n", "VmRSS:"), Some(2048.0));
        let limits = "Max open files            1024                 4096                 files\n";
        assert_eq!(max_files(limits), Some(1024.0));
        assert_eq!(max_files("Max open files unlimited unlimited files"), None);
    }
}
