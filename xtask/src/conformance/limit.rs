//! Time limits of the programs that the checks run, so that the whole run ends.

use std::ffi::OsStr;
use std::process::{Command, ExitStatus};
use std::time::Duration;

/// Exit codes of `timeout` after the limit: the program ended as asked, or was killed.
const EXPIRED: [i32; 2] = [124, 137];

/// Returns a command that runs a program for at most this time. Then it ends the processes that the program started, too.
pub(super) fn limited(program: impl AsRef<OsStr>, limit: Duration) -> Command {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=10", &limit.as_secs().to_string()]).arg(program);
    command
}

/// Describes how a program with a limit ended.
pub(super) fn ending(status: ExitStatus, limit: Duration) -> String {
    match status.code() {
        Some(code) if EXPIRED.contains(&code) => format!("not done after {} s", limit.as_secs()),
        Some(_) | None => status.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_is_ended_at_its_limit() {
        let end = |limit: u64, seconds: &str| {
            let limit = Duration::from_secs(limit);
            ending(limited("sleep", limit).arg(seconds).status().unwrap(), limit)
        };
        assert_eq!(end(1, "3600"), "not done after 1 s");
        assert_eq!(end(3600, "0"), "exit status: 0");
    }
}
