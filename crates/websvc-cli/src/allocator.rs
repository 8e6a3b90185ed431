//! Settings of glibc's allocator, and the return of freed memory to the system.
//!
//! glibc keeps what the program frees for its next requests, in up to eight arenas for each processor. After a load
//! three quarters of the heap were such free memory. Few arenas, large requests outside of them, and a trim in quiet moments
//! return it, at no cost in time that could be measured (docs/benchmarks.md, "Memory after a load").
//!
//! Allocators of other systems (musl, macOS) return memory on their own, so there the functions do nothing.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) use glibc::{configure, trim_when_quiet};

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn configure() {}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) async fn trim_when_quiet() {}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    use std::env;
    use std::time::Duration;

    use rustix::time::{ClockId, clock_gettime};
    use tokio::time::{MissedTickBehavior, interval};

    /// The number of arenas at most. One would make threads wait for each other; with four, searches and scrapes
    /// cost the same processor time as with glibc's own limit.
    const ARENAS: i32 = 4;

    /// Requests of this many bytes or more get memory of their own, which goes back to the system when it is freed. glibc's
    /// own threshold grows to the largest piece that was freed, up to 32 MiB, and from then on bodies of pages, screenshots
    /// and messages of the browser lie between small pieces that live longer.
    /// With a quarter of this, answers with ten pages took a third longer.
    const OWN_MAPPING_BYTES: libc::c_int = 1024 * 1024;

    /// The variables by which an operator chooses allocator settings; they take precedence.
    const OPERATOR_SETTINGS: [&str; 3] = ["MALLOC_ARENA_MAX", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES"];

    /// The time between two looks at the processor time used.
    const TICK: Duration = Duration::from_secs(2);

    /// Limits the number of arenas and what they hold; call it before the first thread starts.
    #[expect(unsafe_code, reason = "glibc has no safe interface for its settings")]
    pub(crate) fn configure() {
        if OPERATOR_SETTINGS.iter().any(|name| env::var_os(name).is_some()) {
            return;
        }
        // SAFETY: mallopt takes two numbers and is called while the program has one thread.
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, ARENAS);
            libc::mallopt(libc::M_MMAP_THRESHOLD, OWN_MAPPING_BYTES);
        }
    }

    /// Returns freed memory to the system for as long as the program runs, whenever [`TrimSchedule`] says so.
    pub(crate) async fn trim_when_quiet() {
        let mut schedule = TrimSchedule::new(processor_time());
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if schedule.is_due(processor_time()) && tokio::task::spawn_blocking(trim).await.is_err() {
                return;
            }
        }
    }

    /// Returns freed memory to the system.
    #[expect(unsafe_code, reason = "glibc has no safe interface for its settings")]
    pub(super) fn trim() {
        // SAFETY: malloc_trim locks each arena itself and moves nothing that is in use.
        let returned = unsafe { libc::malloc_trim(0) } == 1;
        tracing::debug!(returned, "freed memory is returned to the system");
    }

    /// The processor time that the program has used since its start.
    fn processor_time() -> Duration {
        Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
    }

    /// Decides when freed memory is returned: in quiet moments after work, and now and then during lasting work.
    #[derive(Debug)]
    pub(super) struct TrimSchedule {
        /// Processor time at the last tick.
        last: Duration,
        /// Processor time at the last trim.
        trimmed: Duration,
        /// Ticks since the last trim.
        ticks: u32,
    }

    impl TrimSchedule {
        /// Less processor time between two trims frees too little to look for.
        const WORK: Duration = Duration::from_millis(500);
        /// A tick with less processor time than this is quiet: a tenth of a processor.
        const QUIET: Duration = Duration::from_millis(200);
        /// During lasting work memory is returned every 30 s.
        const TICKS_AT_MOST: u32 = 15;

        pub(super) fn new(now: Duration) -> Self {
            Self { last: now, trimmed: now, ticks: 0 }
        }

        /// Returns `true` if freed memory should be returned now, given the processor time used so far.
        pub(super) fn is_due(&mut self, now: Duration) -> bool {
            let is_quiet = now.saturating_sub(self.last) < Self::QUIET;
            self.last = now;
            self.ticks += 1;
            let has_worked = now.saturating_sub(self.trimmed) >= Self::WORK;
            let is_due = has_worked && (is_quiet || self.ticks >= Self::TICKS_AT_MOST);
            if is_due {
                self.trimmed = now;
                self.ticks = 0;
            }
            is_due
        }
    }
}

#[cfg(test)]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod tests {
    use std::time::Duration;

    use super::glibc::{TrimSchedule, trim};

    /// Returns the anonymous memory of this process in bytes.
    fn anonymous() -> usize {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
    }

    #[test]
    fn memory_is_returned_in_the_first_quiet_moment_after_work() {
        let mut schedule = TrimSchedule::new(Duration::ZERO);
        assert!(!schedule.is_due(Duration::from_secs(1)), "work goes on");
        assert!(!schedule.is_due(Duration::from_secs(2)), "work goes on");
        assert!(schedule.is_due(Duration::from_millis(2_010)));
        assert!(!schedule.is_due(Duration::from_millis(2_020)), "nothing has been freed since");
        assert!(!schedule.is_due(Duration::from_millis(2_030)), "nothing has been freed since");
    }

    #[test]
    fn memory_is_returned_now_and_then_while_work_goes_on() {
        let mut schedule = TrimSchedule::new(Duration::ZERO);
        let trims = (1..=60).filter(|&second| schedule.is_due(Duration::from_secs(second))).count();
        assert_eq!(trims, 4);
    }

    #[test]
    fn small_pieces_between_others_are_returned() {
        // Every hundredth piece stays, so that nothing is free at the end of the heap.
        let mut pieces: Vec<Vec<u8>> =
            (0..32_768).map(|number| vec![1 + (number % 7) as u8; 4_096]).collect();
        let full = anonymous();
        let mut number = 0;
        pieces.retain(|_| {
            number += 1;
            number % 100 == 0
        });
        trim();
        let left = anonymous();
        assert!(left + 64_000_000 < full, "{full} bytes before, {left} after {} stay", pieces.len());
    }
}
