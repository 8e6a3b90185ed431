//! The memory of the processes of a sandbox, read from `/proc`.

use std::fs;
use std::time::Duration;

use tokio::time::sleep;

/// The interval between two measurements. Between them, limits of the kernel bound each process.
const INTERVAL: Duration = Duration::from_millis(100);

/// Waits until the processes below `root` use more memory than the maximum, and returns the reason to end them.
pub(super) async fn watch(root: Option<u32>, max_bytes: u64) -> String {
    loop {
        sleep(INTERVAL).await;
        let bytes = root.map_or(0, |root| tree_bytes(root));
        if bytes > max_bytes {
            return format!("out of memory: a program may use {} MiB", max_bytes / (1024 * 1024));
        }
    }
}

/// Returns the memory of a process and its descendants in bytes, without mapped files.
pub(super) fn tree_bytes(root: u32) -> u64 {
    let mut bytes = 0;
    let mut pending = vec![root];
    while let Some(process) = pending.pop() {
        // A process may end at any time.
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        bytes += private_bytes(&status);
        for thread in fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten() {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            pending.extend(children.split_ascii_whitespace().filter_map(|id| id.parse::<u32>().ok()));
        }
    }
    bytes
}

/// Returns the resident memory that is not from files: anonymous and shared pages.
fn private_bytes(status: &str) -> u64 {
    let kib = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    };
    (kib("RssAnon:").unwrap_or(0) + kib("RssShmem:").unwrap_or(0)) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_that_of_anonymous_and_shared_pages() {
        let status = "Name:\tx\nVmRSS:\t 900 kB\nRssAnon:\t 500 kB\nRssFile:\t 300 kB\nRssShmem:\t 100 kB\n";
        assert_eq!(private_bytes(status), 600 * 1024);
        assert_eq!(private_bytes("Name:\tx\nState:\tZ (zombie)\n"), 0);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_of_children_counts() {
        let alone = tree_bytes(std::process::id());
        assert!(alone > 0);
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let children = fs::read_to_string("/proc/thread-self/children").unwrap();
        assert!(children.split(' ').any(|id| id == child.id().to_string()), "{children}");
        assert!(tree_bytes(child.id()) > 0);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
