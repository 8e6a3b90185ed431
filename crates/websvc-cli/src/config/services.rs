//! External services and programs: the database, replicas, language models, mail, URL scanner, media tools, interpreters,
//! audit sinks, logs and traces.

use std::collections::BTreeMap;
use std::num::{NonZeroU16, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

use serde::Deserialize;
use websvc_notify::MailTls;
use websvc_server::SessionsConfig;
use websvc_server::session::DEFAULT_INTERPRETER_MEMORY_BYTES;

/// `[store]`: where teams, keys, credits, jobs and cached pages are stored. Without `url`, in a SQLite file in the data
/// directory.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Store {
    /// URL of a PostgreSQL server, which usually contains a password.
    pub(crate) url: Option<String>,
    /// PEM file with trust anchors for the server, in addition to those of the system.
    pub(crate) ca_file: Option<PathBuf>,
}

/// `[replica]`: how the other replicas reach this one, for requests that only it can answer.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Replica {
    /// Host name or IP address, and optionally a port. Without a port, that of the listener.
    pub(crate) address: Option<String>,
    /// PEM file with trust anchors for the listeners of replicas, in addition to those of the system.
    pub(crate) ca_file: Option<PathBuf>,
}

/// `[llm]`: an OpenAI-compatible endpoint, and others for when it fails. Without `base_url` there is none.
#[derive(Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Llm {
    /// Base URL, which usually ends in `/v1`. Its query is a part of every request.
    pub(crate) base_url: Option<String>,
    pub(crate) api_key: Option<String>,
    /// Headers of every request.
    pub(crate) headers: BTreeMap<String, String>,
    /// Model that generates text.
    pub(crate) model: Option<String>,
    /// Models of single features.
    pub(crate) models: BTreeMap<String, String>,
    /// Model that reranks texts.
    pub(crate) rerank_model: Option<String>,
    /// `reasoning_effort` of requests.
    pub(crate) reasoning_effort: Option<String>,
    /// Temperature, 0 to 2.
    pub(crate) temperature: f64,
    pub(crate) seed: Option<u32>,
    /// Additional parameters of the body of completions.
    pub(crate) extra_body: toml::Table,
    pub(crate) timeout_ms: u64,
    pub(crate) concurrency: usize,
    pub(crate) max_input_chars: usize,
    /// Context of the server, in tokens.
    pub(crate) context_tokens: Option<u32>,
    /// Upper bound for the length of any response, in tokens.
    pub(crate) max_output_tokens: Option<u32>,
    /// `[[llm.fallback]]`: the endpoints after this one, with the same keys, except for this one.
    pub(crate) fallback: Vec<Self>,
    /// Several formats of a page share one request.
    pub(crate) combine: bool,
}

impl Default for Llm {
    fn default() -> Self {
        Self {
            base_url: None,
            api_key: None,
            headers: BTreeMap::new(),
            model: None,
            models: BTreeMap::new(),
            rerank_model: None,
            reasoning_effort: None,
            temperature: 0.0,
            seed: None,
            extra_body: toml::Table::new(),
            timeout_ms: 120_000,
            concurrency: 4,
            max_input_chars: 48_000,
            context_tokens: None,
            max_output_tokens: None,
            fallback: Vec::new(),
            combine: false,
        }
    }
}

/// `[mail]`: the mail server that emails are submitted to. Without `host` there is none.
#[derive(Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Mail {
    /// Name or address of the server.
    pub(crate) host: Option<String>,
    /// Port. If unset, that of the encryption: 587, 465 or 25.
    pub(crate) port: Option<NonZeroU16>,
    /// Encryption. If unset, that of the port: `implicit` for 465, otherwise `starttls`.
    pub(crate) tls: Option<MailEncryption>,
    pub(crate) user: Option<String>,
    pub(crate) password: Option<String>,
    /// Sender of all emails, with or without a name.
    pub(crate) from: Option<String>,
    pub(crate) timeout_ms: NonZeroU64,
    /// Certificates to trust in addition to those of the system.
    pub(crate) ca_file: Option<PathBuf>,
}

/// The encryption of connections to the mail server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MailEncryption {
    /// None, for a server on this machine.
    None,
    /// `STARTTLS`, which the server must offer.
    StartTls,
    /// TLS from the start.
    Implicit,
}

impl From<MailEncryption> for MailTls {
    fn from(encryption: MailEncryption) -> Self {
        match encryption {
            MailEncryption::None => Self::None,
            MailEncryption::StartTls => Self::StartTls,
            MailEncryption::Implicit => Self::Implicit,
        }
    }
}

impl Default for Mail {
    fn default() -> Self {
        Self {
            host: None,
            port: None,
            tls: None,
            user: None,
            password: None,
            from: None,
            timeout_ms: NonZeroU64::new(30_000).unwrap_or(NonZeroU64::MIN),
            ca_file: None,
        }
    }
}

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

