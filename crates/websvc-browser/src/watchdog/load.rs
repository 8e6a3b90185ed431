//! The processor time that pages have used in the last moments.

use std::time::{Duration, Instant};

use rustix::process::Pid;

use super::verdict::Sample;
use crate::memory::{Role, processor_ticks};

/// The least time that is looked back on; the most is twice this. One look is too short: a page on a busy machine may
/// not have run between two of them.
const WINDOW: Duration = Duration::from_millis(200);

/// Processor time of pages' processes at two moments, from which the time since is computed.
#[derive(Default)]
pub(super) struct Load {
    before: Vec<(Pid, u64)>,
    last: Vec<(Pid, u64)>,
    last_at: Option<Instant>,
}

impl Load {
    /// Adds their processor time to the samples of pages when it `is_wanted`.
    pub(super) fn measure(&mut self, samples: &mut [Sample], is_wanted: bool) {
        let is_due = self.last_at.is_none_or(|at| at.elapsed() >= WINDOW);
        if is_due || is_wanted {
            self.add(samples, is_due, processor_ticks);
        }
    }

    fn add(&mut self, samples: &mut [Sample], is_due: bool, ticks_of: impl Fn(Pid) -> u64) {
        if is_due {
            self.before = std::mem::take(&mut self.last);
            self.last_at = Some(Instant::now());
        }
        for sample in samples.iter_mut().filter(|sample| sample.member.role == Role::Renderer) {
            let process = sample.member.process;
            let now = ticks_of(process);
            // One that is not known has begun since.
            let before =
                self.before.iter().find(|(known, _)| *known == process).map_or(0, |(_, ticks)| *ticks);
            sample.ticks = now.saturating_sub(before);
            if is_due {
                self.last.push((process, now));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Member;

    #[test]
    fn time_of_the_last_window_counts_and_all_of_a_process_that_began_in_it() {
        let process = |number| Pid::from_raw(number).unwrap();
        let member = |number, role| Member { process: process(number), role, bytes: 1 };
        let mut samples = [
            Sample::new(0, member(1, Role::Browser)),
            Sample::new(0, member(2, Role::Renderer)),
            Sample::new(0, member(3, Role::Renderer)),
        ];
        let mut load = Load::default();
        load.add(&mut samples[..2], true, |_| 500);
        load.add(&mut samples[..2], true, |_| 510);
        load.add(&mut samples, false, |process| if process.as_raw_nonzero().get() == 2 { 530 } else { 7 });
        assert_eq!(samples.map(|sample| sample.ticks), [0, 30, 7]);
    }
}
