//! Services with a common database on the PostgreSQL server that the environment variable `WEBSVC_TEST_REPLICAS` names.

use http::header::HeaderName;
use http::{HeaderValue, Method};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_postgres::NoTls;
use websvc_artifacts::{Artifacts, ArtifactsConfig};
use websvc_engine::{Engine, EngineConfig, IndexMode, Pricing};
use websvc_scrape::{ScrapeConfig, Scraper};
use websvc_server::threat::Classifier;
use websvc_server::{
    AdmissionLimits, Announcement, Authentication, Jobs, JobsConfig, MonitorsConfig, PublicUrlConfig,
    ReplicaConfig, RunsConfig, Service, ServiceConfig, SessionsConfig,
};
use websvc_store::{DatabaseUrl, Store};
use websvc_testkit::{TestWeb, skip};
use websvc_transport::{
    AddressGuard, Client, ClientConfig, FetchRequest, FetchResponse, Server, ServerConfig,
};

const VARIABLE: &str = "WEBSVC_TEST_REPLICAS";

/// A schema of its own on the server.
pub(super) struct TestDatabase {
    server: String,
    schema: String,
}

impl TestDatabase {
    /// Creates the schema; `None` if there is no server, then the test is skipped.
    pub(super) async fn create() -> Option<Self> {
        let Some(server) = std::env::var(VARIABLE).ok().filter(|url| !url.is_empty()) else {
            skip(&format!("{VARIABLE} is not set (cargo xtask test)"));
            return None;
        };
        let database = Self { server, schema: format!("test_{}", uuid::Uuid::new_v4().simple()) };
        database.number(&format!("CREATE SCHEMA {}; SELECT 0", database.schema)).await;
        Some(database)
    }

    /// Executes statements, and returns the number that the last one selects.
    pub(super) async fn number(&self, sql: &str) -> u64 {
        self.text(sql).await.parse().unwrap()
    }

    /// Executes statements, and returns the text that the last one selects.
    pub(super) async fn text(&self, sql: &str) -> String {
        let config: tokio_postgres::Config = self.server.parse().unwrap();
        let url = DatabaseUrl::parse(&self.server).unwrap();
        let (host, port) = &url.hosts()[0];
        let stream = TcpStream::connect(format!("{host}:{port}")).await.unwrap();
        let (client, connection) = config.connect_raw(stream, NoTls).await.unwrap();
        let connection = tokio::spawn(connection);
        let sql = format!("SET search_path TO {}; {sql}", self.schema);
        let messages = client.simple_query(&sql).await.unwrap();
        let text = messages.iter().rev().find_map(|message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        });
        drop(client);
        connection.await.unwrap().unwrap();
        text.unwrap()
    }

    pub(super) fn open(&self, dir: &TempDir) -> Store {
        let url = format!("{}?options=-csearch_path%3D{}", self.server, self.schema);
        let url = DatabaseUrl::parse(&url).unwrap();
        let guard = url.hosts().iter().fold(AddressGuard::public(), |guard, (host, port)| {
            let address = format!("{host}:{port}");
            guard.connect_to(&address, &address).unwrap()
        });
        Store::connect(&url, Client::new(ClientConfig::new(guard)).unwrap(), dir.path()).unwrap()
    }
}

/// A running service, with a data directory of its own.
pub(super) struct Replica {
    pub(super) store: Store,
    pub(super) url: String,
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
    _dir: TempDir,
}

impl Replica {
    /// Starts a service that fetches pages from `web`.
    pub(super) async fn start(database: &TestDatabase, web: &TestWeb) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = database.open(&dir);
        let server = Server::bind(ServerConfig::new("127.0.0.1:0")).await.unwrap();
        let url = format!("http://{}", server.local_addr());
        let service = service(&store, web, &dir, &url);
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn(async move {
            let handler = move |request| {
                let service = service.clone();
                async move { service.handle(request).await }
            };
            let stopped = async move { stopped.await.unwrap_or_default() };
            server.run(handler, stopped).await.unwrap();
        });
        Self { store, url, stop, running, _dir: dir }
    }

    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<serde_json::Value>,
    ) -> FetchResponse {
        self.client().send(method, path, headers, body).await
    }

    /// Returns a client of the service, for tasks.
    pub(super) fn client(&self) -> ReplicaClient {
        let client = Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
        ReplicaClient { url: self.url.clone(), client }
    }

    pub(super) async fn shut_down(self) {
        self.stop.send(()).unwrap();
        self.running.await.unwrap();
    }
}

/// A client of a service.
pub(super) struct ReplicaClient {
    url: String,
    client: Client,
}

impl ReplicaClient {
    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<serde_json::Value>,
    ) -> FetchResponse {
        let mut request =
            FetchRequest { method, ..FetchRequest::get(format!("{}{path}", self.url).parse().unwrap()) };
        for (name, value) in headers {
            request
                .headers
                .insert(name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap());
        }
        request.body = body.map(|body| body.to_string().into());
        self.client.fetch(request).await.unwrap()
    }
}

fn service(store: &Store, web: &TestWeb, dir: &TempDir, url: &str) -> Service {
    let replica = ReplicaConfig::new(Announcement::Url(url.parse().unwrap()), None).unwrap();
    let artifacts = ArtifactsConfig::in_directory(dir.path().join("artifacts"));
    let artifacts = Artifacts::open(store.clone(), artifacts).unwrap();
    let engine = Engine::new(EngineConfig {
        sources: Vec::new(),
        scraper: Scraper::new(web.client(), store.clone(), ScrapeConfig::default()),
        index: None,
        index_mode: IndexMode::Write,
        team_indexes: None,
        mirrors: Vec::new(),
        pricing: Pricing::default(),
        snapshots: websvc_store::SnapshotLimits::default(),
        threat: Classifier::none(),
        model: None,
        media: websvc_engine::MediaTools::Off,
    });
    Service::new(ServiceConfig {
        jobs: Jobs::new(&engine, store.clone(), artifacts.clone(), JobsConfig::default()),
        engine,
        monitors: MonitorsConfig::default(),
        runs: RunsConfig::default(),
        browser_sessions: SessionsConfig::default(),
        replica: Some(replica),
        store: store.clone(),
        artifacts,
        uploads_dir: dir.path().join("uploads"),
        public_url: PublicUrlConfig { public_url: None, scheme: "http", trusted_proxies: Vec::new() },
        authentication: Authentication::Required,
        oauth: None,
        oidc: None,
        open_metrics: true,
        limits: AdmissionLimits::default(),
        traces: None,
        audit: None,
    })
}
