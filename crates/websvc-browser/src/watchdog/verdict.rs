//! The decision which process is ended, from what they all have.

use std::collections::HashSet;

use super::limits::{Bounds, Excess};
use crate::memory::{Member, Role};

/// A process of one of several Chromiums.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    /// The place of its Chromium in the list.
    pub(super) browser: usize,
    pub(super) member: Member,
    /// Processor time of a page's process in the last moments, when something is near its bound.
    pub(super) ticks: u64,
    /// Bytes that one of Chromium's own processes may have, even if they are more than the bound of a page, because a
    /// page has been ended for them; otherwise 0.
    pub(super) tolerated: u64,
}

impl Sample {
    pub(super) fn new(browser: usize, member: Member) -> Self {
        Self { browser, member, ticks: 0, tolerated: 0 }
    }

    /// Returns whether this is one of Chromium's own processes, which run no page.
    pub(super) fn is_own(&self) -> bool {
        self.member.role != Role::Renderer
    }

    /// Returns whether this is one of Chromium's own processes and too large.
    pub(super) fn is_swollen(&self, bounds: Bounds) -> bool {
        self.is_own() && self.member.bytes > bounds.page.max(self.tolerated)
    }
}

/// An end that is due. Processes are named by their place in the list of samples.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// A page's process is too large.
    Own { sample: usize, excess: Excess },
    /// A page has to go for the memory of all; `spoiled` is a Chromium whose own processes are too large.
    Shared { sample: usize, excess: Excess, spoiled: Option<usize> },
    /// A Chromium has to go: there is no page whose end could help.
    Whole { browser: usize },
}

/// Decides who has to go: each process of pages above its bound; and, when that is not enough, one more.
pub(super) fn judge(samples: &[Sample], bounds: Bounds) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    let mut gone = HashSet::new();
    let renderers = |gone: &HashSet<usize>| -> Vec<usize> {
        let is_renderer = |place: &usize| samples[*place].member.role == Role::Renderer;
        (0..samples.len()).filter(is_renderer).filter(|place| !gone.contains(place)).collect()
    };
    for place in renderers(&gone) {
        if samples[place].member.bytes > bounds.page {
            let excess = Excess { limit_bytes: bounds.page, is_shared: false };
            verdicts.push(Verdict::Own { sample: place, excess });
            gone.insert(place);
        }
    }
    let total = |gone: &HashSet<usize>| -> u64 {
        (0..samples.len())
            .filter(|place| !gone.contains(place))
            .map(|place| samples[place].member.bytes)
            .sum()
    };
    // What a page keeps in Chromium's own processes, such as blobs, goes with the page that makes it: most likely the
    // one that works most.
    let swollen = samples.iter().find(|sample| sample.is_swollen(bounds));
    if let Some(Sample { browser, .. }) = swollen
        && verdicts.is_empty()
    {
        let own = renderers(&gone).into_iter().filter(|place| samples[*place].browser == *browser);
        verdicts.push(match own.max_by_key(|place| samples[*place].ticks) {
            Some(sample) => {
                let excess = Excess { limit_bytes: bounds.page, is_shared: false };
                Verdict::Shared { sample, excess, spoiled: Some(*browser) }
            }
            None => Verdict::Whole { browser: *browser },
        });
    } else if total(&gone) > bounds.total {
        let largest = renderers(&gone).into_iter().max_by_key(|place| samples[*place].member.bytes);
        let any = samples.iter().max_by_key(|sample| sample.member.bytes);
        verdicts.extend(match (largest, any) {
            (Some(sample), _) => {
                let excess = Excess { limit_bytes: bounds.total, is_shared: true };
                Some(Verdict::Shared { sample, excess, spoiled: None })
            }
            (None, Some(any)) => Some(Verdict::Whole { browser: any.browser }),
            (None, None) => None,
        });
    }
    verdicts
}

