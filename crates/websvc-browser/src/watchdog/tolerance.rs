//! The memory that Chromium's own processes may keep after a page has been ended for them.
//!
//! Chromium frees what a page has kept in them, such as blobs, some time after the page has gone, later on a busy
//! machine, and its allocator may keep it for good. As long as they do not grow, no other page is ended for it.

use rustix::process::Pid;

use super::verdict::Sample;

/// One part of this of the bound of a page may be added before another page is ended.
const GROWTH: u64 = 4;

/// The memory of processes for which a page has been ended, until they are within the bound of a page again.
#[derive(Default)]
pub(super) struct Tolerance(Vec<(Pid, u64)>);

impl Tolerance {
    /// Tolerates what the own processes of a Chromium have, after a page was ended for it.
    pub(super) fn grant(&mut self, samples: &[Sample], browser: Option<usize>) {
        let own = samples.iter().filter(|sample| Some(sample.browser) == browser);
        for sample in own.filter(|sample| sample.is_own()) {
            self.0.retain(|(process, _)| *process != sample.member.process);
            self.0.push((sample.member.process, sample.member.bytes));
        }
    }

    /// Sets what is tolerated of each sample. It follows the memory of the process: upwards until the end of the page
    /// `has_taken_effect`, then only downwards.
    pub(super) fn apply(&mut self, samples: &mut [Sample], bound: u64, has_taken_effect: bool) {
        self.0.retain_mut(|(process, level)| {
            let Some(sample) = samples.iter_mut().find(|sample| sample.member.process == *process) else {
                return false;
            };
            let bytes = sample.member.bytes;
            *level = if has_taken_effect { bytes.min(*level) } else { bytes.max(*level) };
            sample.tolerated = *level + bound / GROWTH;
            !has_taken_effect || *level > bound
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Member, Role};

    fn tolerated(tolerance: &mut Tolerance, bytes: u64, has_taken_effect: bool) -> u64 {
        let process = Pid::from_raw(1).unwrap();
        let mut samples = [Sample::new(0, Member { process, role: Role::Browser, bytes })];
        tolerance.apply(&mut samples, 100, has_taken_effect);
        samples[0].tolerated
    }

    #[test]
    fn what_is_freed_late_is_tolerated_until_it_grows() {
        let process = Pid::from_raw(1).unwrap();
        let mut tolerance = Tolerance::default();
        assert_eq!(tolerated(&mut tolerance, 120, true), 0);
        tolerance.grant(&[Sample::new(0, Member { process, role: Role::Browser, bytes: 120 })], Some(0));
        assert_eq!(tolerated(&mut tolerance, 130, false), 155, "on its way when the page was ended");
        assert_eq!(tolerated(&mut tolerance, 125, true), 150);
        assert_eq!(tolerated(&mut tolerance, 149, true), 150, "it grows");
        assert_eq!(tolerated(&mut tolerance, 90, true), 115);
        assert_eq!(tolerated(&mut tolerance, 110, true), 0, "it was within its bound");
    }
}
