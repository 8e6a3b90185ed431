//! The configuration: a TOML file, in which environment variables can override every key.
//!
//! The names of sections and keys are an interface for operators: `docs/configuration.md` lists them
//! with their defaults.

mod fields;
mod keys;
mod limits;
mod oidc;
mod origins;
mod preset;
mod search;
mod semantic;
mod services;
mod sources;
mod times;

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use serde::Deserialize;
use websvc_server::OauthIssuer;
use websvc_store::UsageLimits;

pub(crate) use limits::{Agent, ChangeTracking, Jobs, Monitor, Webhooks};
pub(crate) use oidc::Oidc;
pub(crate) use origins::Origins;
pub(crate) use preset::{OPEN, Preset};
pub(crate) use search::{Elasticsearch, HttpJson, Provider, Search, Searxng, Source};
pub(crate) use semantic::Semantic;
pub(crate) use services::{
    Audit, Interact, Interpreters, Llm, Log, LogFormat, Mail, Media, Replica, ScannerKind, Store, Threat,
    Traces,
};
pub(crate) use sources::{ConfigError, load};

/// Everything an operator can set.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) server: Server,
    pub(crate) auth: Auth,
    pub(crate) fetch: Fetch,
    pub(crate) search: Search,
    pub(crate) store: Store,
    pub(crate) replica: Replica,
    pub(crate) cache: Cache,
    pub(crate) change_tracking: ChangeTracking,
    pub(crate) artifacts: Artifacts,
    pub(crate) browser: Browser,
    pub(crate) proxy: Proxy,
    pub(crate) limits: Limits,
    pub(crate) threat: Threat,
    pub(crate) llm: Llm,
    pub(crate) semantic: Semantic,
    pub(crate) mail: Mail,
    pub(crate) audit: Audit,
    pub(crate) pricing: websvc_engine::Pricing,
    pub(crate) usage: Usage,
    pub(crate) jobs: Jobs,
    pub(crate) monitor: Monitor,
    pub(crate) agent: Agent,
    pub(crate) interact: Interact,
    pub(crate) media: Media,
    pub(crate) webhooks: Webhooks,
    pub(crate) log: Log,
    pub(crate) traces: Traces,
    /// The files that were read, in their order.
    #[serde(skip)]
    pub(crate) files: Vec<PathBuf>,
    /// Variables without effect, each with the similar variable that was probably meant.
    #[serde(skip)]
    pub(crate) misspelled: Vec<(String, String)>,
    /// Source of each key: a line of the file or a variable.
    #[serde(skip)]
    pub(crate) origins: Origins,
}

impl fmt::Debug for Config {
    /// Omits all values, because many are secrets or URLs with passwords.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config").field("files", &self.files).finish_non_exhaustive()
    }
}

impl Config {
    /// Returns the warnings that concern every command.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let misspelled = self.misspelled.iter();
        misspelled
            .map(|(name, meant)| format!("the variable {name} has no effect, did you mean {meant}?"))
            .collect()
    }
}

/// `[server]`: the listeners of the service.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Server {
    /// `host:port`; port 0 picks a free one.
    pub(crate) listen: String,
    /// Separate `host:port` that serves `/metrics` without a key.
    pub(crate) metrics_listen: Option<String>,
    /// Base URL for callers, if it differs from the listen address.
    pub(crate) public_url: Option<String>,
    /// Networks whose `X-Forwarded-*` headers are trusted.
    pub(crate) trusted_proxies: Vec<String>,
    pub(crate) tls: Option<Tls>,
    pub(crate) max_connections: usize,
    pub(crate) drain_timeout_ms: u64,
}

/// `[server.tls]`: PEM files, which are reloaded when they change.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tls {
    pub(crate) cert: PathBuf,
    pub(crate) key: PathBuf,
}

/// `[auth]`: authentication of callers.
#[derive(Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Auth {
    pub(crate) required: bool,
    pub(crate) oauth: Oauth,
    pub(crate) oidc: Oidc,
}

/// `[auth.oauth]`: OAuth for MCP clients.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Oauth {
    pub(crate) enabled: bool,
    /// Private-use schemes of addresses to which users of clients may return.
    pub(crate) redirect_schemes: Vec<String>,
}

/// `[fetch]`: how pages are fetched.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Fetch {
    pub(crate) allow_networks: Vec<String>,
    pub(crate) connect_to: BTreeMap<String, String>,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) user_agent: String,
    pub(crate) max_body_bytes: u64,
    pub(crate) concurrency: usize,
}

/// `[proxy]`: the proxies for pages. Without any, pages are fetched directly.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Proxy {
    pub(crate) basic: Vec<String>,
    pub(crate) enhanced: Vec<String>,
    /// Proxies by country: ISO 3166-1 alpha-2 in upper case.
    pub(crate) by_country: BTreeMap<String, Vec<String>>,
}

