//! Equal shares of one core for several processes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::process::Process;

/// The time of a slot.
const SLOT: Duration = Duration::from_millis(5);

/// A thread that lets one process after the other run, each for a slot of a cycle, whatever their number is. Dropping
/// this lets all of them run.
pub(super) struct CpuShares {
    is_stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl CpuShares {
    /// Starts the cycle of `slots` slots.
    pub(super) fn start(processes: &[Process], slots: usize) -> Self {
        let is_stopped = Arc::new(AtomicBool::new(false));
        let pids: Vec<Pid> =
            processes.iter().map(|process| Pid::from_raw(process.id().cast_signed()).unwrap()).collect();
        let stopped = Arc::clone(&is_stopped);
        let thread = std::thread::spawn(move || {
            pids.iter().for_each(|pid| kill_process(*pid, Signal::STOP).unwrap());
            for slot in (0..slots).cycle() {
                if stopped.load(Ordering::Relaxed) {
                    break;
                }
                match pids.get(slot) {
                    Some(pid) => {
                        kill_process(*pid, Signal::CONT).unwrap();
                        std::thread::sleep(SLOT);
                        kill_process(*pid, Signal::STOP).unwrap();
                    }
                    None => std::thread::sleep(SLOT),
                }
            }
            pids.iter().for_each(|pid| kill_process(*pid, Signal::CONT).unwrap());
        });
        Self { is_stopped, thread: Some(thread) }
    }
}

impl Drop for CpuShares {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}
