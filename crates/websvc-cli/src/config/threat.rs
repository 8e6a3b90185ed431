//! `[threat]`: who tells the risk of URLs.

use std::fmt;

use serde::Deserialize;

/// `[threat]`: the scanner of URLs for teams with threat protection.
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
    pub(crate) breaker_pause_ms: u64,
    /// How long a verdict on a risky URL is remembered.
    pub(crate) remember_risky_s: u64,
    /// How long a verdict on a clean URL is remembered.
    pub(crate) remember_clean_s: u64,
}

/// The language a scanner speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ScannerKind {
    /// Nobody is asked: the lists alone decide.
    None,
    /// `POST` with the URL, answered by a score.
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
        "breaker_pause_ms",
        "remember_risky_s",
        "remember_clean_s",
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
            breaker_pause_ms: 10_000,
            remember_risky_s: 600,
            remember_clean_s: 60,
        }
    }
}

impl fmt::Debug for Threat {
    /// Leaves out the key, and the address, which may hold one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Threat").field("scanner", &self.scanner).finish_non_exhaustive()
    }
}
