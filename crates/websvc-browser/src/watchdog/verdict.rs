//! The decision which processes are killed, from the memory of all processes.

use std::collections::HashSet;

use super::limits::{MemoryLimitExceeded, MemoryLimits};
use crate::memory::{ProcessMemory, Role};

/// A process of one of several Chromiums.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    /// The index of its Chromium in the list.
    pub(super) browser: usize,
    pub(super) process: ProcessMemory,
    /// The recent processor time of the process of a page, measured if a process is near its limit.
    pub(super) ticks: u64,
    /// The memory that one of Chromium's own processes may have above the page limit, because a page was already stopped for
    /// it; otherwise 0. In bytes.
    pub(super) tolerated: u64,
}

impl Sample {
    pub(super) fn new(browser: usize, process: ProcessMemory) -> Self {
        Self { browser, process, ticks: 0, tolerated: 0 }
    }

    /// Returns whether this is one of Chromium's own processes, which run no pages.
    pub(super) fn is_browser_process(&self) -> bool {
        self.process.role != Role::Renderer
    }

    /// Returns whether this is one of Chromium's own processes and exceeds its limit.
    fn is_oversized_browser_process(&self, limits: MemoryLimits) -> bool {
        self.is_browser_process() && self.process.bytes > limits.page.max(self.tolerated)
    }
}

/// A kill that is due. `sample` is an index in the list of samples, `browser` one in the list of Chromiums.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The process of a page exceeds the page limit.
    Page { sample: usize, excess: MemoryLimitExceeded },
    /// A page must end because of other processes: the total limit is exceeded, or Chromium's own processes are too large. In
    /// the second case `replace` is that Chromium.
    PageForOthers { sample: usize, excess: MemoryLimitExceeded, replace: Option<usize> },
    /// A Chromium exceeds a limit and has no page whose end could help.
    Browser { browser: usize },
}

/// Returns the processes to kill: every page process above its limit, and one more process if that is not enough.
pub(super) fn judge(samples: &[Sample], limits: MemoryLimits) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    let mut killed = HashSet::new();
    let renderers = |killed: &HashSet<usize>| -> Vec<usize> {
        let is_renderer = |index: &usize| samples[*index].process.role == Role::Renderer;
        (0..samples.len()).filter(is_renderer).filter(|index| !killed.contains(index)).collect()
    };
    for index in renderers(&killed) {
        if samples[index].process.bytes > limits.page {
            let excess = MemoryLimitExceeded { limit_bytes: limits.page, is_shared: false };
            verdicts.push(Verdict::Page { sample: index, excess });
            killed.insert(index);
        }
    }
    let total = |killed: &HashSet<usize>| -> u64 {
        (0..samples.len())
            .filter(|index| !killed.contains(index))
            .map(|index| samples[index].process.bytes)
            .sum()
    };
    // Data that a page has in Chromium's own processes, such as blobs, is freed with the page. It is most likely the page
    // that used the most processor time.
    let oversized = samples.iter().find(|sample| sample.is_oversized_browser_process(limits));
    if let Some(Sample { browser, .. }) = oversized
        && verdicts.is_empty()
    {
        let of_browser = renderers(&killed).into_iter().filter(|index| samples[*index].browser == *browser);
        verdicts.push(match of_browser.max_by_key(|index| samples[*index].ticks) {
            Some(sample) => {
                let excess = MemoryLimitExceeded { limit_bytes: limits.page, is_shared: false };
                Verdict::PageForOthers { sample, excess, replace: Some(*browser) }
            }
            None => Verdict::Browser { browser: *browser },
        });
    } else if total(&killed) > limits.total {
        let largest = renderers(&killed).into_iter().max_by_key(|index| samples[*index].process.bytes);
        let largest_process = samples.iter().max_by_key(|sample| sample.process.bytes);
        verdicts.extend(match (largest, largest_process) {
            (Some(sample), _) => {
                let excess = MemoryLimitExceeded { limit_bytes: limits.total, is_shared: true };
                Some(Verdict::PageForOthers { sample, excess, replace: None })
            }
            (None, Some(process)) => Some(Verdict::Browser { browser: process.browser }),
            (None, None) => None,
        });
    }
    verdicts
}

