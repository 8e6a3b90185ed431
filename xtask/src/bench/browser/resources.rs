//! Measures the memory and CPU time of a program and of the browser that it starts.

use std::collections::HashMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Interval between samples: short enough for pages that take a second, long enough to cost almost nothing.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(100);
/// Size of a memory page on the supported machines.
const PAGE_BYTES: u64 = 4096;

/// Unit of CPU time in `/proc`: a hundredth of a second.
const TICK_MS: u64 = 10;

/// Resources of a program and of all processes that it has started.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Resources {
    /// Peak of the unshared memory of the program.
    pub(super) program_bytes: u64,
    /// Peak of the unshared memory of its child processes.
    pub(super) browser_bytes: u64,
    /// CPU time of all processes, including their start.
    pub(super) cpu_ms: u64,
}

/// A thread that samples the resources of a program until [`finish`](Self::finish) is called.
pub(super) struct ResourceMonitor {
    is_finished: Arc<AtomicBool>,
    thread: JoinHandle<Resources>,
}

impl ResourceMonitor {
    /// Starts to sample the process with this ID.
    pub(super) fn start(program: u32) -> Self {
        let is_finished = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&is_finished);
        let thread = thread::spawn(move || {
            let (mut peak, mut ticks) = (Resources::default(), HashMap::new());
            while !flag.load(Ordering::Relaxed) {
                let current = sample(program, &mut ticks);
                peak.program_bytes = peak.program_bytes.max(current.program_bytes);
                peak.browser_bytes = peak.browser_bytes.max(current.browser_bytes);
                thread::sleep(SAMPLE_INTERVAL);
            }
            // For a process that has ended, the last sample counts.
            Resources { cpu_ms: ticks.values().sum::<u64>() * TICK_MS, ..peak }
        });
        Self { is_finished, thread }
    }

    /// Stops the thread and returns the resources.
    pub(super) fn finish(self) -> Resources {
        self.is_finished.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_default()
    }
}

/// Returns the current memory, and stores the CPU ticks of every process in `ticks`.
fn sample(program: u32, ticks: &mut HashMap<u32, u64>) -> Resources {
    let mut children: HashMap<u32, Vec<(u32, u64)>> = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if let Some((parent, cpu_ticks)) = read_stat(id) {
            children.entry(parent).or_default().push((id, cpu_ticks));
            if id == program {
                ticks.insert(id, cpu_ticks);
            }
        }
    }
    let mut resources = Resources { program_bytes: unshared_bytes(program), ..Resources::default() };
    let mut pending = children.remove(&program).unwrap_or_default();
    while let Some((id, cpu_ticks)) = pending.pop() {
        ticks.insert(id, cpu_ticks);
        resources.browser_bytes += unshared_bytes(id);
        pending.extend(children.remove(&id).into_iter().flatten());
    }
    resources
}

/// Returns the parent of a process and its CPU time in ticks: the second, twelfth and thirteenth field after the process
/// name. The name is in parentheses and may contain any character.
fn read_stat(id: u32) -> Option<(u32, u64)> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
    Some((fields.get(1)?.parse().ok()?, number(11)? + number(12)?))
}

/// Returns the memory of a process that it does not share with others; zero if the process has ended.
fn unshared_bytes(id: u32) -> u64 {
    let statm = fs::read_to_string(format!("/proc/{id}/statm")).unwrap_or_default();
    let mut fields = statm.split_ascii_whitespace().skip(1).flat_map(str::parse::<u64>);
    let (resident, shared) = (fields.next().unwrap_or(0), fields.next().unwrap_or(0));
    resident.saturating_sub(shared) * PAGE_BYTES
}
