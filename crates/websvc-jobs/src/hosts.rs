//! The pace of hosts, that of all jobs together.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use url::Url;
use websvc_engine::crawl::{HostPace, host_key};

use crate::config::HostPause;
use crate::page::{HostSignal, NoResponse};

/// Hosts that were not asked for so long are forgotten.
const FORGOTTEN: Duration = Duration::from_secs(300);

/// When so many hosts are known, those that may be forgotten are.
const MANY: usize = 1_024;

/// A host that did not answer so often in a row is given up for a while.
const SILENCES: u32 = 10;

/// For so long.
const GIVEN_UP_FOR: Duration = Duration::from_secs(300);

/// Error of the pages of a host that is given up.
pub(crate) const GIVEN_UP: &str = "the host did not answer ten times in a row, and is not asked for a while";

/// Returns the name under which the host of a URL has its pace: with `www.` and without it is one, since addresses of the
/// one lead to the other.
pub(crate) fn pace_key(url: &Url) -> String {
    let host = host_key(url);
    host.strip_prefix("www.").map_or_else(|| host.clone(), str::to_owned)
}

/// The hosts that were asked a while ago.
#[derive(Debug, Default)]
pub(crate) struct HostTable {
    paces: HashMap<String, HostEntry>,
}

/// A host that was asked.
#[derive(Debug)]
struct HostEntry {
    pace: HostPace,
    /// It asks for pauses, which are between one request and the next.
    is_slow: bool,
    has_answered: bool,
    /// How often it did not answer since it last did.
    silences: u32,
    /// Until then nothing is expected of it.
    given_up_until: Option<Instant>,
}

/// Reachability of a host at the start of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostReachability {
    /// It has not answered yet.
    New,
    /// It has.
    Answers,
    /// It did not answer for so long that it is not asked.
    Unreachable,
}

/// Outcome of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestOutcome {
    /// How long it took of the network; `None` when the host was not asked.
    pub(crate) elapsed: Option<Duration>,
    /// The pauses that the host asks for.
    pub(crate) asked: Duration,
    pub(crate) said: HostSignal,
}

/// Readiness of a host for another request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostReadiness {
    Now,
    /// Not before.
    At(Instant),
    /// When a request that is under way is done.
    Busy,
}

impl HostTable {
    /// Tells whether a host may be asked, with at most `per_host` requests at one time.
    pub(crate) fn readiness(&self, host: &str, per_host: usize, now: Instant) -> HostReadiness {
        let Some(known) = self.paces.get(host) else { return HostReadiness::Now };
        let HostEntry { pace, is_slow, has_answered: _, silences: _, given_up_until } = known;
        if given_up_until.is_some_and(|until| until > now) {
            // It is not asked: its pages have nothing to wait for.
            return HostReadiness::Now;
        }
        let most = if *is_slow { 1 } else { per_host };
        if pace.running() >= most {
            return HostReadiness::Busy;
        }
        if pace.ready_at() <= now { HostReadiness::Now } else { HostReadiness::At(pace.ready_at()) }
    }

    /// Tells what is known of a host.
    pub(crate) fn standing(&self, host: &str, now: Instant) -> HostReachability {
        match self.paces.get(host) {
            Some(known) if known.given_up_until.is_some_and(|until| until > now) => {
                HostReachability::Unreachable
            }
            Some(known) if known.has_answered => HostReachability::Answers,
            Some(_) | None => HostReachability::New,
        }
    }

    /// Notes that a request begins.
    pub(crate) fn start(&mut self, host: &str, now: Instant) {
        if self.paces.len() >= MANY {
            self.paces
                .retain(|_, HostEntry { pace, .. }| pace.running() > 0 || pace.ready_at() + FORGOTTEN > now);
        }
        let known = || HostEntry {
            pace: HostPace::new(now),
            is_slow: false,
            has_answered: false,
            silences: 0,
            given_up_until: None,
        };
        self.paces.entry(host.to_owned()).or_insert_with(known).pace.start();
    }

    /// Notes the end of a request: see [`HostPace::finish`].
    pub(crate) fn finish(&mut self, host: &str, now: Instant, pause: HostPause, ended: RequestOutcome) {
        let Some(known) = self.paces.get_mut(host) else { return };
        let RequestOutcome { elapsed, asked, said } = ended;
        known.is_slow |= !asked.is_zero();
        let elapsed = elapsed.map(|elapsed| match pause {
            HostPause::Answer => elapsed,
            HostPause::Asked => Duration::ZERO,
        });
        known.pace.finish(now, elapsed, asked);
        match said {
            HostSignal::NotContacted => {}
            HostSignal::Healthy => {
                known.pace.record_success();
                (known.has_answered, known.silences, known.given_up_until) = (true, 0, None);
            }
            HostSignal::Overloaded(retry_after) => {
                known.pace.back_off(now, retry_after);
                known.silences = 0;
            }
            HostSignal::Silence(silence) => known.record_no_answer(silence, now),
        }
    }
}

