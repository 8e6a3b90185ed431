//! The whole service on one directory, for programs that embed it: what `websvc serve` puts together, with its defaults.

use std::fs::{File, OpenOptions, TryLockError};
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use tokio::task::JoinError;
use websvc_artifacts::{ArtifactError, Artifacts, ArtifactsConfig};
use websvc_engine::{Engine, EngineConfig, IndexMode, IndexSource, Pricing, TeamIndexes};
use websvc_index::{Index, IndexConfig, IndexError};
use websvc_jobs::{Jobs, JobsConfig};
use websvc_model::Model;
use websvc_scrape::{DEFAULT_USER_AGENT, ScrapeConfig, Scraper};
use websvc_store::{Store, StoreError};
use websvc_threat::Classifier;
use websvc_transport::{
    AddressGuard, Client, ClientBuildError, ClientConfig, Server, ServerConfig, ServerError, ShutdownReport,
};

use crate::admission::AdmissionLimits;
use crate::authenticate::Authentication;
use crate::public_url::PublicUrlConfig;
use crate::service::{Service, ServiceConfig};

/// Which process may write a data directory is settled by who holds the lock of this file in it, as in `websvc serve`.
const LOCK_FILE: &str = "lock";

/// Where uploads are while they arrive, in the data directory.
const UPLOADS_DIR: &str = "uploads";

/// How long pages stay in the cache: 30 days.
const CACHE_MAX_AGE: Duration = Duration::from_secs(30 * 86_400);

/// What an embedded service is told. It has no place for audit events: whoever wants them builds a [`Service`].
#[derive(Debug, Clone)]
pub struct EmbeddedServerConfig {
    /// Where the index, the keys and the page cache are kept; made when it does not exist.
    pub data_dir: PathBuf,
    /// Where and how the service listens.
    pub server: ServerConfig,
    /// Whether callers have to show a key.
    pub authentication: Authentication,
    /// Which addresses pages may be fetched from.
    pub guard: AddressGuard,
    /// The bounds of fetching and of the page cache. It has no browser and no readers of documents unless they are given.
    pub scrape: ScrapeConfig,
    /// Where files that expire are kept; in the data directory when it is not said.
    pub artifacts: Option<ArtifactsConfig>,
    /// Where callers reach the service, if requests do not say so.
    pub public_url: Option<url::Url>,
    /// The price list.
    pub pricing: Pricing,
    /// How much is worked on.
    pub limits: AdmissionLimits,
    /// The bounds of what goes on after its request was answered.
    pub jobs: JobsConfig,
    /// What tells the risk of URLs for teams with threat protection; without a scanner their lists alone decide.
    ///
    /// ```
    /// use websvc_server::EmbeddedServerConfig;
    /// use websvc_server::threat::{Classifier, ClassifierConfig, Scanner};
    /// use websvc_transport::{AddressGuard, Client, ClientConfig};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // The scanner is the operator's own choice: its client may reach it wherever it is, that of pages may not.
    /// let client = Client::new(ClientConfig::new(AddressGuard::open()))?;
    /// let scanner = Scanner::http(client, "http://127.0.0.1:8080/scan".parse()?, Some("its key"))?;
    /// let mut config = EmbeddedServerConfig::new("/var/lib/my-program/search");
    /// config.threat = Classifier::new(scanner, ClassifierConfig::default());
    /// assert!(config.threat.has_scanner());
    /// # Ok(())
    /// # }
    /// ```
    pub threat: Classifier,
    /// The language model; without one, rules do what they can and the rest is left out with a warning.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use websvc_server::EmbeddedServerConfig;
    /// use websvc_server::model::{OpenAi, OpenAiConfig};
    /// use websvc_transport::{AddressGuard, Client, ClientConfig};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let client = Client::new(ClientConfig::new(AddressGuard::open()))?;
    /// let mut endpoint = OpenAiConfig::new(client, "http://127.0.0.1:8000/v1".parse()?);
    /// endpoint.model = Some("qwen3-8b".to_owned());
    /// let mut config = EmbeddedServerConfig::new("/var/lib/my-program/search");
    /// config.model = Some(Arc::new(OpenAi::new(endpoint)?));
    /// # Ok(())
    /// # }
    /// ```
    pub model: Option<Arc<dyn Model>>,
}

