//! The loopback web itself.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::HOST;
use http::{HeaderMap, Method, Request, Response};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use url::Url;
use websvc_transport::{
    AddressGuard, Body, BodyTimeout, Client, ClientConfig, Server, ServerBody, ServerConfig, TlsFiles,
};

use crate::authority::Authority;
use crate::files;
use crate::page::Page;
use crate::wait_for::until;

/// The largest request body a world takes.
const MAX_BODY: usize = 64 * 1024 * 1024;

/// One request that arrived.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    /// GET and so on.
    pub method: Method,
    /// The whole URL as the client meant it.
    pub url: String,
    /// All headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// When it arrived.
    pub at: Instant,
    /// How many requests of this host were under way then, itself among them: those that were not answered yet.
    pub at_once: usize,
}

impl ReceivedRequest {
    /// Returns a header as text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

type Answer = Arc<dyn Fn(&ReceivedRequest) -> Page + Send + Sync>;

/// Collects what the hosts of a world answer.
#[derive(Default)]
pub struct TestWebBuilder {
    /// By host and path with query, without the scheme.
    pages: HashMap<String, Answer>,
    directories: HashMap<String, PathBuf>,
    hosts: HashSet<String>,
}

/// A running loopback web; it ends when dropped.
pub struct TestWeb {
    http: SocketAddr,
    https: SocketAddr,
    authority: Authority,
    certificates: TempDir,
    seen: Arc<Mutex<Vec<ReceivedRequest>>>,
    tasks: Vec<JoinHandle<()>>,
}

impl TestWeb {
    /// Starts collecting pages.
    #[must_use]
    pub fn builder() -> TestWebBuilder {
        TestWebBuilder::default()
    }

    /// Returns the address that answers for every host over http.
    #[must_use]
    pub fn http_addr(&self) -> SocketAddr {
        self.http
    }

    /// Returns the address that answers over https.
    #[must_use]
    pub fn https_addr(&self) -> SocketAddr {
        self.https
    }

    /// Returns the rules that lead every host name to this world, as for the configuration's `connect_to`.
    #[must_use]
    pub fn connect_to(&self) -> Vec<(String, String)> {
        vec![("*:80".to_owned(), self.http.to_string()), ("*:443".to_owned(), self.https.to_string())]
    }

    /// Returns a guard for public addresses with these rules.
    ///
    /// # Panics
    /// Never: the rules are well formed.
    #[must_use]
    pub fn guard(&self) -> AddressGuard {
        self.connect_to().iter().fold(AddressGuard::public(), |guard, (from, to)| {
            guard.connect_to(from, to).expect("well formed rules")
        })
    }

    /// Returns a client that reaches this world over http, for crates that may not make one themselves.
    ///
    /// # Panics
    /// When the system's certificates cannot be read.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::new(ClientConfig::new(self.guard())).expect("a client needs nothing but certificates")
    }

    /// Returns the certificate authority of the https listener.
    #[must_use]
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// Returns a file that holds the authority's certificate, for the configuration's `ca_file`.
    #[must_use]
    pub fn ca_file(&self) -> PathBuf {
        self.certificates.path().join("ca.pem")
    }

    /// Returns every request since the start, in order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        lock(&self.seen).clone()
    }

    /// Returns how often a URL was requested.
    #[must_use]
    pub fn count(&self, url: &str) -> usize {
        lock(&self.seen).iter().filter(|seen| seen.url == url).count()
    }

    /// Waits until a URL was requested.
    ///
    /// # Panics
    /// When nobody asks for it within a minute.
    pub async fn asked(&self, url: &str) {
        until(&format!("{url} was requested"), || self.count(url) > 0).await;
    }

    /// Forgets the requests so far.
    pub fn forget(&self) {
        lock(&self.seen).clear();
    }
}

impl TestWebBuilder {
    /// Serves a page under an absolute URL such as `http://a.test/x`, over http and https alike. A URL without a query
    /// answers for every query that has no page of its own.
    ///
    /// # Panics
    /// When the URL is not absolute.
    #[must_use]
    pub fn page(self, url: &str, page: Page) -> Self {
        self.page_with(url, move |_| page.clone())
    }

    /// Serves what a function makes of each request.
    ///
    /// # Panics
    /// When the URL is not absolute.
    #[must_use]
    pub fn page_with(
        mut self,
        url: &str,
        answer: impl Fn(&ReceivedRequest) -> Page + Send + Sync + 'static,
    ) -> Self {
        let url = Url::parse(url).expect("an absolute URL");
        let host = url.host_str().expect("a URL with a host").to_owned();
        self.pages.insert(key(&host, url.path(), url.query()), Arc::new(answer));
        self.hosts.insert(host);
        self
    }

