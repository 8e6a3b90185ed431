//! The memory and the processor time that a program and the browser under it take while they work.

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

/// Processor time is counted in hundredths of a second.
const TICK_MS: u64 = 10;

/// The resources of a program and of all processes that it has started.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Resources {
    /// The most memory of the program at one time, in bytes that are shared with nobody.
    pub(super) program: u64,
    /// The most memory of the others at one time.
    pub(super) browser: u64,
    /// The processor time of all of them, their start included.
    pub(super) cpu_ms: u64,
}

/// Watches a program until it is asked for what it saw.
pub(super) struct Watch {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Resources>,
}

impl Watch {
    pub(super) fn start(program: u32) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let thread = thread::spawn(move || {
            let (mut most, mut ticks) = (Resources::default(), HashMap::new());
            while !over.load(Ordering::Relaxed) {
                let now = look(program, &mut ticks);
                most.program = most.program.max(now.program);
                most.browser = most.browser.max(now.browser);
                thread::sleep(PAUSE);
            }
            // Of a process that has ended the last look counts.
            Resources { cpu_ms: ticks.values().sum::<u64>() * TICK_MS, ..most }
        });
        Self { is_over, thread }
    }

    pub(super) fn finish(self) -> Resources {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_default()
    }
}

fn look(program: u32, ticks: &mut HashMap<u32, u64>) -> Resources {
    let mut children: HashMap<u32, Vec<(u32, u64)>> = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if let Some((parent, used)) = stat(id) {
            children.entry(parent).or_default().push((id, used));
            if id == program {
                ticks.insert(id, used);
            }
        }
    }
    let mut seen = Resources { program: unshared(program), ..Resources::default() };
    let mut open = children.remove(&program).unwrap_or_default();
    while let Some((id, used)) = open.pop() {
        ticks.insert(id, used);
        seen.browser += unshared(id);
        open.extend(children.remove(&id).into_iter().flatten());
    }
    seen
}

/// Returns the parent of a process and the ticks of processor time it has used: the second, twelfth and thirteenth
/// field behind the name in parentheses, which may hold anything.
fn stat(id: u32) -> Option<(u32, u64)> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some((fields.get(1)?.parse().ok()?, number(11)? + number(12)?))
}

fn unshared(id: u32) -> u64 {
    // A process may end at any moment.
    let statm = fs::read_to_string(format!("/proc/{id}/statm")).unwrap_or_default();
    let mut fields = statm.split_ascii_whitespace().skip(1).flat_map(str::parse::<u64>);
    let (resident, shared) = (fields.next().unwrap_or(0), fields.next().unwrap_or(0));
    resident.saturating_sub(shared) * PAGE_BYTES
}
