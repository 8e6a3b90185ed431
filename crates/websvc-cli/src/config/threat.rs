//! `[threat]`: the scanner that rates the risk of URLs.

use std::fmt;

use serde::Deserialize;

/// `[threat]`: the URL scanner for teams with threat protection.
#[derive(Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Threat {
    pub(crate) scanner: ScannerKind,
    /// URL of the scanner.
    pub(crate) url: Option<String>,
    pub(crate) api_key: Option<String>,
    pub(crate) timeout_ms: u64,
    pub(crate) concurrency: usize,
    pub(crate) breaker_failures: u32,
    /// Time that the circuit breaker stays open.
    pub(crate) breaker_open_ms: u64,
    /// Time that a verdict on a risky URL is cached.
    pub(crate) cache_risky_s: u64,
    /// Time that a verdict on a clean URL is cached.
    pub(crate) cache_clean_s: u64,
}

/// The protocol of a scanner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ScannerKind {
    /// No scanner: only the lists of a team decide.
    None,
    /// `POST` with the URL, which returns a score.
    Http,
    /// Google Web Risk.
    WebRisk,
}

impl Threat {
    /// The names of the keys.
    pub(super) const KEYS: &'static [&'static str] = &[
        "scanner",
        "url",
        "api_key",
        "timeout_ms",
        "concurrency",
        "breaker_failures",
        "breaker_open_ms",
        "cache_risky_s",
        "cache_clean_s",
    ];
}

impl Default for Threat {
    fn default() -> Self {
        Self {
            scanner: ScannerKind::None,
            url: None,
            api_key: None,
            timeout_ms: 3000,
            concurrency: 32,
            breaker_failures: 5,
            breaker_open_ms: 10_000,
            cache_risky_s: 600,
            cache_clean_s: 60,
        }
    }
}

impl fmt::Debug for Threat {
    /// Omits the key, and the URL, which may contain one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Threat").field("scanner", &self.scanner).finish_non_exhaustive()
    }
}
