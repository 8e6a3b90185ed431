//! `[search]`: which sources answer a search, and how those elsewhere are asked.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Result, ensure};
use serde::{Deserialize, Deserializer};
use websvc_engine::{Declaration, EndpointConfig};

/// `[search]`: which sources answer a search.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Search {
    /// In order of preference.
    pub(crate) providers: Vec<Provider>,
    pub(crate) searxng: Option<Searxng>,
    /// By the names that `providers` uses.
    pub(crate) sources: BTreeMap<String, Source>,
}

/// A source of search results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Provider {
    /// The embedded index.
    Index,
    /// The instance of `[search.searxng]`.
    Searxng,
    /// The API of `[search.sources.NAME]`.
    Named(String),
}

/// `[search.sources.NAME]`: a search API.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Source {
    #[expect(dead_code, reason = "there is one kind, and a wrong one is refused when it is read")]
    kind: Kind,
    #[serde(flatten)]
    pub(crate) declaration: Declaration,
    #[serde(flatten)]
    pub(crate) endpoint: Endpoint,
}

/// The kind of an API.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    HttpJson,
}

/// `[search.searxng]`: an instance of SearXNG.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Searxng {
    /// Where it is, without `/search`.
    pub(crate) url: String,
    #[serde(flatten)]
    pub(crate) endpoint: Endpoint,
}

/// How a server elsewhere is asked. Unknown keys are refused by the table of keys, which names the nearest.
#[derive(Debug, Clone, Deserialize)]
#[serde(default)]
pub(crate) struct Endpoint {
    pub(crate) timeout_ms: u64,
    pub(crate) requests_per_second: f64,
    pub(crate) burst: u32,
    pub(crate) breaker_failures: u32,
    pub(crate) breaker_pause_ms: u64,
}

impl Default for Search {
    fn default() -> Self {
        Self { providers: vec![Provider::Index], searxng: None, sources: BTreeMap::new() }
    }
}

impl Default for Endpoint {
    fn default() -> Self {
        let EndpointConfig { timeout, requests_per_second, burst, failures, pause } =
            EndpointConfig::default();
        let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        Self {
            timeout_ms: millis(timeout),
            requests_per_second,
            burst,
            breaker_failures: failures,
            breaker_pause_ms: millis(pause),
        }
    }
}

impl Endpoint {
    /// Returns what the engine is told.
    ///
    /// # Errors
    /// A value that would stop every request, named with its key below `section`.
    pub(crate) fn checked(&self, section: &str) -> Result<EndpointConfig> {
        let Self { timeout_ms, requests_per_second, burst, breaker_failures, breaker_pause_ms } = *self;
        let is_rate = requests_per_second.is_finite() && requests_per_second > 0.0;
        ensure!(is_rate, "{section}.requests_per_second has to be above 0, not {requests_per_second}");
        for (key, value) in [
            ("timeout_ms", timeout_ms),
            ("burst", burst.into()),
            ("breaker_failures", breaker_failures.into()),
        ] {
            ensure!(value > 0, "{section}.{key} has to be at least 1, not 0");
        }
        Ok(EndpointConfig {
            timeout: Duration::from_millis(timeout_ms),
            requests_per_second,
            burst,
            failures: breaker_failures,
            pause: Duration::from_millis(breaker_pause_ms),
        })
    }
}

impl Provider {
    /// Returns the name by which `search.providers` calls it.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Index => "index",
            Self::Searxng => "searxng",
            Self::Named(name) => name,
        }
    }
}

impl<'de> Deserialize<'de> for Provider {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        match name.as_str() {
            "index" => Ok(Self::Index),
            "searxng" => Ok(Self::Searxng),
            _ => Ok(Self::Named(name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_stop_every_request_is_refused_by_name() {
        let check = |endpoint: Endpoint| endpoint.checked("search.searxng").unwrap_err().to_string();
        let error = check(Endpoint { requests_per_second: 0.0, ..Endpoint::default() });
        assert_eq!(error, "search.searxng.requests_per_second has to be above 0, not 0");
        let error = check(Endpoint { burst: 0, ..Endpoint::default() });
        assert_eq!(error, "search.searxng.burst has to be at least 1, not 0");
        assert_eq!(Endpoint::default().checked("x").unwrap(), EndpointConfig::default());
    }
}
