//! Settings of glibc's allocator, and periodic trimming of freed memory.
//!
//! glibc keeps freed memory for later allocations, in up to eight arenas per processor. After a load, three quarters of
//! the heap were such free memory. Fewer arenas, separate mappings for large allocations, and trimming while the
//! program is idle return it to the system, at no measurable cost in time (docs/benchmarks.md, "Memory after a load").
//!
//! The allocators of other systems (musl, macOS) return memory themselves, so the functions do nothing there.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) use glibc::{configure, trim_when_idle};

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn configure() {}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) async fn trim_when_idle() {}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    use std::env;
    use std::time::Duration;

    use rustix::time::{ClockId, clock_gettime};
    use tokio::time::{MissedTickBehavior, interval};

    /// Maximum number of arenas. With one, threads would wait for each other. With four, searches and scrapes
    /// cost the same processor time as with glibc's default.
    const MAX_ARENAS: i32 = 4;

    /// Allocations of this size or more get a mapping of their own, which returns to the system when it is freed.
    ///
    /// glibc's dynamic threshold grows to the largest freed allocation, up to 32 MiB. After that, page bodies,
    /// screenshots and browser messages lie between small allocations that live longer.
    /// With a quarter of this value, responses with ten pages took a third longer.
    const MMAP_THRESHOLD_BYTES: libc::c_int = 1024 * 1024;

    /// Variables with which an operator sets up the allocator. They take precedence.
    const OPERATOR_SETTINGS: [&str; 3] = ["MALLOC_ARENA_MAX", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES"];

    /// Time between two measurements of the processor time.
    const TICK: Duration = Duration::from_secs(2);

    /// Limits the number of arenas and their content. Must be called before the first thread starts.
    #[expect(unsafe_code, reason = "glibc has no safe interface for its settings")]
    pub(crate) fn configure() {
        if OPERATOR_SETTINGS.iter().any(|name| env::var_os(name).is_some()) {
            return;
        }
        // SAFETY: mallopt takes two numbers and is called while the program has one thread.
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, MAX_ARENAS);
            libc::mallopt(libc::M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES);
        }
    }

    /// Returns freed memory to the system according to [`TrimSchedule`], as long as the program runs.
    pub(crate) async fn trim_when_idle() {
        let mut schedule = TrimSchedule::new(processor_time());
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if schedule.is_due(processor_time()) && websvc_transport::spawn_blocking(trim).await.is_err() {
                return;
            }
        }
    }

    /// Returns freed memory to the system.
    #[expect(unsafe_code, reason = "glibc has no safe interface for its settings")]
    pub(super) fn trim() {
        // SAFETY: malloc_trim locks each arena itself and moves nothing that is in use.
        let returned = unsafe { libc::malloc_trim(0) } == 1;
        tracing::debug!(returned, "returned freed memory to the system");
    }

    /// Returns the processor time that the process has used.
    fn processor_time() -> Duration {
        Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
    }

    /// Decides when freed memory is returned: when the program becomes idle, and periodically under load.
    #[derive(Debug)]
    pub(super) struct TrimSchedule {
        /// Processor time at the last tick.
        last: Duration,
        /// Processor time at the last trim.
        last_trim: Duration,
        /// Ticks since the last trim.
        ticks: u32,
    }

    impl TrimSchedule {
        /// Minimum processor time between two trims. Less work frees too little memory.
        const MIN_WORK: Duration = Duration::from_millis(500);
        /// Processor time per tick below which the program is idle: a tenth of a processor.
        const IDLE: Duration = Duration::from_millis(200);
        /// Maximum number of ticks between two trims under load: 30 s.
        const MAX_TICKS: u32 = 15;

        pub(super) fn new(now: Duration) -> Self {
            Self { last: now, last_trim: now, ticks: 0 }
        }

        /// Returns `true` if freed memory should be returned now, given the processor time used so far.
        pub(super) fn is_due(&mut self, now: Duration) -> bool {
            let is_idle = now.saturating_sub(self.last) < Self::IDLE;
            self.last = now;
            self.ticks += 1;
            let has_worked = now.saturating_sub(self.last_trim) >= Self::MIN_WORK;
            let is_due = has_worked && (is_idle || self.ticks >= Self::MAX_TICKS);
            if is_due {
                self.last_trim = now;
                self.ticks = 0;
            }
            is_due
        }
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::glibc::{TrimSchedule, trim};

    /// Returns the resident anonymous memory of this process in bytes.
    fn anonymous_bytes() -> usize {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
    }

    #[test]
    fn trim_is_due_on_the_first_idle_tick_after_work() {
        let mut schedule = TrimSchedule::new(Duration::ZERO);
        assert!(!schedule.is_due(Duration::from_secs(1)), "the program is busy");
        assert!(!schedule.is_due(Duration::from_secs(2)), "the program is busy");
        assert!(schedule.is_due(Duration::from_millis(2_010)));
        assert!(!schedule.is_due(Duration::from_millis(2_020)), "no work since the last trim");
        assert!(!schedule.is_due(Duration::from_millis(2_030)), "no work since the last trim");
    }

    #[test]
    fn trim_is_due_periodically_under_load() {
        let mut schedule = TrimSchedule::new(Duration::ZERO);
        let trims = (1..=60).filter(|&second| schedule.is_due(Duration::from_secs(second))).count();
        assert_eq!(trims, 4);
    }

    #[test]
    fn trim_returns_small_free_blocks_between_used_ones() {
        // Every hundredth block stays allocated, so that the end of the heap is in use.
        let mut blocks: Vec<Vec<u8>> =
            (0..32_768).map(|number| vec![1 + (number % 7) as u8; 4_096]).collect();
        let full = anonymous_bytes();
        let mut number = 0;
        blocks.retain(|_| {
            number += 1;
            number % 100 == 0
        });
        trim();
        let remaining = anonymous_bytes();
        assert!(
            remaining + 64_000_000 < full,
            "{full} bytes before and {remaining} after the trim, with {} blocks in use",
            blocks.len()
        );
    }
}
