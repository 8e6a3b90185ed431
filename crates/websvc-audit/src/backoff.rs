//! How long a sink that failed is left alone.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(60);
/// However long a sink wants to be left alone, it is tried again after this.
const LONGEST_ASKED_FOR: Duration = Duration::from_secs(600);

/// Pauses that double with every failure in a row, each between half of its length and the whole: sinks of many
/// services that failed together do not come back together.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    failures: u32,
}

impl Backoff {
    pub(crate) fn succeeded(&mut self) {
        self.failures = 0;
    }

    /// Returns the pause after one more failure.
    pub(crate) fn failed(&mut self, asked_for: Option<Duration>) -> Duration {
        let pause = FIRST.saturating_mul(1 << self.failures.min(10)).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        let pause = pause / 2 + (pause / 2).mul_f64(fraction());
        asked_for.map_or(pause, |asked_for| pause.max(asked_for.min(LONGEST_ASKED_FOR)))
    }
}

/// Returns a number from 0 to 1; without randomness the whole pause is made.
fn fraction() -> f64 {
    let mut random = [0; 4];
    match getrandom::fill(&mut random) {
        Ok(()) => f64::from(u32::from_le_bytes(random)) / f64::from(u32::MAX),
        Err(_) => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_minute_and_begin_anew_after_a_success() {
        let mut backoff = Backoff::default();
        let mut longest = FIRST;
        for _ in 0..20 {
            let pause = backoff.failed(None);
            assert!(pause >= longest / 2 && pause <= longest, "{pause:?} of {longest:?}");
            longest = (longest * 2).min(LONGEST);
        }
        assert_eq!(longest, LONGEST);
        backoff.succeeded();
        assert!(backoff.failed(None) <= FIRST);
    }

    #[test]
    fn who_says_when_to_come_back_is_left_alone_until_then_within_reason() {
        let asked_for = |seconds| Backoff::default().failed(Some(Duration::from_secs(seconds)));
        assert_eq!(asked_for(30), Duration::from_secs(30));
        assert_eq!(asked_for(86_400), LONGEST_ASKED_FOR);
        assert!(asked_for(0) <= FIRST);
    }
}
