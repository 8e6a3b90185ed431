//! Whether there is more to compute than can be done: it reads no clock, and is told how long requests waited for a
//! processor.
//!
//! A long wait is no overload by itself: a burst makes one, a machine that stood still does, and so does one heavy
//! request in front of another. What tells overload is a queue that stands: for a whole interval nobody comes to a
//! processor without having waited, and many still wait behind (as in `CoDel`, RFC 8289, which looks at the least wait
//! of an interval). Then whoever comes is turned away as soon as a few wait, counted by processors and not by time, so
//! that those who are let in wait for as long as a few requests take, whatever one takes.
//!
//! A short queue turns requests away by chance at loads that are none too high, above all when they come in bursts. So
//! the few become more as long as processors are idle, and it is left again when they would be many, or when hardly
//! anybody was turned away for a while: of an excess of a fifth, a sixth is turned away, always.

use std::time::{Duration, Instant};

/// So many requests that wait for each processor are many.
const MANY_EACH: usize = 32;
/// So many may wait for each while the overload lasts, at least: enough that a processor hardly ever has nothing to do
/// when requests come one by one.
const FEW_EACH: usize = 2;
/// How often it is looked whether more should wait, or fewer.
const STEP: Duration = Duration::from_millis(100);
/// More should when processors are idle for more than one part in so many.
const IDLE_PART: u32 = 6;
/// How long is looked at before the overload is over.
const WINDOW: Duration = Duration::from_secs(1);
/// It is when not even one of so many was turned away.
const HARDLY_ANY: u32 = 10;

/// What is told of the requests that want to compute.
#[derive(Debug)]
pub(super) struct Overload {
    processors: usize,
    /// The wait that is long; `None` when nobody is to be turned away for it.
    long: Option<Duration>,
    interval: Duration,
    /// When the waits that were all long began.
    long_since: Option<Instant>,
    /// What came since when, while there is overload.
    window: Option<Window>,
    /// So many may wait for each processor then.
    few_each: usize,
    /// When that was looked at last, and how long processors were idle since.
    step_begun: Instant,
    idle: Duration,
    /// The processors that are taken, and since when.
    taken: usize,
    taken_since: Instant,
}

#[derive(Debug, Clone, Copy)]
struct Window {
    begun: Instant,
    asked: u32,
    turned_away: u32,
}

impl Window {
    fn at(begun: Instant) -> Self {
        Self { begun, asked: 0, turned_away: 0 }
    }

    /// Tells whether it has shown that the overload is over.
    fn is_calm(self, now: Instant) -> bool {
        let elapsed = now.saturating_duration_since(self.begun);
        let hardly_any = self.turned_away.saturating_mul(HARDLY_ANY) < self.asked.max(1);
        elapsed >= WINDOW && (hardly_any || elapsed >= 2 * WINDOW)
    }
}

impl Overload {
    /// Begins without overload. A wait of `long` is long, zero being none at all; when all are for `interval`, there is
    /// overload.
    pub(super) fn new(processors: usize, long: Duration, interval: Duration, now: Instant) -> Self {
        Self {
            processors,
            long: (!long.is_zero()).then_some(long),
            interval,
            long_since: None,
            window: None,
            few_each: FEW_EACH,
            step_begun: now,
            idle: Duration::ZERO,
            taken: 0,
            taken_since: now,
        }
    }

    pub(super) fn is_on(&self, now: Instant) -> bool {
        self.window.is_some_and(|window| !window.is_calm(now))
    }

    /// Takes note of how long a request waited for its processor, and how many wait behind it.
    pub(super) fn waited(&mut self, waited: Duration, behind: usize, now: Instant) {
        let is_long = self.long.is_some_and(|long| waited >= long);
        if !is_long || behind < MANY_EACH * self.processors {
            self.long_since = None;
            return;
        }
        let since = *self.long_since.get_or_insert(now);
        if now.saturating_duration_since(since) >= self.interval && self.window.is_none() {
            self.window = Some(Window::at(now));
            self.few_each = FEW_EACH;
            (self.step_begun, self.idle) = (now, Duration::ZERO);
        }
    }

    /// Takes note of how many processors are taken from now on.
    pub(super) fn taken(&mut self, taken: usize, now: Instant) {
        let free = u32::try_from(self.processors.saturating_sub(self.taken)).unwrap_or(u32::MAX);
        let elapsed = now.saturating_duration_since(self.taken_since);
        self.idle = self.idle.saturating_add(elapsed.saturating_mul(free));
        (self.taken, self.taken_since) = (taken, now);
    }

    /// Lets more wait when processors were idle, fewer when they were not; false when that are so many that there is no
    /// overload.
    fn step(&mut self, now: Instant) -> bool {
        let elapsed = now.saturating_duration_since(self.step_begun);
        if elapsed < STEP {
            return true;
        }
        self.taken(self.taken, now);
        let all = elapsed.saturating_mul(u32::try_from(self.processors).unwrap_or(u32::MAX));
        let is_idle = self.idle.saturating_mul(IDLE_PART) > all;
        self.few_each = if is_idle { self.few_each * 2 } else { (self.few_each / 2).max(FEW_EACH) };
        (self.step_begun, self.idle) = (now, Duration::ZERO);
        self.few_each < MANY_EACH
    }

