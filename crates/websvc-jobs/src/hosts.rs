//! Pace and reachability of hosts, shared by all jobs.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use url::Url;
use websvc_site::{HostPace, bare_host_key};

use crate::config::Pace;

/// Hosts without a request for this long may be removed from the table.
const IDLE_TTL: Duration = Duration::from_secs(300);

/// Hosts without a request for this long may get the requests of another replica.
const RELEASE_AFTER: Duration = Duration::from_secs(4);

/// Number of hosts at which idle hosts are removed.
const MAX_HOSTS: usize = 1_024;

/// Number of requests in a row without a response after which the circuit breaker of a host opens.
const BREAKER_THRESHOLD: u32 = 10;

/// How long the circuit breaker of a host stays open.
const BREAKER_OPEN: Duration = Duration::from_secs(300);

/// Error of the pages of a host while its circuit breaker is open.
pub(crate) const UNREACHABLE: &str =
    "the host did not respond to 10 requests in a row, and gets no requests for 5 minutes";

/// Returns the key of the pace of a URL's host. A host shares its pace with the same host without `www.`, since URLs of
/// one often redirect to the other.
pub(crate) fn pace_key(url: &Url) -> String {
    bare_host_key(url)
}

/// The hosts of recent requests, by pace key.
#[derive(Debug, Default)]
pub(crate) struct HostTable {
    hosts: HashMap<String, HostEntry>,
}

#[derive(Debug)]
struct HostEntry {
    pace: HostPace,
    has_responded: bool,
    /// Requests without a response since the last response.
    failures: u32,
    /// End of the time in which the circuit breaker is open.
    open_until: Option<Instant>,
}

/// Reachability of a host at the start of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostReachability {
    /// It has not responded yet.
    New,
    /// It has responded before.
    Responsive,
    /// Its circuit breaker is open.
    Unreachable,
}

/// Outcome of the request for a page, as the host is concerned.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RequestOutcome {
    /// Network time of the request; `None` when none was sent.
    pub(crate) elapsed: Option<Duration>,
    /// The delay that the robots.txt of the host requests.
    pub(crate) requested_delay: Duration,
    pub(crate) signal: HostSignal,
}

/// The state of a host, as its last response shows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum HostSignal {
    /// No request was sent.
    #[default]
    NotContacted,
    /// It responded.
    Healthy,
    /// It is overloaded, and requests this delay if it names one.
    Overloaded(Option<Duration>),
    /// It did not respond.
    Unresponsive(NoResponse),
}

/// The reason why there was no response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoResponse {
    /// There was no connection, or it broke. All pages of the host are affected, until it comes back.
    Unreachable,
    /// Its robots.txt was unavailable.
    RobotsUnavailable,
    /// The time limit of the page passed, which may be due to this page alone.
    TimedOut,
}

/// Readiness of a host for another request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostReadiness {
    Now,
    /// Not before this time.
    At(Instant),
    /// Not before a request in flight ends.
    Busy,
}

impl HostTable {
    /// Returns whether a host is ready for a request, with at most `max_concurrent` requests in flight.
    pub(crate) fn readiness(&self, host: &str, max_concurrent: usize, now: Instant) -> HostReadiness {
        let Some(entry) = self.hosts.get(host) else { return HostReadiness::Now };
        if entry.open_until.is_some_and(|until| until > now) {
            // Its pages end without a request.
            return HostReadiness::Now;
        }
        match entry.pace.next_at(max_concurrent) {
            None => HostReadiness::Busy,
            Some(at) if at <= now => HostReadiness::Now,
            Some(at) => HostReadiness::At(at),
        }
    }

    /// Returns whether a host has had no request for [`RELEASE_AFTER`], and no pause or open circuit breaker lasts longer.
    pub(crate) fn is_idle(&self, host: &str, now: Instant) -> bool {
        self.hosts.get(host).is_none_or(|entry| {
            entry.pace.running() == 0
                && entry.pace.ready_at() + RELEASE_AFTER <= now
                && entry.open_until.is_none_or(|until| until <= now)
        })
    }

    pub(crate) fn reachability(&self, host: &str, now: Instant) -> HostReachability {
        match self.hosts.get(host) {
            Some(entry) if entry.open_until.is_some_and(|until| until > now) => HostReachability::Unreachable,
            Some(entry) if entry.has_responded => HostReachability::Responsive,
            Some(_) | None => HostReachability::New,
        }
    }

    /// Records the start of a request.
    pub(crate) fn start(&mut self, host: &str, now: Instant) {
        if self.hosts.len() >= MAX_HOSTS {
            self.hosts
                .retain(|_, HostEntry { pace, .. }| pace.running() > 0 || pace.ready_at() + IDLE_TTL > now);
        }
        let new =
            || HostEntry { pace: HostPace::new(now), has_responded: false, failures: 0, open_until: None };
        self.hosts.entry(host.to_owned()).or_insert_with(new).pace.start();
    }

    /// Records the end of a request: see [`HostPace::finish`].
    pub(crate) fn finish(&mut self, host: &str, now: Instant, pause: Pace, outcome: RequestOutcome) {
        let Some(entry) = self.hosts.get_mut(host) else { return };
        let RequestOutcome { elapsed, requested_delay, signal } = outcome;
        let elapsed = elapsed.map(|elapsed| match pause {
            Pace::Adaptive => elapsed,
            Pace::Requested => Duration::ZERO,
        });
        entry.pace.finish(now, elapsed, requested_delay);
        match signal {
            HostSignal::NotContacted => {}
            HostSignal::Healthy => {
                entry.pace.record_success();
                (entry.has_responded, entry.failures, entry.open_until) = (true, 0, None);
            }
            HostSignal::Overloaded(retry_after) => {
                entry.pace.back_off(now, retry_after);
                entry.failures = 0;
            }
            HostSignal::Unresponsive(reason) => entry.record_no_response(reason, now),
        }
    }
}

