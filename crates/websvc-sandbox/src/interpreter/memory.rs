//! The memory of the processes of a sandbox, read from `/proc`.

use std::fs;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::sleep;

/// The interval between two measurements. Between them, limits of the kernel bound each process.
const INTERVAL: Duration = Duration::from_millis(100);

/// Waits until the processes below `root` use more memory than the maximum, and returns the reason to end them.
pub(super) async fn watch(root: Option<u32>, max_bytes: u64) -> String {
    loop {
        sleep(INTERVAL).await;
        // A program chooses how much there is to read: up to a few hundred files, for which the kernel walks page tables.
        let measured = spawn_blocking(move || root.is_some_and(|root| is_exceeded(root, max_bytes)));
        match measured.await {
            Ok(false) => {}
            Ok(true) => return format!("out of memory: a program may use {} MiB", max_bytes / (1024 * 1024)),
            Err(_) => return "its memory cannot be measured".to_owned(),
        }
    }
}

fn is_exceeded(root: u32, max_bytes: u64) -> bool {
    let processes = tree(root);
    // Pages that processes share count for each of them at first, because that is cheaper to read.
    processes.iter().map(|process| resident_bytes(*process)).sum::<u64>() > max_bytes
        && processes.iter().map(|process| proportional_bytes(*process)).sum::<u64>() > max_bytes
}

/// Returns a process and its descendants.
fn tree(root: u32) -> Vec<u32> {
    let mut processes = vec![root];
    let mut next = 0;
    while let Some(process) = processes.get(next) {
        // A process may end at any time.
        for thread in fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten() {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            processes.extend(children.split_ascii_whitespace().filter_map(|id| id.parse::<u32>().ok()));
        }
        next += 1;
    }
    processes
}

/// Returns the resident memory of a process that is not from files: anonymous and shared pages.
fn resident_bytes(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    sum_of(&status, ["RssAnon:", "RssShmem:"]).unwrap_or(0)
}

/// Returns the same memory, with the part of the process of pages that several have. A process can hide this from other
/// processes; then all its pages count.
fn proportional_bytes(process: u32) -> u64 {
    let summary = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap_or_default();
    sum_of(&summary, ["Pss_Anon:", "Pss_Shmem:"]).unwrap_or_else(|| resident_bytes(process))
}

/// Returns the sum of lines with kibibytes in bytes; `None` if one is missing.
fn sum_of(text: &str, names: [&str; 2]) -> Option<u64> {
    let kib = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    };
    names.into_iter().map(kib).sum::<Option<u64>>().map(|kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sum_is_that_of_the_named_lines() {
        let status = "Name:\tx\nVmRSS:\t 900 kB\nRssAnon:\t 500 kB\nRssFile:\t 300 kB\nRssShmem:\t 100 kB\n";
        assert_eq!(sum_of(status, ["RssAnon:", "RssShmem:"]), Some(600 * 1024));
        assert_eq!(sum_of("Name:\tx\nState:\tZ (zombie)\n", ["RssAnon:", "RssShmem:"]), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_of_a_process_and_its_children_is_found() {
        let this = std::process::id();
        assert!(resident_bytes(this) > 0);
        assert!(proportional_bytes(this) > 0);
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let processes = tree(this);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(processes.contains(&this) && processes.contains(&child.id()), "{processes:?}");
        assert_eq!(resident_bytes(child.id()), 0, "it has ended");
    }
}
