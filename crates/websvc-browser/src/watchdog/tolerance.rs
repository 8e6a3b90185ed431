//! The memory that Chromium's own processes may retain after a page was stopped for it.
//!
//! Chromium frees the data of a page in these processes, such as blobs, some time after the page has ended, on a busy
//! machine later, and its allocator may never return it. As long as the processes do not grow, no other page is stopped for
//! it.

use rustix::process::Pid;

use super::verdict::Sample;

/// The divisor of the page limit that gives the tolerated growth.
const GROWTH_DIVISOR: u64 = 4;

/// The memory of the processes for which a page was stopped, until they are below the page limit again.
#[derive(Default)]
pub(super) struct Tolerance(Vec<(Pid, u64)>);

impl Tolerance {
    /// Tolerates the current memory of Chromium's own processes, after a page was stopped for it.
    pub(super) fn grant(&mut self, samples: &[Sample], browser: Option<usize>) {
        let of_browser = samples.iter().filter(|sample| Some(sample.browser) == browser);
        for sample in of_browser.filter(|sample| sample.is_browser_process()) {
            self.0.retain(|(pid, _)| *pid != sample.process.pid);
            self.0.push((sample.process.pid, sample.process.bytes));
        }
    }

    /// Sets the tolerated memory of each sample. It follows the memory of the process: upward until the kill of the page
    /// `has_taken_effect`, then only downward.
    pub(super) fn apply(&mut self, samples: &mut [Sample], limit: u64, has_taken_effect: bool) {
        self.0.retain_mut(|(pid, level)| {
            let Some(sample) = samples.iter_mut().find(|sample| sample.process.pid == *pid) else {
                return false;
            };
            let bytes = sample.process.bytes;
            *level = if has_taken_effect { bytes.min(*level) } else { bytes.max(*level) };
            sample.tolerated = *level + limit / GROWTH_DIVISOR;
            !has_taken_effect || *level > limit
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{ProcessMemory, Role};

    fn tolerated(tolerance: &mut Tolerance, bytes: u64, has_taken_effect: bool) -> u64 {
        let pid = Pid::from_raw(1).unwrap();
        let mut samples = [Sample::new(0, ProcessMemory { pid, role: Role::Browser, bytes })];
        tolerance.apply(&mut samples, 100, has_taken_effect);
        samples[0].tolerated
    }

    #[test]
    fn memory_that_is_freed_late_is_tolerated_until_it_grows() {
        let pid = Pid::from_raw(1).unwrap();
        let mut tolerance = Tolerance::default();
        assert_eq!(tolerated(&mut tolerance, 120, true), 0);
        tolerance.grant(&[Sample::new(0, ProcessMemory { pid, role: Role::Browser, bytes: 120 })], Some(0));
        assert_eq!(tolerated(&mut tolerance, 130, false), 155, "growth before the kill takes effect");
        assert_eq!(tolerated(&mut tolerance, 125, true), 150);
        assert_eq!(tolerated(&mut tolerance, 149, true), 150, "the process grows");
        assert_eq!(tolerated(&mut tolerance, 90, true), 115);
        assert_eq!(tolerated(&mut tolerance, 110, true), 0, "the process was below its limit");
    }
}
