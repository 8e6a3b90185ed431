//! Disk space for a run of the gate.

use std::env;
use std::path::Path;
use std::process::Command;

use crate::root;

/// Space that a gate from nothing takes, in kB: the build, the installations and the files of the tests.
const GATE_FROM_NOTHING: u64 = 11_000_000;

/// Space that the data for incremental builds takes in addition, in kB.
const INCREMENTAL_DATA: u64 = 7_000_000;

/// Space that a gate takes after an earlier one, in kB: files of the tests and rebuilt programs. An estimate.
const GATE_AFTER_ANOTHER: u64 = 6_000_000;

/// Returns a warning if the disk of the source tree may be too small for the gate.
///
/// A full disk ends a gate after many minutes, with failures that do not name their cause: the tests on PostgreSQL, for
/// example, find a server "in recovery mode".
pub(crate) fn shortage() -> Option<String> {
    let is_built = root().join("target/debug/deps").is_dir();
    let is_incremental = env::var_os("CARGO_INCREMENTAL").is_none_or(|value| value != "0");
    let needed = match (is_built, is_incremental) {
        (true, _) => GATE_AFTER_ANOTHER,
        (false, true) => GATE_FROM_NOTHING + INCREMENTAL_DATA,
        (false, false) => GATE_FROM_NOTHING,
    };
    let available = available(root())?;
    (available < needed).then(|| {
        format!(
            "the disk of {} has {:.1} GB left; the gate may need {:.0} GB. Free some space if tests fail",
            root().display(),
            gigabytes(available),
            gigabytes(needed)
        )
    })
}

/// Returns the space that is left on the disk with `path`, in kB, or `None` if `df` fails.
fn available(path: &Path) -> Option<u64> {
    let output = Command::new("df").args(["-P", "-k"]).arg(path).output().ok()?;
    parse(std::str::from_utf8(&output.stdout).ok()?)
}

/// Parses the output of `df -P -k` for one path: a line of headings, then a line whose fourth field is the space left.
fn parse(output: &str) -> Option<u64> {
    output.lines().nth(1)?.split_whitespace().nth(3)?.parse().ok()
}

fn gigabytes(kilobytes: u64) -> f64 {
    kilobytes as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_left_is_the_fourth_field() {
        let output = "Filesystem     1024-blocks     Used Available Capacity Mounted on\n\
                      /dev/vda         263174212 77594624  16252928      83% /\n";
        assert_eq!(parse(output), Some(16_252_928));
        assert_eq!(parse(""), None);
        assert!(available(root()).is_some());
    }
}