/// `[media]`: the tools for the formats `audio` and `video`. Without `yt_dlp` there are none.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Media {
    /// Program yt-dlp.
    pub(crate) yt_dlp: Option<PathBuf>,
    /// Program ffmpeg; ffprobe is in the same directory.
    pub(crate) ffmpeg: PathBuf,
    /// Program that runs them in a sandbox; without it, that of `[interact]`.
    pub(crate) bubblewrap: Option<PathBuf>,
    /// Maximum size of a file.
    pub(crate) max_bytes: NonZeroU64,
    /// Maximum duration of a medium that states it, in seconds.
    pub(crate) max_duration_s: NonZeroU64,
    /// Maximum time of a download, in seconds.
    pub(crate) timeout_s: NonZeroU64,
    /// Maximum number of downloads at the same time; one team has at most one.
    pub(crate) max_downloads: NonZeroUsize,
    /// Maximum memory of the processes of a download together.
    pub(crate) max_memory_bytes: NonZeroU64,
}

impl Default for Media {
    fn default() -> Self {
        let number = |value| NonZeroU64::new(value).unwrap_or(NonZeroU64::MIN);
        Self {
            yt_dlp: None,
            ffmpeg: "/usr/bin/ffmpeg".into(),
            bubblewrap: None,
            max_bytes: number(100 * 1024 * 1024),
            max_duration_s: number(3_600),
            timeout_s: number(240),
            max_downloads: NonZeroUsize::new(2).unwrap_or(NonZeroUsize::MIN),
            max_memory_bytes: number(1024 * 1024 * 1024),
        }
    }
}

/// `[interact]`: limits of browser sessions.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Interact {
    /// Maximum number of active sessions. With 0 there are none.
    pub(crate) max_sessions: usize,
    /// Maximum number of active sessions of one team.
    pub(crate) max_sessions_per_team: NonZeroU64,
    /// Maximum time in which a session opens its first page, in seconds.
    pub(crate) open_timeout_s: NonZeroU64,
    /// Program that runs interpreters in a sandbox. Without it, there are none.
    pub(crate) bubblewrap: Option<PathBuf>,
    pub(crate) interpreters: Interpreters,
}

/// `[interact.interpreters]`: programs that run the code of sessions instead of the embedded engine.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Interpreters {
    /// Python with the package playwright.
    pub(crate) python: Option<PathBuf>,
    pub(crate) node: Option<PathBuf>,
    /// Folder of the npm package playwright-core, which `node` requires.
    pub(crate) node_library: Option<PathBuf>,
    pub(crate) bash: Option<PathBuf>,
    /// Maximum memory of the processes of a program together.
    pub(crate) max_memory_bytes: NonZeroU64,
}

impl Default for Interact {
    fn default() -> Self {
        let SessionsConfig { max_sessions, max_sessions_per_team, open_timeout, runner: _ } =
            SessionsConfig::default();
        Self {
            max_sessions,
            max_sessions_per_team: NonZeroU64::new(max_sessions_per_team).unwrap_or(NonZeroU64::MIN),
            open_timeout_s: NonZeroU64::new(open_timeout.as_secs()).unwrap_or(NonZeroU64::MIN),
            bubblewrap: None,
            interpreters: Interpreters::default(),
        }
    }
}

impl Default for Interpreters {
    fn default() -> Self {
        Self {
            python: None,
            node: None,
            node_library: None,
            bash: None,
            max_memory_bytes: NonZeroU64::new(DEFAULT_INTERPRETER_MEMORY_BYTES).unwrap_or(NonZeroU64::MIN),
        }
    }
}

/// `[audit]`: the sinks and the spool in front of them.
#[derive(Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Audit {
    /// File of JSON lines.
    pub(crate) file: Option<PathBuf>,
    /// `udp://`, `tcp://`, `tls://`, or the path of a socket.
    pub(crate) syslog: Option<String>,
    /// URL that batches are posted to. It may contain secrets.
    pub(crate) webhook: Option<String>,
    /// Key that signs batches.
    pub(crate) webhook_secret: Option<String>,
    /// Maximum size of the spool in bytes.
    pub(crate) max_bytes: u64,
}

impl Default for Audit {
    fn default() -> Self {
        Self { file: None, syslog: None, webhook: None, webhook_secret: None, max_bytes: 256 * 1024 * 1024 }
    }
}

/// `[log]`: the lines on stderr.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Log {
    /// Format of the lines. If unset, it depends on whether stderr is a terminal.
    pub(crate) format: Option<LogFormat>,
    /// Filter of log lines, such as `info` or `websvc_server=debug,warn`.
    pub(crate) filter: Option<String>,
}

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// One JSON object per line.
    Json,
    /// Text for people.
    Pretty,
}

/// `[traces]`: the export of spans. Unset keys are taken from the standard OpenTelemetry variables.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Traces {
    /// Base URL, to which `/v1/traces` is added. Without one, no traces are exported.
    pub(crate) endpoint: Option<String>,
    /// Headers that are sent with every batch.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) service_name: Option<String>,
    /// Name of the sampler, as in `OTEL_TRACES_SAMPLER`.
    pub(crate) sampler: Option<String>,
    /// Ratio of traces that are sent, 0 to 1, for the samplers with a ratio.
    pub(crate) ratio: Option<f64>,
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) queue: Option<usize>,
    pub(crate) batch: Option<usize>,
    pub(crate) delay_ms: Option<u64>,
}
