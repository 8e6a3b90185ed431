//! The configuration: one TOML file, every key of which an environment variable can give.
//!
//! The names of sections and keys are part of the operator's contract; `docs/configuration.md` lists them
//! with their defaults.

mod audit;
mod jobs;
mod keys;
mod llm;
mod origins;
mod search;
mod sources;
mod telemetry;
mod threat;
mod webhooks;

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use serde::Deserialize;
use websvc_store::UsageLimits;

pub(crate) use audit::Audit;
pub(crate) use jobs::Jobs;
pub(crate) use llm::Llm;
pub(crate) use origins::Origins;
pub(crate) use search::{Elasticsearch, HttpJson, Provider, Search, Searxng, Source};
pub(crate) use sources::{ConfigError, load};
pub(crate) use telemetry::{Log, LogFormat, Traces};
pub(crate) use threat::{ScannerKind, Threat};
pub(crate) use webhooks::Webhooks;

/// Everything an operator can set.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) server: Server,
    pub(crate) auth: Auth,
    pub(crate) fetch: Fetch,
    pub(crate) search: Search,
    pub(crate) cache: Cache,
    pub(crate) artifacts: Artifacts,
    pub(crate) browser: Browser,
    pub(crate) proxy: Proxy,
    pub(crate) limits: Limits,
    pub(crate) threat: Threat,
    pub(crate) llm: Llm,
    pub(crate) audit: Audit,
    pub(crate) pricing: websvc_engine::Pricing,
    pub(crate) usage: Usage,
    pub(crate) jobs: Jobs,
    pub(crate) webhooks: Webhooks,
    pub(crate) log: Log,
    pub(crate) traces: Traces,
    /// Keys that were given and have no effect, for want of their feature.
    #[serde(skip)]
    pub(crate) not_yet: Vec<String>,
    /// Variables without effect that look like others, with those.
    #[serde(skip)]
    pub(crate) misspelt: Vec<(String, String)>,
    /// Source of each key: a line of the file or a variable.
    #[serde(skip)]
    pub(crate) origins: Origins,
}

/// `[server]`: where and how the service listens.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Server {
    /// `host:port`; port 0 picks a free one.
    pub(crate) listen: String,
    /// Separate `host:port` that answers `/metrics` without a key.
    pub(crate) metrics_listen: Option<String>,
    /// Base URL for callers, if it differs from the listen address.
    pub(crate) public_url: Option<String>,
    /// Networks whose `X-Forwarded-*` headers are believed.
    pub(crate) trusted_proxies: Vec<String>,
    pub(crate) tls: Option<Tls>,
    pub(crate) max_connections: usize,
    pub(crate) drain_timeout_ms: u64,
}

/// `[server.tls]`: PEM files; they are read again when they change.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tls {
    pub(crate) cert: PathBuf,
    pub(crate) key: PathBuf,
}

/// `[auth]`: who may call.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Auth {
    pub(crate) required: bool,
}

/// `[fetch]`: how pages are reached.
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

/// `[proxy]`: the ways to pages; without any, pages are fetched directly.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Proxy {
    pub(crate) basic: Vec<String>,
    pub(crate) enhanced: Vec<String>,
    /// By ISO 3166-1 alpha-2 in upper case.
    pub(crate) by_country: BTreeMap<String, Vec<String>>,
}

/// `[browser]`: the Chromium that draws pages.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Browser {
    /// The program; looked for where systems put it when there is none.
    pub(crate) path: Option<PathBuf>,
    /// A Chromium that somebody else runs; its address may hold secrets.
    pub(crate) cdp_url: Option<String>,
    /// The address that the proxies of a remote browser's pages listen on.
    pub(crate) egress_listen: Option<String>,
    /// Host name by which the remote browser reaches that address.
    pub(crate) egress_host: Option<String>,
    /// Networks that may use these proxies.
    pub(crate) egress_from: Vec<String>,
    /// Pages open at one time; with 0 there is no browser.
    pub(crate) concurrency: usize,
    pub(crate) pages_per_process: u64,
    pub(crate) memory_bytes: u64,
    pub(crate) page_memory_bytes: u64,
    /// One and a half times `memory_bytes`, when it is not given.
    pub(crate) max_memory_bytes: Option<u64>,
    pub(crate) idle_shutdown_s: u64,
    /// Lists of advertising beside the bundled one, which `websvc lists update` fetches.
    pub(crate) lists: Vec<String>,
}

/// `[cache]`: bounds of the page cache.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Cache {
    pub(crate) max_bytes: u64,
    pub(crate) max_age_days: u64,
    pub(crate) memory_bytes: u64,
}

/// `[artifacts]`: files that requests leave behind and that expire.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Artifacts {
    /// In the data directory, when it is not given.
    pub(crate) path: Option<PathBuf>,
    pub(crate) max_bytes: u64,
    pub(crate) max_age_hours: u64,
    pub(crate) s3: Option<S3>,
}

/// `[artifacts.s3]`: a bucket in place of the directory.
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

impl fmt::Debug for S3 {
    /// Leaves out the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3").field("bucket", &self.bucket).finish_non_exhaustive()
    }
}

/// `[limits]`: bounds of the work done, of teams of which nothing else is said and of all together.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Limits {
    pub(crate) requests_per_minute: Option<u32>,
    pub(crate) concurrency: Option<u32>,
    pub(crate) total_concurrency: NonZeroUsize,
    pub(crate) queue: usize,
    pub(crate) queue_wait_ms: u64,
    /// Requests that compute at one time; as many as there are processors when it is not said.
    pub(crate) processors: Option<NonZeroUsize>,
    pub(crate) overload_wait_ms: u64,
    pub(crate) overload_after_ms: u64,
}

/// `[usage]`: how long is kept what teams used.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Usage {
    /// Requests in the log; with 0 there is none.
    pub(crate) log_rows: u64,
    pub(crate) log_days: u64,
    /// The sums of a day.
    pub(crate) daily_days: u64,
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
        Self { required: true }
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
            cdp_url: None,
            egress_listen: None,
            egress_host: None,
            egress_from: Vec::new(),
            concurrency: 8,
            pages_per_process: 500,
            memory_bytes: 2 * 1024 * 1024 * 1024,
            page_memory_bytes: 1024 * 1024 * 1024,
            max_memory_bytes: None,
            idle_shutdown_s: 120,
            lists: Vec::new(),
        }
    }
}

impl Default for Cache {
    fn default() -> Self {
        Self { max_bytes: 1024 * 1024 * 1024, max_age_days: 30, memory_bytes: 32 * 1024 * 1024 }
    }
}

impl Default for Artifacts {
    fn default() -> Self {
        Self { path: None, max_bytes: 1024 * 1024 * 1024, max_age_hours: 24, s3: None }
    }
}

impl Default for Usage {
    fn default() -> Self {
        let UsageLimits { log_rows, log_days, daily_days } = UsageLimits::default();
        Self { log_rows, log_days, daily_days }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests_per_minute: None,
            concurrency: None,
            total_concurrency: NonZeroUsize::new(256).unwrap_or(NonZeroUsize::MIN),
            queue: 1024,
            queue_wait_ms: 2_000,
            processors: None,
            overload_wait_ms: 800,
            overload_after_ms: 5_000,
        }
    }
}
