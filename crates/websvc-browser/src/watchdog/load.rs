//! The processor time that pages used recently.

use std::time::{Duration, Instant};

use rustix::process::Pid;

use super::verdict::Sample;
use crate::memory::{Role, processor_ticks};

/// The minimum length of the measured period; the maximum is twice this. The interval between two samples would be too
/// short: on a busy machine, a page may not run in it.
const WINDOW: Duration = Duration::from_millis(200);

/// The processor times of the processes of pages at two points in time.
#[derive(Default)]
pub(super) struct Load {
    previous: Vec<(Pid, u64)>,
    last: Vec<(Pid, u64)>,
    last_at: Option<Instant>,
}

impl Load {
    /// Sets the recent processor time of the samples of pages if `is_needed`.
    pub(super) fn measure(&mut self, samples: &mut [Sample], is_needed: bool) {
        let is_due = self.last_at.is_none_or(|at| at.elapsed() >= WINDOW);
        if is_due || is_needed {
            self.update(samples, is_due, processor_ticks);
        }
    }

    fn update(&mut self, samples: &mut [Sample], is_due: bool, ticks_of: impl Fn(Pid) -> u64) {
        if is_due {
            self.previous = std::mem::take(&mut self.last);
            self.last_at = Some(Instant::now());
        }
        for sample in samples.iter_mut().filter(|sample| sample.process.role == Role::Renderer) {
            let pid = sample.process.pid;
            let now = ticks_of(pid);
            // A process without a previous time was started in the period.
            let previous =
                self.previous.iter().find(|(other, _)| *other == pid).map_or(0, |(_, ticks)| *ticks);
            sample.ticks = now.saturating_sub(previous);
            if is_due {
                self.last.push((pid, now));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::ProcessMemory;

    #[test]
    fn ticks_are_those_of_the_last_window_or_all_of_a_new_process() {
        let pid = |number| Pid::from_raw(number).unwrap();
        let process = |number, role| ProcessMemory { pid: pid(number), role, bytes: 1 };
        let mut samples = [
            Sample::new(0, process(1, Role::Browser)),
            Sample::new(0, process(2, Role::Renderer)),
            Sample::new(0, process(3, Role::Renderer)),
        ];
        let mut load = Load::default();
        load.update(&mut samples[..2], true, |_| 500);
        load.update(&mut samples[..2], true, |_| 510);
        load.update(&mut samples, false, |pid| if pid.as_raw_nonzero().get() == 2 { 530 } else { 7 });
        assert_eq!(samples.map(|sample| sample.ticks), [0, 30, 7]);
    }
}
