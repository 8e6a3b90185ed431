//! Checks of the machine: open files, memory, clock.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::finding::Finding;
use crate::config::Config;
use crate::human_bytes::HumanBytes;

const FILES: &str = "open files";
const MEMORY: &str = "memory";
const CLOCK: &str = "clock";

/// Files that the service opens in addition to connections: the index, the database, its log.
const BASE_FILES: u64 = 512;
/// Memory of the service without caches and pages.
const BASE_MEMORY_BYTES: u64 = 128 * 1024 * 1024;
/// 2026-01-01, before the first release of the program.
const MIN_TIME: i64 = 1_767_225_600;
/// 2100-01-01, the latest plausible time.
const MAX_TIME: i64 = 4_102_444_800;
/// Tolerance for a file from the future, because clocks of file servers differ.
const TOLERANCE_SECONDS: i64 = 3_600;

/// Checks limits, memory and clock.
pub(super) fn check(config: Option<&Config>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(config) = config {
        findings.extend(open_files_limit().map(|limit| open_files(limit, max_connections(config))));
        findings.extend(available_memory().map(|available| memory(available, config)));
    }
    findings.push(clock(seconds(SystemTime::now()), modified_at(std::env::current_exe().ok().as_deref())));
    findings
}

/// Returns the maximum number of concurrent connections. Each fetch may have two, for a proxy or a redirect.
fn max_connections(config: &Config) -> u64 {
    let fetches = 2 * config.fetch.concurrency;
    u64::try_from(config.server.max_connections.saturating_add(fetches)).unwrap_or(u64::MAX)
}

#[cfg(unix)]
fn open_files_limit() -> Option<u64> {
    use rustix::process::{Resource, getrlimit};
    Some(getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX))
}

#[cfg(not(unix))]
fn open_files_limit() -> Option<u64> {
    None
}

fn open_files(limit: u64, max_connections: u64) -> Finding {
    let required = max_connections.saturating_add(BASE_FILES);
    if limit >= required {
        let limit = if limit == u64::MAX { "no limit".to_owned() } else { format!("up to {limit}") };
        return Finding::ok(FILES, format!("{limit}; {required} are sufficient"));
    }
    Finding::warning(
        FILES,
        format!("up to {limit}; up to {required} may be needed for the configured number of connections"),
    )
    .advice(format!(
        "raise the limit (`ulimit -n {required}`, systemd: LimitNOFILE={required}), or lower \
             `server.max_connections`"
    ))
}

/// Returns the available memory in bytes, limited by the control group.
pub(super) fn available_memory() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let system = system_memory(&read("/proc/meminfo")?)?;
    let number = |path: &str| read(path)?.trim().parse::<u64>().ok();
    let group = number("/sys/fs/cgroup/memory.max")
        .map(|max| max.saturating_sub(number("/sys/fs/cgroup/memory.current").unwrap_or_default()));
    Some(group.map_or(system, |group| group.min(system)))
}

/// Parses `MemAvailable` of `/proc/meminfo`, in bytes.
fn system_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

fn memory(available: u64, config: &Config) -> Finding {
    // While a page is parsed, it is in memory as received, decoded, and as a tree. As many pages are parsed at once
    // as there are processors.
    let pages = config.fetch.max_body_bytes.saturating_mul(3);
    let required = BASE_MEMORY_BYTES.saturating_add(config.cache.output_memory_bytes).saturating_add(pages);
    let [available_shown, required_shown] = [available, required].map(HumanBytes);
    let message = format!("{available_shown} available; {required_shown} needed for the largest pages");
    if available >= required {
        return Finding::ok(MEMORY, message);
    }
    Finding::warning(MEMORY, message)
        .advice("add memory, or lower `fetch.max_body_bytes` and `cache.output_memory_bytes`")
}

fn modified_at(path: Option<&Path>) -> Option<i64> {
    let modified = std::fs::metadata(path?).ok()?.modified().ok()?;
    Some(seconds(modified))
}

fn seconds(at: SystemTime) -> i64 {
    match at.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_secs()).map_or(i64::MIN, |seconds| -seconds),
    }
}

/// Checks the clock against the installation time of the program. Times are seconds since the Unix epoch.
fn clock(now: i64, installed: Option<i64>) -> Finding {
    let shown = |at: i64| {
        jiff::Timestamp::from_second(at)
            .map_or_else(|_| format!("{at} seconds"), |at| at.strftime("%Y-%m-%d %H:%M UTC").to_string())
    };
    let advice =
        "set the clock (timedatectl set-ntp true, chrony): the age of pages and certificates depends on it";
    if !(MIN_TIME..MAX_TIME).contains(&now) {
        return Finding::problem(CLOCK, format!("{} is not plausible", shown(now))).advice(advice);
    }
    match installed.filter(|&installed| installed > now.saturating_add(TOLERANCE_SECONDS)) {
        Some(installed) => Finding::warning(
            CLOCK,
            format!(
                "{}, which is before the installation of this program on {}",
                shown(now),
                shown(installed)
            ),
        )
        .advice(advice),
        None => Finding::ok(CLOCK, shown(now)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    #[test]
    fn open_files_limit_must_suffice_for_the_connections() {
        for (limit, max_connections, expected) in [
            (1024, 4224, State::Warning),
            (65_536, 4224, State::Ok),
            (u64::MAX, 4224, State::Ok),
            (1024, 200, State::Ok),
            (u64::MAX - 1, u64::MAX, State::Warning),
        ] {
            assert_eq!(open_files(limit, max_connections).state, expected, "{limit} {max_connections}");
        }
        assert!(open_files(1024, 4224).advice.unwrap().contains("ulimit -n 4736"));
        assert_eq!(max_connections(&Config::default()), 4224);
    }

    #[test]
    fn available_memory_is_parsed_and_checked() {
        assert_eq!(system_memory("MemTotal: 9 kB\nMemAvailable:    2048 kB\n"), Some(2 * 1024 * 1024));
        assert_eq!(system_memory("MemTotal: 9 kB\n"), None);
        assert_eq!(memory(1 << 30, &Config::default()).state, State::Ok);
        assert_eq!(memory(64 << 20, &Config::default()).state, State::Warning);
    }

    #[test]
    fn clock_must_be_plausible() {
        let now = MIN_TIME + 1_000_000;
        for (at, installed, expected) in [
            (now, None, State::Ok),
            (now, Some(now - 60), State::Ok),
            (now, Some(now + 60), State::Ok),
            (now, Some(now + 86_400), State::Warning),
            (0, None, State::Problem),
            (-5, None, State::Problem),
            (MAX_TIME, None, State::Problem),
            (i64::MAX, None, State::Problem),
        ] {
            assert_eq!(clock(at, installed).state, expected, "{at} {installed:?}");
        }
    }
}
