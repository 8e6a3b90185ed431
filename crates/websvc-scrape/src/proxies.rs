//! The choice of a proxy for a host from the configured pools.
//!
//! A host always gets the same proxy, because sites tie cookies and rate limits to an IP address, and different hosts
//! get different ones: the proxies are ranked for each host by a hash of both. A proxy that failed, or that a host
//! rejected, is ranked last for a while, and the next in the ranking of the host is used.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use websvc_transport::Proxy;

/// The configured proxies; without any, pages are fetched directly.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProxyConfig {
    /// The basic tier, for ordinary fetches.
    pub basic: Vec<Proxy>,
    /// The enhanced tier, for hosts that reject the basic one.
    pub enhanced: Vec<Proxy>,
    /// The proxies for requests from a country (ISO 3166-1 alpha-2, upper case), used instead of the basic ones.
    pub by_country: BTreeMap<String, Vec<Proxy>>,
}

impl ProxyConfig {
    /// Returns whether there are enhanced proxies.
    #[must_use]
    pub fn has_enhanced(&self) -> bool {
        !self.enhanced.is_empty()
    }

    /// Returns whether there are proxies in this country.
    #[must_use]
    pub fn reaches_from(&self, country: &str) -> bool {
        self.by_country.get(country).is_some_and(|proxies| !proxies.is_empty())
    }
}

/// A class of proxies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ProxyTier {
    /// The proxies of the country if there are any, else the basic ones, else none.
    Basic,
    /// The enhanced proxies.
    Enhanced,
}

/// The backoff after the first failure of a proxy, doubled with each further failure in a row.
const INITIAL_BACKOFF: Duration = Duration::from_secs(5);
const MAX_BACKOFF: Duration = Duration::from_secs(600);

/// The time for which a proxy is ranked last for a host that rejected it.
const REJECTION_BACKOFF: Duration = Duration::from_secs(600);

/// The maximum number of recorded rejections.
const MAX_REJECTIONS: usize = 10_000;

/// The configured proxies and their health.
#[derive(Debug)]
pub(crate) struct Proxies {
    config: ProxyConfig,
    health: Mutex<Health>,
}

#[derive(Debug, Default)]
struct Health {
    /// The failures since the last success, per proxy.
    failures: HashMap<Proxy, Failures>,
    /// The end of the backoff after a rejection, per proxy and host.
    rejections: HashMap<(Proxy, String), Instant>,
}

/// The failures of a proxy since its last success.
#[derive(Debug)]
struct Failures {
    count: u32,
    /// The end of the backoff.
    until: Instant,
}

impl Proxies {
    pub(crate) fn new(config: ProxyConfig) -> Self {
        Self { config, health: Mutex::default() }
    }

    pub(crate) fn config(&self) -> &ProxyConfig {
        &self.config
    }

    /// Returns the proxies of a tier for a host, best first; an empty list means a direct connection.
    ///
    /// Proxies in backoff come last: they are still tried if all are in backoff.
    pub(crate) fn ranked(&self, tier: ProxyTier, country: &str, host: &str) -> Vec<Proxy> {
        let pool = match (tier, self.config.by_country.get(country)) {
            (ProxyTier::Enhanced, _) => &self.config.enhanced,
            (ProxyTier::Basic, Some(proxies)) if !proxies.is_empty() => proxies,
            (ProxyTier::Basic, _) => &self.config.basic,
        };
        if pool.len() < 2 {
            return pool.clone();
        }
        let now = Instant::now();
        let health = self.health.lock();
        let mut ranked: Vec<_> = pool
            .iter()
            .map(|proxy| (health.is_in_backoff(proxy, host, now), affinity(proxy, host), proxy))
            .collect();
        ranked.sort_by_key(|&(is_in_backoff, affinity, _)| (is_in_backoff, affinity));
        ranked.into_iter().map(|(_, _, proxy)| proxy.clone()).collect()
    }

    /// Records that a proxy worked.
    pub(crate) fn record_success(&self, proxy: &Proxy) {
        self.health.lock().failures.remove(proxy);
    }

