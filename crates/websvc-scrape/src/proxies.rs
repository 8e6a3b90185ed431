//! The ways to a host: which of the configured proxies a page is fetched through.
//!
//! A host keeps its proxy (sites tie their cookies and their patience to an address) and different hosts get
//! different ones: the proxies are ranked for each host by a hash of both. One that fails, or that a host turned
//! away, steps back for a while, and the next in the host's own order takes its place.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use websvc_transport::Proxy;

/// The proxies of an installation; without any, pages are fetched directly.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProxyConfig {
    /// For ordinary fetches.
    pub basic: Vec<Proxy>,
    /// For hosts that turn the ordinary way down.
    pub enhanced: Vec<Proxy>,
    /// For requests from a country, ISO 3166-1 alpha-2 in upper case; they take the place of the basic ones.
    pub by_country: BTreeMap<String, Vec<Proxy>>,
}

impl ProxyConfig {
    /// Returns whether there is an enhanced way.
    #[must_use]
    pub fn has_enhanced(&self) -> bool {
        !self.enhanced.is_empty()
    }

    /// Returns whether requests can come from this country.
    #[must_use]
    pub fn reaches_from(&self, country: &str) -> bool {
        self.by_country.get(country).is_some_and(|proxies| !proxies.is_empty())
    }
}

/// Which proxies a fetch may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ProxyTier {
    /// Those of the country when there are any, else the basic ones, else none.
    Basic,
    /// The enhanced ones.
    Enhanced,
}

/// A proxy that failed is left alone this long, doubled with each failure in a row.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(600);

/// A proxy that a host turned away is not used for the host this long.
const TURNED_AWAY: Duration = Duration::from_secs(600);

/// So many notes about hosts are kept.
const MAX_NOTES: usize = 10_000;

/// The proxies, and what is known of them.
#[derive(Debug)]
pub(crate) struct Proxies {
    config: ProxyConfig,
    health: Mutex<Health>,
}

#[derive(Debug, Default)]
struct Health {
    /// Failures in a row, and until when the proxy is left alone.
    failing: HashMap<Proxy, (u32, Instant)>,
    /// Until when a host does not want a proxy.
    turned_away: HashMap<(Proxy, String), Instant>,
}

impl Proxies {
    pub(crate) fn new(config: ProxyConfig) -> Self {
        Self { config, health: Mutex::default() }
    }

    pub(crate) fn config(&self) -> &ProxyConfig {
        &self.config
    }

    /// Returns the proxies of a tier for a host, best first; an empty list means to connect directly.
    ///
    /// Those that stepped back come last: they are better than nothing when all did.
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
        let health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ranked: Vec<_> = pool
            .iter()
            .map(|proxy| (health.steps_back(proxy, host, now), affinity(proxy, host), proxy))
            .collect();
        ranked.sort_by_key(|&(steps_back, affinity, _)| (steps_back, affinity));
        ranked.into_iter().map(|(_, _, proxy)| proxy.clone()).collect()
    }

    /// Notes that a proxy worked.
    pub(crate) fn record_success(&self, proxy: &Proxy) {
        self.health.lock().unwrap_or_else(PoisonError::into_inner).failing.remove(proxy);
    }

    /// Notes that a proxy did not work.
    pub(crate) fn failed(&self, proxy: &Proxy) {
        let now = Instant::now();
        let mut health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
        let (failures, until) = health.failing.entry(proxy.clone()).or_insert((0, now));
        *until = now + FIRST_PAUSE.saturating_mul(1 << (*failures).min(10)).min(LONGEST_PAUSE);
        *failures = failures.saturating_add(1);
    }

    /// Notes that a host turned away what came through a proxy.
    pub(crate) fn record_rejection(&self, proxy: &Proxy, host: &str) {
        let now = Instant::now();
        let mut health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
        if health.turned_away.len() >= MAX_NOTES {
            health.turned_away.retain(|_, until| *until > now);
        }
        if health.turned_away.len() < MAX_NOTES {
            health.turned_away.insert((proxy.clone(), host.to_owned()), now + TURNED_AWAY);
        }
    }
}

impl Health {
    fn steps_back(&self, proxy: &Proxy, host: &str, now: Instant) -> bool {
        let fails = self.failing.get(proxy).is_some_and(|&(_, until)| until > now);
        // The map is empty as a rule, so that the key is seldom made.
        let is_unwanted = !self.turned_away.is_empty()
            && self.turned_away.get(&(proxy.clone(), host.to_owned())).is_some_and(|&until| until > now);
        fails || is_unwanted
    }
}

/// Ranks a proxy for a host; the lowest comes first (rendezvous hashing: adding or losing one moves only its hosts).
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
    fn a_host_keeps_its_proxy_and_hosts_are_spread() {
        let proxies = proxies();
        let first = |host: &str| proxies.ranked(ProxyTier::Basic, "US", host)[0].clone();
        assert_eq!(first("x.test"), first("x.test"));
        let used: HashSet<_> = (0..50).map(|number| first(&format!("{number}.test"))).collect();
        assert_eq!(used.len(), 3);
    }

    #[test]
    fn a_proxy_that_fails_or_is_turned_away_steps_back() {
        let proxies = proxies();
        let order = proxies.ranked(ProxyTier::Basic, "US", "x.test");
        proxies.failed(&order[0]);
        assert_eq!(proxies.ranked(ProxyTier::Basic, "US", "x.test")[2], order[0]);
        proxies.record_success(&order[0]);
        assert_eq!(proxies.ranked(ProxyTier::Basic, "US", "x.test"), order);

        let elsewhere = proxies.ranked(ProxyTier::Basic, "US", "y.test");
        proxies.record_rejection(&order[0], "x.test");
        assert_eq!(proxies.ranked(ProxyTier::Basic, "US", "x.test")[2], order[0]);
        assert_eq!(proxies.ranked(ProxyTier::Basic, "US", "y.test"), elsewhere);
    }

    #[test]
    fn the_tier_and_the_country_choose_the_pool() {
        let proxies = proxies();
        assert_eq!(proxies.ranked(ProxyTier::Enhanced, "DE", "x.test"), [proxy("d")]);
        assert_eq!(proxies.ranked(ProxyTier::Basic, "DE", "x.test"), [proxy("e")]);
        assert_eq!(proxies.ranked(ProxyTier::Basic, "FR", "x.test").len(), 3);
        assert!(Proxies::new(ProxyConfig::default()).ranked(ProxyTier::Basic, "DE", "x.test").is_empty());
    }
}