/// `[browser]`: the Chromium that renders pages.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Browser {
    /// The program. If unset, the usual places are searched.
    pub(crate) path: Option<PathBuf>,
    /// Path of bubblewrap; an empty one turns it off. If unset, the usual one is used if it works.
    pub(crate) bubblewrap: Option<PathBuf>,
    /// URL of a remote Chromium, which may contain secrets.
    pub(crate) cdp_url: Option<String>,
    /// Address that the egress proxies of a remote browser listen on.
    pub(crate) egress_listen: Option<String>,
    /// Host name under which the remote browser reaches that address.
    pub(crate) egress_host: Option<String>,
    /// Networks that may use the egress proxies.
    pub(crate) egress_allowed_networks: Vec<String>,
    /// Maximum number of open pages. With 0 there is no browser.
    pub(crate) concurrency: usize,
    pub(crate) pages_per_process: u64,
    pub(crate) memory_bytes: u64,
    pub(crate) page_memory_bytes: u64,
    /// If unset, one and a half times `memory_bytes`.
    pub(crate) max_memory_bytes: Option<u64>,
    pub(crate) idle_shutdown_s: u64,
    /// URLs of additional ad blocklists, which `websvc blocklists update` fetches.
    pub(crate) blocklists: Vec<String>,
}

/// `[cache]`: limits of the page cache and the output cache.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Cache {
    pub(crate) max_bytes: u64,
    pub(crate) max_age_days: u64,
    /// Size of the output cache, which is in memory.
    pub(crate) output_memory_bytes: u64,
}

/// `[artifacts]`: storage of the files that requests create and that expire.
#[derive(Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Artifacts {
    /// Directory of the files. If unset, it is in the data directory.
    pub(crate) path: Option<PathBuf>,
    pub(crate) max_bytes: u64,
    pub(crate) max_age_hours: u64,
    pub(crate) s3: Option<S3>,
}

/// `[artifacts.s3]`: a bucket instead of the directory.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct S3 {
    pub(crate) endpoint: String,
    pub(crate) region: String,
    pub(crate) bucket: String,
    #[serde(default)]
    pub(crate) prefix: String,
    pub(crate) access_key_id: String,
    pub(crate) secret_access_key: String,
}

/// `[limits]`: limits of the service, and default limits of teams.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Limits {
    pub(crate) requests_per_minute: Option<u32>,
    pub(crate) concurrency: Option<u32>,
    pub(crate) total_concurrency: NonZeroUsize,
    pub(crate) queue_len: usize,
    pub(crate) queue_wait_ms: u64,
    /// Maximum number of concurrent searches of the index. If unset, the number of processors.
    pub(crate) search_concurrency: Option<NonZeroUsize>,
    pub(crate) overload_target_ms: u64,
    pub(crate) overload_interval_ms: u64,
}

/// `[usage]`: retention of the usage of teams.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Usage {
    /// Maximum number of requests in the log. With 0 there is no log.
    pub(crate) log_rows: u64,
    pub(crate) log_days: u64,
    /// Retention of the totals per day.
    pub(crate) daily_days: u64,
    /// Retention of feedback.
    pub(crate) feedback_days: u64,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:3002".to_owned(),
            metrics_listen: None,
            public_url: None,
            trusted_proxies: Vec::new(),
            tls: None,
            max_connections: 4096,
            drain_timeout_ms: 30_000,
        }
    }
}

impl Default for Auth {
    fn default() -> Self {
        Self { required: true, oauth: Oauth::default(), oidc: Oidc::default() }
    }
}

impl Default for Oauth {
    fn default() -> Self {
        let schemes = OauthIssuer::default_redirect_schemes();
        Self { enabled: false, redirect_schemes: schemes.iter().map(|scheme| (*scheme).to_owned()).collect() }
    }
}

impl Default for Fetch {
    fn default() -> Self {
        Self {
            allow_networks: Vec::new(),
            connect_to: BTreeMap::new(),
            ca_file: None,
            user_agent: websvc_scrape::DEFAULT_USER_AGENT.to_owned(),
            max_body_bytes: 20 * 1024 * 1024,
            concurrency: 64,
        }
    }
}

impl Default for Browser {
    fn default() -> Self {
        Self {
            path: None,
            bubblewrap: None,
            cdp_url: None,
            egress_listen: None,
            egress_host: None,
            egress_allowed_networks: Vec::new(),
            concurrency: 8,
            pages_per_process: 500,
            memory_bytes: 2 * 1024 * 1024 * 1024,
            page_memory_bytes: 1024 * 1024 * 1024,
            max_memory_bytes: None,
            idle_shutdown_s: 120,
            blocklists: Vec::new(),
        }
    }
}

impl Default for Cache {
    fn default() -> Self {
        Self { max_bytes: 1024 * 1024 * 1024, max_age_days: 30, output_memory_bytes: 32 * 1024 * 1024 }
    }
}

impl Default for Artifacts {
    fn default() -> Self {
        Self { path: None, max_bytes: 1024 * 1024 * 1024, max_age_hours: 24, s3: None }
    }
}

impl Default for Usage {
    fn default() -> Self {
        let UsageLimits { log_rows, log_days, daily_days, feedback_days } = UsageLimits::default();
        Self { log_rows, log_days, daily_days, feedback_days }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests_per_minute: None,
            concurrency: None,
            total_concurrency: NonZeroUsize::new(256).unwrap_or(NonZeroUsize::MIN),
            queue_len: 1024,
            queue_wait_ms: 2_000,
            search_concurrency: None,
            overload_target_ms: 800,
            overload_interval_ms: 5_000,
        }
    }
}