#[cfg(test)]
mod tests {
    use rustix::process::Pid;

    use super::*;

    const LIMITS: MemoryLimits = MemoryLimits { page: 100, total: 300 };

    fn samples(processes: &[(usize, Role, u64, u64)]) -> Vec<Sample> {
        let sample = |(index, &(browser, role, bytes, ticks)): (usize, &(usize, Role, u64, u64))| {
            let pid = Pid::from_raw(i32::try_from(index).unwrap() + 1).unwrap();
            Sample { ticks, ..Sample::new(browser, ProcessMemory { pid, role, bytes }) }
        };
        processes.iter().enumerate().map(sample).collect()
    }

    #[test]
    fn judge_below_all_limits_kills_nothing() {
        let fine =
            samples(&[(0, Role::Browser, 100, 0), (0, Role::Renderer, 100, 0), (1, Role::Renderer, 100, 0)]);
        assert_eq!(judge(&fine, LIMITS), []);
        assert_eq!(judge(&[], LIMITS), []);
    }

    #[test]
    fn judge_kills_every_page_above_its_limit_and_nothing_else() {
        let large = samples(&[
            (0, Role::Browser, 50, 0),
            (0, Role::Renderer, 101, 0),
            (0, Role::Renderer, 99, 9),
            (0, Role::Renderer, 400, 0),
        ]);
        let excess = MemoryLimitExceeded { limit_bytes: 100, is_shared: false };
        let kill_page = |sample| Verdict::Page { sample, excess };
        assert_eq!(judge(&large, LIMITS), [kill_page(1), kill_page(3)]);
    }

    #[test]
    fn judge_kills_largest_page_above_total_limit() {
        let many = samples(&[
            (0, Role::Browser, 80, 0),
            (0, Role::Renderer, 70, 9),
            (1, Role::Renderer, 90, 0),
            (1, Role::Helper, 80, 0),
        ]);
        let excess = MemoryLimitExceeded { limit_bytes: 300, is_shared: true };
        assert_eq!(judge(&many, LIMITS), [Verdict::PageForOthers { sample: 2, excess, replace: None }]);
    }

    #[test]
    fn judge_kills_busiest_page_for_oversized_browser_process() {
        let blobs = samples(&[
            (0, Role::Browser, 150, 50),
            (0, Role::Renderer, 20, 30),
            (0, Role::Renderer, 60, 2),
            (1, Role::Renderer, 10, 90),
        ]);
        let excess = MemoryLimitExceeded { limit_bytes: 100, is_shared: false };
        assert_eq!(judge(&blobs, LIMITS), [Verdict::PageForOthers { sample: 1, excess, replace: Some(0) }]);
    }

    #[test]
    fn judge_kills_no_second_page_for_tolerated_memory() {
        let mut blobs = samples(&[(0, Role::Browser, 150, 0), (0, Role::Renderer, 60, 2)]);
        blobs[0].tolerated = 150;
        assert_eq!(judge(&blobs, LIMITS), []);
        blobs[0].process.bytes = 151;
        assert!(matches!(
            judge(&blobs, LIMITS)[..],
            [Verdict::PageForOthers { sample: 1, replace: Some(0), .. }]
        ));
        (blobs[0].process.bytes, blobs[0].tolerated) = (290, 290);
        let excess = MemoryLimitExceeded { limit_bytes: 300, is_shared: true };
        assert_eq!(judge(&blobs, LIMITS), [Verdict::PageForOthers { sample: 1, excess, replace: None }]);
    }

    #[test]
    fn judge_kills_oversized_browser_without_pages() {
        let leaking = samples(&[(0, Role::Renderer, 10, 0), (1, Role::Helper, 150, 0)]);
        assert_eq!(judge(&leaking, LIMITS), [Verdict::Browser { browser: 1 }]);
        let helpers: Vec<_> = (0..4).map(|_| (0, Role::Helper, 90, 0)).collect();
        assert_eq!(judge(&samples(&helpers), LIMITS), [Verdict::Browser { browser: 0 }]);
    }
}