impl HostEntry {
    /// Records a request without a response.
    fn record_no_response(&mut self, reason: NoResponse, now: Instant) {
        self.failures += 1;
        let is_retried = match reason {
            NoResponse::Unreachable => self.has_responded,
            NoResponse::RobotsUnavailable => true,
            NoResponse::TimedOut => false,
        };
        if self.failures >= BREAKER_THRESHOLD {
            self.open_until = Some(now + BREAKER_OPEN);
        } else if is_retried {
            self.pace.back_off(now, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(elapsed: Duration, signal: HostSignal) -> RequestOutcome {
        RequestOutcome { elapsed: Some(elapsed), requested_delay: Duration::ZERO, signal }
    }

    /// Simulates one request of a second to host `a`, and returns its readiness after that.
    fn request(hosts: &mut HostTable, now: Instant, pause: Pace, signal: HostSignal) -> HostReadiness {
        hosts.start("a", now);
        hosts.finish("a", now, pause, outcome(Duration::from_secs(1), signal));
        hosts.readiness("a", 1, now)
    }

    #[test]
    fn requested_pause_applies_only_retry_after() {
        let (mut hosts, now) = (HostTable::default(), Instant::now());
        assert_eq!(request(&mut hosts, now, Pace::Requested, HostSignal::Healthy), HostReadiness::Now);
        let minute = Duration::from_secs(60);
        let overload = HostSignal::Overloaded(Some(minute));
        assert_eq!(request(&mut hosts, now, Pace::Requested, overload), HostReadiness::At(now + minute));
    }

    #[test]
    fn backoff_shrinks_after_successes() {
        let (mut hosts, now) = (HostTable::default(), Instant::now());
        let mut at = now;
        for seconds in [2, 4, 8] {
            let next = at + Duration::from_secs(seconds);
            assert_eq!(
                request(&mut hosts, at, Pace::Requested, HostSignal::Overloaded(None)),
                HostReadiness::At(next)
            );
            at = next;
        }
        for _ in 0..3 {
            assert_eq!(request(&mut hosts, at, Pace::Requested, HostSignal::Healthy), HostReadiness::Now);
        }
        let next = at + Duration::from_secs(2);
        assert_eq!(
            request(&mut hosts, at, Pace::Requested, HostSignal::Overloaded(None)),
            HostReadiness::At(next)
        );
    }

    #[test]
    fn host_that_stops_responding_gets_backoff_then_its_breaker_opens() {
        let (mut hosts, now) = (HostTable::default(), Instant::now());
        let unreachable = HostSignal::Unresponsive(NoResponse::Unreachable);
        let mut send = |now, signal| {
            let readiness = request(&mut hosts, now, Pace::Requested, signal);
            (readiness, hosts.reachability("a", now))
        };
        assert_eq!(send(now, unreachable).0, HostReadiness::Now, "no backoff: it never responded");
        assert_eq!(send(now, HostSignal::Healthy), (HostReadiness::Now, HostReachability::Responsive));
        for _ in 1..BREAKER_THRESHOLD {
            let (readiness, reachability) = send(now, unreachable);
            assert!(matches!(readiness, HostReadiness::At(_)));
            assert_eq!(reachability, HostReachability::Responsive);
        }
        let (readiness, reachability) = send(now, unreachable);
        assert_eq!(readiness, HostReadiness::Now, "its pages end without a request");
        assert_eq!(reachability, HostReachability::Unreachable);
        let later = now + BREAKER_OPEN;
        assert_eq!(hosts.reachability("a", later), HostReachability::Responsive);
        assert_eq!(request(&mut hosts, later, Pace::Requested, HostSignal::Healthy), HostReadiness::Now);
        assert_eq!(
            request(&mut hosts, later, Pace::Requested, unreachable),
            HostReadiness::At(later + Duration::from_secs(64))
        );
    }

    #[test]
    fn host_has_one_pace_for_all_jobs() {
        let (mut hosts, now) = (HostTable::default(), Instant::now());
        assert_eq!(hosts.readiness("a", 2, now), HostReadiness::Now);
        hosts.start("a", now);
        assert_eq!(hosts.readiness("a", 2, now), HostReadiness::Now);
        hosts.start("a", now);
        assert_eq!(hosts.readiness("a", 2, now), HostReadiness::Busy);
        assert_eq!(hosts.readiness("b", 2, now), HostReadiness::Now);
        let elapsed = Duration::from_millis(300);
        hosts.finish("a", now, Pace::Adaptive, outcome(elapsed, HostSignal::Healthy));
        assert_eq!(hosts.readiness("a", 2, now), HostReadiness::At(now + elapsed));
        assert_eq!(hosts.readiness("a", 2, now + elapsed), HostReadiness::Now);
    }

    #[test]
    fn idle_hosts_are_removed_when_the_table_is_full() {
        let (mut hosts, now) = (HostTable::default(), Instant::now());
        for number in 0..MAX_HOSTS {
            hosts.start(&number.to_string(), now);
            if number > 0 {
                hosts.finish(
                    &number.to_string(),
                    now,
                    Pace::Adaptive,
                    outcome(Duration::ZERO, HostSignal::Healthy),
                );
            }
        }
        hosts.start("late", now + IDLE_TTL + Duration::from_secs(1));
        assert_eq!(hosts.hosts.len(), 2, "the host with a request in flight, and the new one");
    }
}