#[cfg(test)]
mod tests {
    use rustix::process::Pid;

    use super::*;

    const BOUNDS: Bounds = Bounds { page: 100, total: 300 };

    fn samples(processes: &[(usize, Role, u64, u64)]) -> Vec<Sample> {
        let sample = |(place, &(browser, role, bytes, ticks)): (usize, &(usize, Role, u64, u64))| {
            let process = Pid::from_raw(i32::try_from(place).unwrap() + 1).unwrap();
            Sample { ticks, ..Sample::new(browser, Member { process, role, bytes }) }
        };
        processes.iter().enumerate().map(sample).collect()
    }

    #[test]
    fn all_within_their_bounds_go_on() {
        let fine =
            samples(&[(0, Role::Browser, 100, 0), (0, Role::Renderer, 100, 0), (1, Role::Renderer, 100, 0)]);
        assert_eq!(judge(&fine, BOUNDS), []);
        assert_eq!(judge(&[], BOUNDS), []);
    }

    #[test]
    fn every_page_above_its_bound_goes_and_nothing_else() {
        let large = samples(&[
            (0, Role::Browser, 50, 0),
            (0, Role::Renderer, 101, 0),
            (0, Role::Renderer, 99, 9),
            (0, Role::Renderer, 400, 0),
        ]);
        let excess = Excess { limit_bytes: 100, is_shared: false };
        let own = |sample| Verdict::Own { sample, excess };
        assert_eq!(judge(&large, BOUNDS), [own(1), own(3)]);
    }

    #[test]
    fn largest_page_goes_when_all_together_are_too_large() {
        let many = samples(&[
            (0, Role::Browser, 80, 0),
            (0, Role::Renderer, 70, 9),
            (1, Role::Renderer, 90, 0),
            (1, Role::Helper, 80, 0),
        ]);
        let excess = Excess { limit_bytes: 300, is_shared: true };
        assert_eq!(judge(&many, BOUNDS), [Verdict::Shared { sample: 2, excess, spoiled: None }]);
    }

    #[test]
    fn page_that_works_most_goes_for_what_it_keeps_in_the_browser_process() {
        let blobs = samples(&[
            (0, Role::Browser, 150, 50),
            (0, Role::Renderer, 20, 30),
            (0, Role::Renderer, 60, 2),
            (1, Role::Renderer, 10, 90),
        ]);
        let excess = Excess { limit_bytes: 100, is_shared: false };
        assert_eq!(judge(&blobs, BOUNDS), [Verdict::Shared { sample: 1, excess, spoiled: Some(0) }]);
    }

    #[test]
    fn no_second_page_goes_for_what_is_tolerated() {
        let mut blobs = samples(&[(0, Role::Browser, 150, 0), (0, Role::Renderer, 60, 2)]);
        blobs[0].tolerated = 150;
        assert_eq!(judge(&blobs, BOUNDS), []);
        blobs[0].member.bytes = 151;
        assert!(matches!(judge(&blobs, BOUNDS)[..], [Verdict::Shared { sample: 1, spoiled: Some(0), .. }]));
        (blobs[0].member.bytes, blobs[0].tolerated) = (290, 290);
        let excess = Excess { limit_bytes: 300, is_shared: true };
        assert_eq!(judge(&blobs, BOUNDS), [Verdict::Shared { sample: 1, excess, spoiled: None }]);
    }

    #[test]
    fn browser_without_pages_goes_as_a_whole() {
        let leaking = samples(&[(0, Role::Renderer, 10, 0), (1, Role::Helper, 150, 0)]);
        assert_eq!(judge(&leaking, BOUNDS), [Verdict::Whole { browser: 1 }]);
        let helpers: Vec<_> = (0..4).map(|_| (0, Role::Helper, 90, 0)).collect();
        assert_eq!(judge(&samples(&helpers), BOUNDS), [Verdict::Whole { browser: 0 }]);
    }
}
