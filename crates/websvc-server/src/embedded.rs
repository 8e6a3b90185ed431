//! The whole service on one data directory, for programs that embed it, with the defaults of `websvc serve`.

use std::fs::{File, OpenOptions, TryLockError};
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use tokio::task::JoinError;
use websvc_artifacts::{ArtifactError, Artifacts, ArtifactsConfig};
use websvc_engine::{Engine, EngineConfig, IndexMode, IndexSource, MediaTools, Pricing, TeamIndexes};
use websvc_index::{Index, IndexConfig, IndexError};
use websvc_jobs::{Jobs, JobsConfig};
use websvc_model::Model;
use websvc_monitor::MonitorsConfig;
use websvc_runs::RunsConfig;
use websvc_scrape::threat::Classifier;
use websvc_scrape::{DEFAULT_USER_AGENT, ScrapeConfig, Scraper};
use websvc_session::SessionsConfig;
use websvc_store::{SnapshotLimits, Store, StoreError};
use websvc_transport::{
    AddressGuard, Client, ClientBuildError, ClientConfig, Server, ServerConfig, ServerError, ShutdownReport,
    spawn_blocking,
};

use crate::admission::AdmissionLimits;
use crate::authenticate::Authentication;
use crate::oauth::OauthIssuer;
use crate::oidc::Oidc;
use crate::public_url::PublicUrlConfig;
use crate::service::{Service, ServiceConfig};

/// The file in the data directory whose lock gives a process the right to write, as in `websvc serve`.
const LOCK_FILE: &str = "lock";

/// The directory of files that are being uploaded, in the data directory.
const UPLOADS_DIR: &str = "uploads";

/// The maximum age of cached pages: 30 days.
const CACHE_MAX_AGE: Duration = Duration::from_secs(30 * 86_400);

/// The settings of an embedded service. It writes no audit events; a program that needs them builds a [`Service`].
#[derive(Debug, Clone)]
pub struct EmbeddedServerConfig {
    /// The directory of the index, the keys and the page cache; created if it does not exist.
    pub data_dir: PathBuf,
    /// The address and the settings of the listener.
    pub server: ServerConfig,
    /// The rule for requests without a key.
    pub authentication: Authentication,
    /// The service as an authorization server for MCP clients; `None` turns OAuth off.
    pub oauth: Option<OauthIssuer>,
    /// The identity provider whose tokens and users are accepted; `None` if there is none.
    pub oidc: Option<Oidc>,
    /// The addresses from which pages may be fetched.
    pub guard: AddressGuard,
    /// The settings of fetches and of the page cache. Without further settings there is no browser and no document reader.
    pub scrape: ScrapeConfig,
    /// The storage of artifacts; `None` stores them in the data directory.
    pub artifacts: Option<ArtifactsConfig>,
    /// The URL under which callers reach the service; `None` takes it from the request.
    pub public_url: Option<url::Url>,
    /// The price list.
    pub pricing: Pricing,
    /// The limits of the versions of pages that are stored for the format `changeTracking`.
    pub snapshots: SnapshotLimits,
    /// The limits of concurrent requests and of requests per minute.
    pub limits: AdmissionLimits,
    /// The limits of jobs.
    pub jobs: JobsConfig,
    /// The limits of monitors.
    pub monitors: MonitorsConfig,
    /// The limits of agent runs.
    pub runs: RunsConfig,
    /// The limits of browser sessions.
    pub browser_sessions: SessionsConfig,
    /// The scanner that rates URLs for teams with threat protection. Without one, only the lists of the teams apply.
    ///
    /// ```
    /// use websvc_server::EmbeddedServerConfig;
    /// use websvc_server::threat::{Classifier, ClassifierConfig, Scanner};
    /// use websvc_transport::{AddressGuard, Client, ClientConfig};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // The operator chooses the scanner, so its client may connect to any address. The client for pages may not.
    /// let client = Client::new(ClientConfig::new(AddressGuard::open()))?;
    /// let scanner = Scanner::http(client, "http://127.0.0.1:8080/scan".parse()?, Some("its key"))?;
    /// let mut config = EmbeddedServerConfig::new("/var/lib/my-program/search");
    /// config.threat = Classifier::new(scanner, ClassifierConfig::default());
    /// assert!(config.threat.has_scanner());
    /// # Ok(())
    /// # }
    /// ```
    pub threat: Classifier,
    /// The language model. Without one, operations use rules where possible, or respond with a warning. For metrics, several
    /// endpoints, or models of single features, use a [`FailoverModel`](websvc_model::FailoverModel).
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
    /// Returns the defaults of `websvc serve` on a free port of 127.0.0.1: callers need a key, and pages are fetched only
    /// from public addresses.
    #[must_use]
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        let mut scrape = ScrapeConfig::default();
        scrape.cache.max_age = CACHE_MAX_AGE;
        Self {
            data_dir: data_dir.into(),
            server: ServerConfig::new("127.0.0.1:0"),
            authentication: Authentication::Required,
            oauth: None,
            oidc: None,
            guard: AddressGuard::public(),
            scrape,
            artifacts: None,
            public_url: None,
            pricing: Pricing::default(),
            snapshots: SnapshotLimits::default(),
            limits: AdmissionLimits::default(),
            jobs: JobsConfig::default(),
            monitors: MonitorsConfig::default(),
            runs: RunsConfig::default(),
            browser_sessions: SessionsConfig::default(),
            threat: Classifier::none(),
            model: None,
        }
    }
}