impl EmbeddedServerConfig {
    /// Returns the defaults of `websvc serve` on a free port of 127.0.0.1: a key is required, and only pages of
    /// public addresses are fetched.
    #[must_use]
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        let mut scrape = ScrapeConfig::default();
        scrape.cache.max_age = CACHE_MAX_AGE;
        Self {
            data_dir: data_dir.into(),
            server: ServerConfig::new("127.0.0.1:0"),
            authentication: Authentication::Required,
            guard: AddressGuard::public(),
            scrape,
            artifacts: None,
            public_url: None,
            pricing: Pricing::default(),
            limits: AdmissionLimits::default(),
            jobs: JobsConfig::default(),
            threat: Classifier::none(),
            model: None,
        }
    }
}

/// Why an embedded service could not start or stop.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// The data directory cannot be made or used.
    #[error("cannot use the data directory {}", dir.display())]
    Directory {
        /// The directory.
        dir: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another service writes to the data directory.
    #[error("the data directory {} is in use by another websvc", dir.display())]
    InUse {
        /// The directory.
        dir: PathBuf,
    },
    /// The keys or the page cache cannot be used.
    #[error("the store failed")]
    Store(#[from] StoreError),
    /// The files that expire cannot be kept.
    #[error("the artifacts failed")]
    Artifacts(#[from] ArtifactError),
    /// The index cannot be used.
    #[error("the index failed")]
    Index(#[from] IndexError),
    /// The client that fetches pages cannot be made.
    #[error("the http client could not be made")]
    Client(#[from] ClientBuildError),
    /// The address cannot be listened on.
    #[error("the server could not be started")]
    Server(#[from] ServerError),
    /// The runtime is shutting down.
    #[error("the runtime is shutting down")]
    Stopping(#[source] JoinError),
}

/// A service that is bound to its address; it answers while [`run`](Self::run) does.
///
/// ```no_run
/// # async fn example() -> Result<(), websvc_server::EmbedError> {
/// use websvc_server::{EmbeddedServer, EmbeddedServerConfig};
///
/// let service = EmbeddedServer::bind(EmbeddedServerConfig::new("/var/lib/my-program/search")).await?;
/// let key = service.create_key("default", "my program").await?;
/// println!("ask {} with {key}", service.url());
/// service.run(std::future::pending()).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct EmbeddedServer {
    server: Server,
    service: Service,
    engine: Engine,
    parts: EmbeddedStores,
}

/// What is on disk.
#[derive(Debug)]
struct EmbeddedStores {
    store: Store,
    artifacts: Artifacts,
    index: Arc<Index>,
    team_indexes: Arc<TeamIndexes>,
    /// Held, not read: the right to write, which the system takes back however the process ends.
    _lock: File,
}

impl EmbeddedServer {
    /// Opens the data directory and binds the address.
    ///
    /// # Errors
    /// [`EmbedError`]
    pub async fn bind(config: EmbeddedServerConfig) -> Result<Self, EmbedError> {
        let EmbeddedServerConfig {
            data_dir,
            server,
            authentication,
            guard,
            scrape,
            artifacts,
            public_url,
            pricing,
            limits,
            jobs,
            threat,
            model,
        } = config;
        let uploads = data_dir.join(UPLOADS_DIR);
        let parts = blocking(move || EmbeddedStores::open(&data_dir, artifacts)).await?;
        let client = ClientConfig {
            user_agent: Some(HeaderValue::from_static(DEFAULT_USER_AGENT)),
            ..ClientConfig::new(guard)
        };
        let engine = Engine::new(EngineConfig {
            sources: vec![Arc::new(IndexSource::new(Arc::clone(&parts.index)))],
            scraper: Scraper::new(Client::new(client)?, parts.store.clone(), scrape),
            index: Some(Arc::clone(&parts.index)),
            index_mode: IndexMode::Write,
            team_indexes: Some(Arc::clone(&parts.team_indexes)),
            mirrors: Vec::new(),
            pricing,
            threat,
            model,
        });
        let scheme = if server.tls.is_some() { "https" } else { "http" };
        let jobs = Jobs::new(&engine, parts.store.clone(), parts.artifacts.clone(), jobs);
        let server = Server::bind(server.with_error_reply(Service::error_reply)).await?;
        let service = Service::new(ServiceConfig {
            engine: engine.clone(),
            jobs,
            store: parts.store.clone(),
            artifacts: parts.artifacts.clone(),
            uploads,
            origin: PublicUrlConfig { public_url, scheme, trusted_proxies: Vec::new() },
            authentication,
            open_metrics: server.local_addr().ip().is_loopback(),
            limits,
            traces: None,
            audit: None,
        });
        Ok(Self { server, service, engine, parts })
    }

    /// Returns the address as a URL, such as `http://127.0.0.1:3002`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}://{}", self.server.scheme(), self.server.local_addr())
    }

    /// Makes a key of a team, and the team if it does not exist. Only its hash is kept.
    ///
    /// # Errors
    /// [`EmbedError::Store`]
    pub async fn create_key(&self, team: &str, label: &str) -> Result<String, EmbedError> {
        let (store, team, label) = (self.parts.store.clone(), team.to_owned(), label.to_owned());
        blocking(move || Ok(store.create_key(&team, &label)?.secret.expose().to_owned())).await
    }

    /// Serves until `stop` is ready, finishes what is in work and closes the index.
    ///
    /// # Errors
    /// [`EmbedError::Index`] when documents that were accepted could not be written.
    pub async fn run(self, stop: impl Future<Output = ()> + Send) -> Result<ShutdownReport, EmbedError> {
        let Self { server, service, engine, parts } = self;
        let told = service.clone();
        let stop = async move {
            stop.await;
            told.stop();
        };
        let jobs = service.jobs().clone();
        let handler = move |request| {
            let service = service.clone();
            async move { service.handle(request).await }
        };
        let drained = tokio::select! {
            drained = server.run(handler, stop) => drained?,
            never = parts.artifacts.sweep_periodically() => match never {},
            never = jobs.run() => match never {},
            never = engine.sweep_deleted_teams() => match never {},
        };
        blocking(move || Ok(parts.index.flush().and(parts.team_indexes.flush())?)).await?;
        Ok(drained)
    }
}

impl EmbeddedStores {
    fn open(data_dir: &Path, artifacts: Option<ArtifactsConfig>) -> Result<Self, EmbedError> {
        let lock = lock(data_dir)?;
        let store = Store::open(data_dir)?;
        let shelf = artifacts.unwrap_or_else(|| ArtifactsConfig::in_directory(data_dir.join("artifacts")));
        let artifacts = Artifacts::open(store.clone(), shelf)?;
        let dir = data_dir.join("index");
        let index = Arc::new(Index::open(&dir, IndexConfig::default())?);
        index.recover()?;
        let team_indexes = Arc::new(TeamIndexes::new(&dir, IndexConfig::default(), true));
        Ok(Self { store, artifacts, index, team_indexes, _lock: lock })
    }
}

fn lock(data_dir: &Path) -> Result<File, EmbedError> {
    let failed = |source| EmbedError::Directory { dir: data_dir.to_owned(), source };
    create_private(data_dir).map_err(failed)?;
    let file = OpenOptions::new().create(true).write(true).truncate(false).open(data_dir.join(LOCK_FILE));
    let file = file.map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(EmbedError::InUse { dir: data_dir.to_owned() }),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}

/// Makes a directory that only its owner can enter: it holds what was asked and read.
fn create_private(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, EmbedError> + Send + 'static,
) -> Result<T, EmbedError> {
    tokio::task::spawn_blocking(work).await.map_err(EmbedError::Stopping)?
}
