//! How much memory a group of processes uses.

use rustix::process::Pid;

/// Returns the memory, in bytes, that the processes of a group do not share with others; 0 where it is not known.
pub(crate) fn of_group(group: Pid) -> u64 {
    let Ok(processes) = std::fs::read_dir("/proc") else { return 0 };
    let page = rustix::param::page_size() as u64;
    let mut pages = 0;
    for process in processes.flatten() {
        let name = process.file_name();
        if !name.to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        // A process may end at any moment.
        let Ok(stat) = std::fs::read_to_string(process.path().join("stat")) else { continue };
        if group_of(&stat) == Some(group.as_raw_nonzero().get()) {
            let statm = std::fs::read_to_string(process.path().join("statm")).unwrap_or_default();
            pages += unshared_pages(&statm).unwrap_or(0);
        }
    }
    pages * page
}

/// Reads the process group, the third field behind the name in parentheses, which may hold anything.
fn group_of(stat: &str) -> Option<i32> {
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(2)?.parse().ok()
}

fn unshared_pages(statm: &str) -> Option<u64> {
    let mut fields = statm.split_ascii_whitespace().skip(1).map(str::parse::<u64>);
    let (resident, shared) = (fields.next()?.ok()?, fields.next()?.ok()?);
    Some(resident.saturating_sub(shared))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_is_read_behind_any_name() {
        assert_eq!(group_of("12 (a) b) S 1 34 56 0"), Some(34));
        assert_eq!(group_of("12"), None);
    }

    #[test]
    fn shared_pages_do_not_count() {
        assert_eq!(unshared_pages("1000 300 100 5 0 60 0"), Some(200));
        assert_eq!(unshared_pages(""), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_own_group_uses_memory() {
        assert!(of_group(rustix::process::getpgrp()) > 0);
    }
}
