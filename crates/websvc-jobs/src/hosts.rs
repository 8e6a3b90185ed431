//! The pace of hosts, that of all jobs together.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use websvc_engine::crawl::Pace;

/// Hosts that were not asked for so long are forgotten.
const FORGOTTEN: Duration = Duration::from_secs(300);

/// When so many hosts are known, those that may be forgotten are.
const MANY: usize = 1_024;

/// The hosts that were asked a while ago.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    paces: HashMap<String, Known>,
}

/// A host that was asked.
#[derive(Debug)]
struct Known {
    pace: Pace,
    /// It asks for pauses, which are between one request and the next.
    is_slow: bool,
}

/// Whether a host may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readiness {
    Now,
    /// Not before.
    At(Instant),
    /// When a request that is under way is done.
    Busy,
}

impl Hosts {
    /// Tells whether a host may be asked, with at most `per_host` requests at one time.
    pub(crate) fn readiness(&self, host: &str, per_host: usize, now: Instant) -> Readiness {
        let Some(Known { pace, is_slow }) = self.paces.get(host) else { return Readiness::Now };
        let most = if *is_slow { 1 } else { per_host };
        if pace.running() >= most {
            return Readiness::Busy;
        }
        if pace.ready_at() <= now { Readiness::Now } else { Readiness::At(pace.ready_at()) }
    }

    /// Notes that a request begins.
    pub(crate) fn start(&mut self, host: &str, now: Instant) {
        if self.paces.len() >= MANY {
            self.paces
                .retain(|_, Known { pace, .. }| pace.running() > 0 || pace.ready_at() + FORGOTTEN > now);
        }
        let known = || Known { pace: Pace::new(now), is_slow: false };
        self.paces.entry(host.to_owned()).or_insert_with(known).pace.start();
    }

    /// Notes the end of a request: see [`Pace::finish`].
    pub(crate) fn finish(&mut self, host: &str, now: Instant, elapsed: Option<Duration>, asked: Duration) {
        if let Some(Known { pace, is_slow }) = self.paces.get_mut(host) {
            *is_slow |= !asked.is_zero();
            pace.finish(now, elapsed, asked);
        }
    }

    /// Notes that a host said it is overloaded.
    pub(crate) fn back_off(&mut self, host: &str, now: Instant) {
        if let Some(Known { pace, .. }) = self.paces.get_mut(host) {
            pace.back_off(now, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_one_pace_for_all() {
        let (mut hosts, now) = (Hosts::default(), Instant::now());
        assert_eq!(hosts.readiness("a", 2, now), Readiness::Now);
        hosts.start("a", now);
        assert_eq!(hosts.readiness("a", 2, now), Readiness::Now);
        hosts.start("a", now);
        assert_eq!(hosts.readiness("a", 2, now), Readiness::Busy);
        assert_eq!(hosts.readiness("b", 2, now), Readiness::Now);
        let took = Duration::from_millis(300);
        hosts.finish("a", now, Some(took), Duration::ZERO);
        assert_eq!(hosts.readiness("a", 2, now), Readiness::At(now + took));
        assert_eq!(hosts.readiness("a", 2, now + took), Readiness::Now);
    }

    #[test]
    fn those_who_rest_are_forgotten_when_there_are_many() {
        let (mut hosts, now) = (Hosts::default(), Instant::now());
        for number in 0..MANY {
            hosts.start(&number.to_string(), now);
            if number > 0 {
                hosts.finish(&number.to_string(), now, None, Duration::ZERO);
            }
        }
        hosts.start("late", now + FORGOTTEN + Duration::from_secs(1));
        assert_eq!(hosts.paces.len(), 2, "the one that is asked, and the one before");
    }
}
