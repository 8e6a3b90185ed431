//! `[search]`: the sources of search results.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Result, ensure};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use toml::{Table, Value};
use websvc_engine::{ApiDefinition, ElasticsearchDeclaration, EndpointConfig};

use super::fields::fields;

/// `[search]`: the sources of search results.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Search {
    /// Sources in order of preference.
    pub(crate) providers: Vec<Provider>,
    pub(crate) searxng: Option<Searxng>,
    /// Configured sources by their names in `providers`.
    pub(crate) sources: BTreeMap<String, Source>,
    /// Presets that are searched after the providers.
    pub(crate) presets: Vec<String>,
    /// Email address or URL of the operator, for the owners of public APIs.
    pub(crate) contact: Option<String>,
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

/// `[search.sources.NAME]`: a search API, by its `kind`.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    HttpJson(Box<HttpJson>),
    Elasticsearch(Box<Elasticsearch>),
}

/// The kind `http-json`: an API with JSON or Atom responses.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct HttpJson {
    #[serde(flatten)]
    pub(crate) declaration: ApiDefinition,
    #[serde(flatten)]
    pub(crate) endpoint: Endpoint,
}

/// The kind `elasticsearch`: a server with the Elasticsearch API.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Elasticsearch {
    #[serde(flatten)]
    pub(crate) declaration: ElasticsearchDeclaration,
    #[serde(flatten)]
    pub(crate) endpoint: Endpoint,
}

/// `[search.searxng]`: an instance of SearXNG.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Searxng {
    /// Base URL without `/search`.
    pub(crate) url: String,
    #[serde(flatten)]
    pub(crate) endpoint: Endpoint,
}

/// Limits of the requests to a remote source. The table of keys rejects unknown keys and suggests similar ones.
#[derive(Debug, Clone, Deserialize)]
#[serde(default)]
pub(crate) struct Endpoint {
    pub(crate) timeout_ms: u64,
    pub(crate) requests_per_second: f64,
    pub(crate) burst: u32,
    pub(crate) breaker_failures: u32,
    pub(crate) breaker_open_ms: u64,
}

impl Default for Search {
    fn default() -> Self {
        Self {
            providers: vec![Provider::Index],
            searxng: None,
            sources: BTreeMap::new(),
            presets: Vec::new(),
            contact: None,
        }
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
            breaker_open_ms: millis(pause),
        }
    }
}

impl Endpoint {
    /// Returns the configuration of the endpoint.
    ///
    /// # Errors
    /// A value would block every request. The error names its key in `section`.
    pub(crate) fn checked(&self, section: &str) -> Result<EndpointConfig> {
        let Self { timeout_ms, requests_per_second, burst, breaker_failures, breaker_open_ms } = *self;
        let is_rate = requests_per_second.is_finite() && requests_per_second > 0.0;
        ensure!(is_rate, "{section}.requests_per_second must be greater than 0, not {requests_per_second}");
        for (key, value) in [
            ("timeout_ms", timeout_ms),
            ("burst", burst.into()),
            ("breaker_failures", breaker_failures.into()),
        ] {
            ensure!(value > 0, "{section}.{key} must be at least 1, not 0");
        }
        Ok(EndpointConfig {
            timeout: Duration::from_millis(timeout_ms),
            requests_per_second,
            burst,
            failures: breaker_failures,
            pause: Duration::from_millis(breaker_open_ms),
        })
    }
}

impl Provider {
    /// Returns the name of the source in `search.providers`.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Index => "index",
            Self::Searxng => "searxng",
            Self::Named(name) => name,
        }
    }
}

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let table = Table::deserialize(deserializer)?;
        let kind =
            table.get("kind").and_then(Value::as_str).ok_or_else(|| D::Error::missing_field("kind"))?;
        let keys = match kind {
            "http-json" => ApiDefinition::KEYS,
            "elasticsearch" => ElasticsearchDeclaration::KEYS,
            "searxng" => {
                return Err(D::Error::custom(
                    "SearXNG has a section of its own: set its `url` in [search.searxng], and add \"searxng\" to \
                     search.providers",
                ));
            }
            other => return Err(D::Error::unknown_variant(other, &["http-json", "elasticsearch"])),
        };
        let known = [&["kind"], keys, &fields::<Endpoint>()].concat();
        if let Some(key) = table.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(D::Error::custom(format!("a source of kind {kind} has no key `{key}`")));
        }
        let is_http_json = kind == "http-json";
        let value = Value::Table(table);
        if is_http_json {
            value.try_into().map(|source| Self::HttpJson(Box::new(source))).map_err(D::Error::custom)
        } else {
            value.try_into().map(|source| Self::Elasticsearch(Box::new(source))).map_err(D::Error::custom)
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
    fn source_accepts_only_keys_of_its_kind() {
        let check = |text: &str, expected: &str| {
            let error = toml::from_str::<Source>(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        let elastic = "kind = 'elasticsearch'\nurl = 'http://es.test'\nindex = 'pages'\nburst = 2";
        let Source::Elasticsearch(source) = toml::from_str(elastic).unwrap() else { panic!() };
        assert_eq!((source.declaration.index.as_str(), source.endpoint.burst), ("pages", 2));
        assert!(!source.declaration.write);
        check("kind = 'elasticsearch'\nurl = 'http://es.test'", "missing field `index`");
        check(&format!("{elastic}\nresults = '/x'"), "a source of kind elasticsearch has no key `results`");
        check("kind = 'http-jsn'", "unknown variant `http-jsn`");
        check("kind = 'searxng'\nurl = 'http://searxng.test'", "set its `url` in [search.searxng]");
        check("url = 'x'", "missing field `kind`");
    }

    #[test]
    fn endpoint_values_that_block_every_request_are_rejected() {
        let check = |endpoint: Endpoint| endpoint.checked("search.searxng").unwrap_err().to_string();
        let error = check(Endpoint { requests_per_second: 0.0, ..Endpoint::default() });
        assert_eq!(error, "search.searxng.requests_per_second must be greater than 0, not 0");
        let error = check(Endpoint { burst: 0, ..Endpoint::default() });
        assert_eq!(error, "search.searxng.burst must be at least 1, not 0");
        assert_eq!(Endpoint::default().checked("x").unwrap(), EndpointConfig::default());
    }
}