/// An error of starting or stopping an embedded service.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// The data directory cannot be created or used.
    #[error("cannot use the data directory {}", dir.display())]
    Directory {
        /// The directory.
        dir: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Another process has the right to write to the data directory.
    #[error("the data directory {} is in use by another websvc", dir.display())]
    InUse {
        /// The directory.
        dir: PathBuf,
    },
    /// The keys or the page cache cannot be used.
    #[error("the store failed")]
    Store(#[from] StoreError),
    /// The artifacts cannot be used.
    #[error("the directory of the artifacts cannot be used")]
    Artifacts(#[from] ArtifactError),
    /// The index cannot be used.
    #[error("the index cannot be opened")]
    Index(#[from] IndexError),
    /// The HTTP client for pages cannot be created.
    #[error("the HTTP client could not be created")]
    Client(#[from] ClientBuildError),
    /// The service cannot listen on its address.
    #[error("the server could not be started")]
    Server(#[from] ServerError),
    /// The runtime is shutting down.
    #[error("the runtime is shutting down")]
    Stopping(#[source] JoinError),
}

/// A service that is bound to its address. [`run`](Self::run) serves requests.
///
/// ```no_run
/// # async fn example() -> Result<(), websvc_server::EmbedError> {
/// use websvc_server::{EmbeddedServer, EmbeddedServerConfig};
///
/// let service = EmbeddedServer::bind(EmbeddedServerConfig::new("/var/lib/my-program/search")).await?;
/// let key = service.create_key("default", "my program").await?;
/// println!("{} accepts {key}", service.url());
/// service.run(std::future::pending()).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct EmbeddedServer {
    server: Server,
    service: Service,
    engine: Engine,
    stores: EmbeddedStores,
}

/// The data on the disk.
#[derive(Debug)]
struct EmbeddedStores {
    store: Store,
    artifacts: Artifacts,
    index: Arc<Index>,
    team_indexes: Arc<TeamIndexes>,
    /// The right to write. The system releases the lock when the process ends, in whatever way.
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
            oauth,
            oidc,
            guard,
            scrape,
            artifacts,
            public_url,
            pricing,
            snapshots,
            limits,
            jobs,
            monitors,
            runs,
            browser_sessions,
            threat,
            model,
        } = config;
        let uploads_dir = data_dir.join(UPLOADS_DIR);
        let stores = run_blocking(move || EmbeddedStores::open(&data_dir, artifacts)).await?;
        let client = ClientConfig {
            user_agent: Some(HeaderValue::from_static(DEFAULT_USER_AGENT)),
            ..ClientConfig::new(guard)
        };
        let engine = Engine::new(EngineConfig {
            sources: vec![Arc::new(IndexSource::new(Arc::clone(&stores.index)))],
            scraper: Scraper::new(Client::new(client)?, stores.store.clone(), scrape),
            index: Some(Arc::clone(&stores.index)),
            index_mode: IndexMode::Write,
            team_indexes: Some(Arc::clone(&stores.team_indexes)),
            mirrors: Vec::new(),
            pricing,
            snapshots,
            threat,
            model,
            media: MediaTools::Off,
        });
        let scheme = if server.tls.is_some() { "https" } else { "http" };
        let jobs = Jobs::new(&engine, stores.store.clone(), stores.artifacts.clone(), jobs);
        let server = Server::bind(server.with_error_reply(Service::error_reply)).await?;
        let service = Service::new(ServiceConfig {
            engine: engine.clone(),
            jobs,
            monitors,
            runs,
            browser_sessions,
            replica: None,
            store: stores.store.clone(),
            artifacts: stores.artifacts.clone(),
            uploads_dir,
            public_url: PublicUrlConfig { public_url, scheme, trusted_proxies: Vec::new() },
            authentication,
            oauth,
            oidc,
            open_metrics: server.local_addr().ip().is_loopback(),
            limits,
            traces: None,
            audit: None,
        });
        Ok(Self { server, service, engine, stores })
    }

    /// Returns the address as a URL, such as `http://127.0.0.1:3002`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}://{}", self.server.scheme(), self.server.local_addr())
    }

    /// Returns the service.
    #[cfg(test)]
    pub(crate) fn service(&self) -> &Service {
        &self.service
    }

    /// Creates a key of a team, and the team if it does not exist. Only the hash of the key is stored.
    ///
    /// # Errors
    /// [`EmbedError::Store`]
    pub async fn create_key(&self, team: &str, label: &str) -> Result<String, EmbedError> {
        let (store, team, label) = (self.stores.store.clone(), team.to_owned(), label.to_owned());
        run_blocking(move || Ok(store.create_key(&team, &label)?.secret.expose().to_owned())).await
    }

    #[cfg(test)]
    pub(crate) fn store(&self) -> &Store {
        &self.stores.store
    }

    /// Serves requests until `stop` is ready, then finishes the requests in flight and closes the index.
    ///
    /// # Errors
    /// [`EmbedError::Index`] if accepted documents could not be written.
    pub async fn run(self, stop: impl Future<Output = ()> + Send) -> Result<ShutdownReport, EmbedError> {
        let Self { server, service, engine, stores } = self;
        let stopping = service.clone();
        let stop = async move {
            stop.await;
            stopping.stop().await;
        };
        let (jobs, monitors) = (service.jobs().clone(), service.monitors().clone());
        let (runs, clock_service) = (service.runs().clone(), service.clone());
        let browser_sessions = service.browser_sessions().clone();
        service.prepare().await;
        let handler = move |request| {
            let service = service.clone();
            async move { service.handle(request).await }
        };
        let drained = tokio::select! {
            drained = server.run(handler, stop) => drained?,
            never = stores.artifacts.sweep_periodically() => match never {},
            never = jobs.run() => match never {},
            never = monitors.run() => match never {},
            never = runs.run() => match never {},
            never = engine.sweep_deleted_teams() => match never {},
            never = engine.sweep_page_snapshots() => match never {},
            never = clock_service.watch_clock() => match never {},
        };
        jobs.stop().await;
        browser_sessions.shut_down().await;
        run_blocking(move || Ok(stores.index.flush().and(stores.team_indexes.flush())?)).await?;
        Ok(drained)
    }
}

impl EmbeddedStores {
    fn open(data_dir: &Path, artifacts: Option<ArtifactsConfig>) -> Result<Self, EmbedError> {
        let lock = lock(data_dir)?;
        let store = Store::open(data_dir)?;
        let artifacts =
            artifacts.unwrap_or_else(|| ArtifactsConfig::in_directory(data_dir.join("artifacts")));
        let artifacts = Artifacts::open(store.clone(), artifacts)?;
        let dir = data_dir.join("index");
        let index = Arc::new(Index::open(&dir, IndexConfig::default())?);
        index.recover()?;
        let team_indexes = Arc::new(TeamIndexes::new(&dir, IndexConfig::default(), true));
        Ok(Self { store, artifacts, index, team_indexes, _lock: lock })
    }
}

/// Creates the data directory, and acquires the right to write to it.
fn lock(data_dir: &Path) -> Result<File, EmbedError> {
    let failed = |source| EmbedError::Directory { dir: data_dir.to_owned(), source };
    create_private_dir(data_dir).map_err(failed)?;
    let file = OpenOptions::new().create(true).write(true).truncate(false).open(data_dir.join(LOCK_FILE));
    let file = file.map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(EmbedError::InUse { dir: data_dir.to_owned() }),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}

/// Creates a directory that only its owner can access, because it contains queries and pages.
fn create_private_dir(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, EmbedError> + Send + 'static,
) -> Result<T, EmbedError> {
    spawn_blocking(work).await.map_err(EmbedError::Stopping)?
}