    /// Serves the files below a directory as a host's website; pages of the host come first.
    #[must_use]
    pub fn directory(mut self, host: &str, root: impl AsRef<Path>) -> Self {
        self.directories.insert(host.to_owned(), root.as_ref().to_owned());
        self.hosts.insert(host.to_owned());
        self
    }

    /// Starts listening on 127.0.0.1.
    ///
    /// # Panics
    /// When the system has no free port or no room for the certificates.
    pub async fn start(self) -> TestWeb {
        let authority = Authority::new();
        let certificates = TempDir::new().expect("a temporary directory");
        let dir = certificates.path();
        let mut hosts: Vec<String> = self.hosts.iter().cloned().collect();
        hosts.push("localhost".to_owned());
        authority.issue_into(dir, &hosts);
        std::fs::write(dir.join("ca.pem"), authority.pem()).expect("a writable directory");
        let tls = TlsFiles { cert: dir.join("cert.pem"), key: dir.join("key.pem") };

        let seen = Arc::new(Mutex::new(Vec::new()));
        let site = Arc::new(Site {
            pages: self.pages,
            directories: self.directories,
            seen: Arc::clone(&seen),
            under_way: InFlightCounts::default(),
        });
        let (http, plain) = listen(&site, "http", None).await;
        let (https, secure) = listen(&site, "https", Some(tls)).await;
        TestWeb { http, https, authority, certificates, seen, tasks: vec![plain, secure] }
    }
}

async fn listen(
    site: &Arc<Site>,
    scheme: &'static str,
    tls: Option<TlsFiles>,
) -> (SocketAddr, JoinHandle<()>) {
    let config = ServerConfig { tls, ..ServerConfig::new("127.0.0.1:0") };
    let server = Server::bind(config).await.expect("a free loopback port");
    let addr = server.local_addr();
    let site = Arc::clone(site);
    let handler = move |request| {
        let site = Arc::clone(&site);
        async move { site.answer(scheme, request).await }
    };
    let task = tokio::spawn(async move {
        // It is ended by dropping the world, so there is nothing to report.
        let _ = server.run(handler, std::future::pending()).await;
    });
    (addr, task)
}

/// State that both listeners share.
struct Site {
    pages: HashMap<String, Answer>,
    directories: HashMap<String, PathBuf>,
    seen: Arc<Mutex<Vec<ReceivedRequest>>>,
    under_way: InFlightCounts,
}

/// Counts the requests of each host that are under way.
#[derive(Debug, Clone, Default)]
struct InFlightCounts(Arc<Mutex<HashMap<String, usize>>>);

/// One of them, until it is answered or its client is gone.
struct InFlightGuard(InFlightCounts, String);

impl InFlightCounts {
    /// Counts one more, and returns how many there are with it.
    fn enter(&self, host: &str) -> (usize, InFlightGuard) {
        let mut hosts = lock(&self.0);
        let count = hosts.entry(host.to_owned()).or_default();
        *count += 1;
        (*count, InFlightGuard(self.clone(), host.to_owned()))
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        if let Some(count) = lock(&self.0.0).get_mut(&self.1) {
            *count -= 1;
        }
    }
}

impl Site {
    async fn answer(&self, scheme: &str, request: Request<ServerBody>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let named = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
        let authority =
            named.or_else(|| parts.uri.authority().map(http::uri::Authority::as_str)).unwrap_or_default();
        let authority = authority.to_ascii_lowercase();
        let target = parts.uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
        let url = format!("{scheme}://{authority}{target}");
        let timeout = BodyTimeout { idle: Duration::from_secs(5), total: Duration::from_secs(30) };
        let body = body.read(MAX_BODY, timeout).await.unwrap_or_default();
        let (at_once, _under_way) = self.under_way.enter(&authority);
        let seen = ReceivedRequest {
            method: parts.method,
            url,
            headers: parts.headers,
            body,
            at: Instant::now(),
            at_once,
        };
        lock(&self.seen).push(seen.clone());
        let host = authority.rsplit_once(':').map_or(authority.as_str(), |(host, _)| host);
        self.find(&seen, host, parts.uri.path(), parts.uri.query()).await.respond().await
    }

    async fn find(&self, seen: &ReceivedRequest, host: &str, path: &str, query: Option<&str>) -> Page {
        let exact = self.pages.get(&key(host, path, query));
        if let Some(answer) = exact.or_else(|| self.pages.get(&key(host, path, None))) {
            return answer(seen);
        }
        match self.directories.get(host) {
            Some(root) => files::serve(root, path).await,
            None => Page::html("<title>Not found</title><p>There is no such page.").status(404),
        }
    }
}

fn key(host: &str, path: &str, query: Option<&str>) -> String {
    match query {
        Some(query) => format!("{host}{path}?{query}"),
        None => format!("{host}{path}"),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for TestWeb {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl fmt::Debug for TestWeb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("http", &self.http).field("https", &self.https).finish_non_exhaustive()
    }
}

impl fmt::Debug for TestWebBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorldBuilder").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}