impl HostEntry {
    /// Notes that there was no answer.
    fn record_no_answer(&mut self, silence: NoResponse, now: Instant) {
        self.silences += 1;
        let is_tried_again = match silence {
            NoResponse::Unreachable => self.has_answered,
            NoResponse::RobotsUnavailable => true,
            NoResponse::TimedOut => false,
        };
        if self.silences >= SILENCES {
            self.given_up_until = Some(now + GIVEN_UP_FOR);
        } else if is_tried_again {
            self.pace.back_off(now, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(took: Duration, said: HostSignal) -> RequestOutcome {
        RequestOutcome { elapsed: Some(took), asked: Duration::ZERO, said }
    }

    /// Asks a host once, and returns from when on it may be asked again.
    fn ask(hosts: &mut HostTable, now: Instant, pause: HostPause, said: HostSignal) -> HostReadiness {
        hosts.start("a", now);
        hosts.finish("a", now, pause, ended(Duration::from_secs(1), said));
        hosts.readiness("a", 1, now)
    }

    #[test]
    fn without_pauses_only_what_is_asked_for_is_waited_for() {
        let (mut hosts, now) = (HostTable::default(), Instant::now());
        assert_eq!(ask(&mut hosts, now, HostPause::Asked, HostSignal::Healthy), HostReadiness::Now);
        let minute = Duration::from_secs(60);
        let said = HostSignal::Overloaded(Some(minute));
        assert_eq!(ask(&mut hosts, now, HostPause::Asked, said), HostReadiness::At(now + minute));
    }

    #[test]
    fn overload_that_is_over_counts_less() {
        let (mut hosts, now) = (HostTable::default(), Instant::now());
        let mut at = now;
        for seconds in [2, 4, 8] {
            let next = at + Duration::from_secs(seconds);
            assert_eq!(
                ask(&mut hosts, at, HostPause::Asked, HostSignal::Overloaded(None)),
                HostReadiness::At(next)
            );
            at = next;
        }
        for _ in 0..3 {
            assert_eq!(ask(&mut hosts, at, HostPause::Asked, HostSignal::Healthy), HostReadiness::Now);
        }
        let next = at + Duration::from_secs(2);
        assert_eq!(
            ask(&mut hosts, at, HostPause::Asked, HostSignal::Overloaded(None)),
            HostReadiness::At(next)
        );
    }

    #[test]
    fn a_host_that_goes_down_gets_pauses_and_is_given_up_at_last() {
        let (mut hosts, now) = (HostTable::default(), Instant::now());
        let silence = HostSignal::Silence(NoResponse::Unreachable);
        assert_eq!(ask(&mut hosts, now, HostPause::Asked, silence), HostReadiness::Now, "it never answered");
        assert_eq!(ask(&mut hosts, now, HostPause::Asked, HostSignal::Healthy), HostReadiness::Now);
        assert_eq!(hosts.standing("a", now), HostReachability::Answers);
        for _ in 1..SILENCES {
            assert!(matches!(ask(&mut hosts, now, HostPause::Asked, silence), HostReadiness::At(_)));
            assert_eq!(hosts.standing("a", now), HostReachability::Answers);
        }
        assert_eq!(
            ask(&mut hosts, now, HostPause::Asked, silence),
            HostReadiness::Now,
            "nobody waits for it"
        );
        assert_eq!(hosts.standing("a", now), HostReachability::Unreachable);
        let later = now + GIVEN_UP_FOR;
        assert_eq!(hosts.standing("a", later), HostReachability::Answers);
        assert_eq!(ask(&mut hosts, later, HostPause::Asked, HostSignal::Healthy), HostReadiness::Now);
        assert_eq!(
            ask(&mut hosts, later, HostPause::Asked, silence),
            HostReadiness::At(later + Duration::from_secs(64))
        );
    }

    #[test]
    fn a_host_has_one_pace_for_all() {
        let (mut hosts, now) = (HostTable::default(), Instant::now());
        assert_eq!(hosts.readiness("a", 2, now), HostReadiness::Now);
        hosts.start("a", now);
        assert_eq!(hosts.readiness("a", 2, now), HostReadiness::Now);
        hosts.start("a", now);
        assert_eq!(hosts.readiness("a", 2, now), HostReadiness::Busy);
        assert_eq!(hosts.readiness("b", 2, now), HostReadiness::Now);
        let took = Duration::from_millis(300);
        hosts.finish("a", now, HostPause::Answer, ended(took, HostSignal::Healthy));
        assert_eq!(hosts.readiness("a", 2, now), HostReadiness::At(now + took));
        assert_eq!(hosts.readiness("a", 2, now + took), HostReadiness::Now);
    }

    #[test]
    fn those_who_rest_are_forgotten_when_there_are_many() {
        let (mut hosts, now) = (HostTable::default(), Instant::now());
        for number in 0..MANY {
            hosts.start(&number.to_string(), now);
            if number > 0 {
                hosts.finish(
                    &number.to_string(),
                    now,
                    HostPause::Answer,
                    ended(Duration::ZERO, HostSignal::Healthy),
                );
            }
        }
        hosts.start("late", now + FORGOTTEN + Duration::from_secs(1));
        assert_eq!(hosts.paces.len(), 2, "the one that is asked, and the one before");
    }
}