    /// Records that a proxy failed.
    pub(crate) fn record_failure(&self, proxy: &Proxy) {
        let now = Instant::now();
        let mut health = self.health.lock();
        let failures = health.failures.entry(proxy.clone()).or_insert(Failures { count: 0, until: now });
        failures.until = now + INITIAL_BACKOFF.saturating_mul(1 << failures.count.min(10)).min(MAX_BACKOFF);
        failures.count = failures.count.saturating_add(1);
    }

    /// Records that a host rejected a fetch through a proxy.
    pub(crate) fn record_rejection(&self, proxy: &Proxy, host: &str) {
        let now = Instant::now();
        let mut health = self.health.lock();
        if health.rejections.len() >= MAX_REJECTIONS {
            health.rejections.retain(|_, until| *until > now);
        }
        if health.rejections.len() < MAX_REJECTIONS {
            health.rejections.insert((proxy.clone(), host.to_owned()), now + REJECTION_BACKOFF);
        }
    }
}

impl Health {
    fn is_in_backoff(&self, proxy: &Proxy, host: &str, now: Instant) -> bool {
        let has_failed = self.failures.get(proxy).is_some_and(|failures| failures.until > now);
        // The map is usually empty; the check avoids the allocation of the key.
        let was_rejected = !self.rejections.is_empty()
            && self.rejections.get(&(proxy.clone(), host.to_owned())).is_some_and(|&until| until > now);
        has_failed || was_rejected
    }
}

/// Returns the rank of a proxy for a host; the lowest comes first (rendezvous hashing: adding or removing a proxy moves
/// only its own hosts).
fn affinity(proxy: &Proxy, host: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (proxy, host).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn proxy(name: &str) -> Proxy {
        Proxy::new(&format!("http://{name}.test:3128").parse().unwrap()).unwrap()
    }

    fn proxies() -> Proxies {
        Proxies::new(ProxyConfig {
            basic: ["a", "b", "c"].map(proxy).into(),
            enhanced: ["d"].map(proxy).into(),
            by_country: BTreeMap::from([("DE".to_owned(), vec![proxy("e")]), ("FR".to_owned(), Vec::new())]),
        })
    }

    #[test]
    fn host_always_gets_the_same_proxy_and_hosts_are_spread() {
        let proxies = proxies();
        let first = |host: &str| proxies.ranked(ProxyTier::Basic, "US", host)[0].clone();
        assert_eq!(first("x.test"), first("x.test"));
        let used: HashSet<_> = (0..50).map(|number| first(&format!("{number}.test"))).collect();
        assert_eq!(used.len(), 3);
    }

    #[test]
    fn failed_or_rejected_proxy_is_ranked_last() {
        let proxies = proxies();
        let order = proxies.ranked(ProxyTier::Basic, "US", "x.test");
        proxies.record_failure(&order[0]);
        assert_eq!(proxies.ranked(ProxyTier::Basic, "US", "x.test")[2], order[0]);
        proxies.record_success(&order[0]);
        assert_eq!(proxies.ranked(ProxyTier::Basic, "US", "x.test"), order);

        let order_of_other_host = proxies.ranked(ProxyTier::Basic, "US", "y.test");
        proxies.record_rejection(&order[0], "x.test");
        assert_eq!(proxies.ranked(ProxyTier::Basic, "US", "x.test")[2], order[0]);
        assert_eq!(proxies.ranked(ProxyTier::Basic, "US", "y.test"), order_of_other_host);
    }

    #[test]
    fn pool_is_chosen_by_tier_and_country() {
        let proxies = proxies();
        assert_eq!(proxies.ranked(ProxyTier::Enhanced, "DE", "x.test"), [proxy("d")]);
        assert_eq!(proxies.ranked(ProxyTier::Basic, "DE", "x.test"), [proxy("e")]);
        assert_eq!(proxies.ranked(ProxyTier::Basic, "FR", "x.test").len(), 3);
        assert!(Proxies::new(ProxyConfig::default()).ranked(ProxyTier::Basic, "DE", "x.test").is_empty());
    }
}
