//! How much memory a program and the browser under it take while they work.

use std::collections::HashMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How often it is looked at: often enough for the pages of a second, rarely enough to cost nothing.
const PAUSE: Duration = Duration::from_millis(100);
/// Pages of memory are of this size on the machines that this runs on.
const PAGE_BYTES: u64 = 4096;

/// The most memory at one time, in bytes that are shared with nobody.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Peak {
    pub(super) program: u64,
    /// All that it has started.
    pub(super) browser: u64,
}

/// Watches a program until it is asked for what it saw.
pub(super) struct Watch {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Peak>,
}

impl Watch {
    pub(super) fn start(program: u32) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let thread = thread::spawn(move || {
            let mut peak = Peak::default();
            while !over.load(Ordering::Relaxed) {
                let now = look(program);
                peak.program = peak.program.max(now.program);
                peak.browser = peak.browser.max(now.browser);
                thread::sleep(PAUSE);
            }
            peak
        });
        Self { is_over, thread }
    }

    pub(super) fn peak(self) -> Peak {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_default()
    }
}

fn look(program: u32) -> Peak {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if let Some(parent) = parent_of(id) {
            children.entry(parent).or_default().push(id);
        }
    }
    let mut peak = Peak { program: unshared(program), browser: 0 };
    let mut open = children.remove(&program).unwrap_or_default();
    while let Some(id) = open.pop() {
        peak.browser += unshared(id);
        open.extend(children.remove(&id).into_iter().flatten());
    }
    peak
}

/// Reads the second field behind the name in parentheses, which may hold anything.
fn parent_of(id: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn unshared(id: u32) -> u64 {
    // A process may end at any moment.
    let statm = fs::read_to_string(format!("/proc/{id}/statm")).unwrap_or_default();
    let mut fields = statm.split_ascii_whitespace().skip(1).flat_map(str::parse::<u64>);
    let (resident, shared) = (fields.next().unwrap_or(0), fields.next().unwrap_or(0));
    resident.saturating_sub(shared) * PAGE_BYTES
}