    /// Tells whether a request that comes while so many wait is one too many.
    pub(super) fn is_too_much(&mut self, waiting: usize, now: Instant) -> bool {
        let Some(mut window) = self.window else { return false };
        if !self.step(now) || window.is_calm(now) {
            (self.window, self.long_since) = (None, None);
            return false;
        }
        if now.saturating_duration_since(window.begun) >= WINDOW {
            window = Window::at(now);
        }
        let is_too_much = waiting >= self.few_each * self.processors;
        window.asked = window.asked.saturating_add(1);
        window.turned_away = window.turned_away.saturating_add(u32::from(is_too_much));
        self.window = Some(window);
        is_too_much
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_millis(25);
    const INTERVAL: Duration = Duration::from_millis(100);
    const MS: Duration = Duration::from_millis(1);

    fn of(processors: usize) -> Overload {
        let mut overload = Overload::new(processors, LONG, INTERVAL, Instant::now());
        overload.taken(processors, Instant::now());
        overload
    }

    /// Tells of the same wait every millisecond for so long.
    fn hold(overload: &mut Overload, waited: Duration, behind: usize, begin: Instant, ms: u32) -> Instant {
        (0..=ms).for_each(|at| overload.waited(waited, behind, begin + MS * at));
        begin + MS * ms
    }

    #[test]
    fn a_queue_that_stands_for_an_interval_is_overload() {
        let (mut overload, begin) = (of(2), Instant::now());
        let almost = hold(&mut overload, LONG, 64, begin, 99);
        assert!(!overload.is_on(almost) && !overload.is_too_much(1_000, almost));
        overload.waited(LONG, 64, begin + INTERVAL);
        assert!(overload.is_on(begin + INTERVAL));
        assert!(overload.is_too_much(4, begin + INTERVAL) && !overload.is_too_much(3, begin + INTERVAL));
    }

    #[test]
    fn one_short_wait_in_between_and_it_was_a_burst() {
        let (mut overload, mut now) = (of(2), Instant::now());
        for _burst in 0..50 {
            now = hold(&mut overload, Duration::from_secs(1), 500, now, 90);
            overload.waited(LONG - MS, 500, now);
        }
        assert!(!overload.is_on(now));
    }

    #[test]
    fn heavy_requests_in_front_of_a_few_others_are_no_overload() {
        let (mut overload, begin) = (of(2), Instant::now());
        let end = hold(&mut overload, Duration::from_secs(30), 63, begin, 60_000);
        assert!(!overload.is_on(end));
    }

    #[test]
    fn a_machine_that_stood_still_is_no_overload() {
        let (mut overload, begin) = (of(1), Instant::now());
        overload.waited(MS, 0, begin);
        // All that waited meanwhile come to their turns at once, an hour late.
        let awake = begin + Duration::from_secs(3_600);
        let end = hold(&mut overload, Duration::from_secs(3_600), 200, awake, 50);
        overload.waited(MS, 0, end);
        let end = hold(&mut overload, LONG, 200, end, 60);
        assert!(!overload.is_on(end));
    }

    #[test]
    fn it_is_over_when_hardly_anybody_is_turned_away() {
        let (mut overload, begin) = (of(1), Instant::now());
        let mut now = hold(&mut overload, LONG, 64, begin, 100);
        // One of six is turned away: it lasts.
        for request in 0..30_000_u32 {
            now += MS;
            overload.is_too_much(if request % 6 == 0 { 2 } else { 0 }, now);
        }
        assert!(overload.is_on(now));
        // One of twenty: it is over within two windows.
        for request in 0..2_001_u32 {
            now += MS;
            overload.is_too_much(if request % 20 == 0 { 2 } else { 0 }, now);
        }
        assert!(!overload.is_on(now));
        assert!(!overload.is_too_much(1_000, now), "a burst may wait again");
    }

    #[test]
    fn more_may_wait_as_long_as_processors_are_idle() {
        let (mut overload, begin) = (of(1), Instant::now());
        let mut now = hold(&mut overload, LONG, 64, begin, 100);
        // Bursts of forty every twenty milliseconds, of which the few that are let in take one: nearly nobody computes.
        for burst in 0..100_u32 {
            now += MS * 19;
            overload.taken(1, now);
            let away = (0..40).filter(|waiting| overload.is_too_much(*waiting, now)).count();
            now += MS;
            overload.taken(0, now);
            assert!(away == 38 || burst > 4, "{burst}: at first");
            assert!(away == 0 || burst < 50, "{burst}: after a while");
        }
        assert!(!overload.is_on(now), "it is none");
    }

    #[test]
    fn it_is_over_when_nobody_came_for_a_while() {
        let (mut overload, begin) = (of(1), Instant::now());
        let now = hold(&mut overload, LONG, 64, begin, 100);
        (0..50).for_each(|_| assert!(overload.is_too_much(2, now)));
        assert!(overload.is_on(now) && !overload.is_on(now + 2 * WINDOW));
        assert!(!overload.is_too_much(2, now + 2 * WINDOW));
    }

    #[test]
    fn nobody_is_turned_away_when_no_wait_is_long() {
        let mut overload = Overload::new(1, Duration::ZERO, INTERVAL, Instant::now());
        let end = hold(&mut overload, Duration::from_secs(9), 9_999, Instant::now(), 5_000);
        assert!(!overload.is_on(end));
    }
}
