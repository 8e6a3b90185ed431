//! The loopback web.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::HOST;
use http::{HeaderMap, Method, Request, Response};
use parking_lot::Mutex;
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

/// The maximum size of a request body, in bytes.
const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;

/// A received request.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    /// The method.
    pub method: Method,
    /// The absolute URL that the client requested.
    pub url: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// The time of arrival.
    pub received_at: Instant,
    /// The number of requests to this host that were in flight on arrival, including this one.
    pub in_flight: usize,
}

impl ReceivedRequest {
    /// Returns a header as text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// A function that returns the page for a request.
type Handler = Arc<dyn Fn(&ReceivedRequest) -> Page + Send + Sync>;

/// A builder of a [`TestWeb`], with the pages of its hosts.
#[derive(Default)]
pub struct TestWebBuilder {
    /// The handlers by URL without scheme.
    pages: HashMap<String, Handler>,
    /// The beginnings of URLs without scheme, with the handlers of all paths below.
    below: Vec<(String, Handler)>,
    directories: HashMap<String, PathBuf>,
    hosts: HashSet<String>,
}

/// A running loopback web, which is stopped when dropped.
pub struct TestWeb {
    http: SocketAddr,
    https: SocketAddr,
    authority: Authority,
    certificates: TempDir,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
    tasks: Vec<JoinHandle<()>>,
}

impl TestWeb {
    /// Returns a builder without pages.
    #[must_use]
    pub fn builder() -> TestWebBuilder {
        TestWebBuilder::default()
    }

    /// Returns the address that serves all hosts over http.
    #[must_use]
    pub fn http_addr(&self) -> SocketAddr {
        self.http
    }

    /// Returns the address that serves all hosts over https.
    #[must_use]
    pub fn https_addr(&self) -> SocketAddr {
        self.https
    }

    /// Returns rules for the configuration key `connect_to` that connect all host names to this web.
    #[must_use]
    pub fn connect_to(&self) -> Vec<(String, String)> {
        vec![("*:80".to_owned(), self.http.to_string()), ("*:443".to_owned(), self.https.to_string())]
    }

    /// Returns a guard for public addresses with the rules of [`TestWeb::connect_to`].
    ///
    /// # Panics
    /// Never, because the rules are valid.
    #[must_use]
    pub fn guard(&self) -> AddressGuard {
        self.connect_to().iter().fold(AddressGuard::public(), |guard, (from, to)| {
            guard.connect_to(from, to).expect("the rules are valid")
        })
    }

    /// Returns a client that connects to this web, for crates that must not create one themselves. It does not trust
    /// the authority of the web.
    ///
    /// # Panics
    /// If the certificates of the system cannot be read.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::new(ClientConfig::new(self.guard())).expect("the certificates of the system can be read")
    }

    /// Returns the certificate authority of the https listener.
    #[must_use]
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// Returns the file with the certificate of the authority, for the configuration key `ca_file`.
    #[must_use]
    pub fn ca_file(&self) -> PathBuf {
        self.certificates.path().join("ca.pem")
    }

    /// Returns the received requests, in order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().clone()
    }

    /// Returns the number of requests for a URL.
    #[must_use]
    pub fn count(&self, url: &str) -> usize {
        self.requests.lock().iter().filter(|request| request.url == url).count()
    }

    /// Waits until a URL is requested.
    ///
    /// # Panics
    /// If it is not requested within a minute.
    pub async fn wait_for_request(&self, url: &str) {
        until(&format!("{url} was requested"), || self.count(url) > 0).await;
    }

    /// Removes the received requests.
    pub fn clear_requests(&self) {
        self.requests.lock().clear();
    }
}

impl TestWebBuilder {
    /// Serves a page at an absolute URL such as `http://a.test/x`, over both http and https. A URL without a query also
    /// serves the URLs with a query that have no page of their own.
    ///
    /// # Panics
    /// If the URL is not absolute.
    #[must_use]
    pub fn page(self, url: &str, page: Page) -> Self {
        self.page_with(url, move |_| page.clone())
    }

    /// Serves the page that a function returns for each request.
    ///
    /// # Panics
    /// If the URL is not absolute.
    #[must_use]
    pub fn page_with(
        mut self,
        url: &str,
        handler: impl Fn(&ReceivedRequest) -> Page + Send + Sync + 'static,
    ) -> Self {
        let url = Url::parse(url).expect("the URL is absolute");
        let host = url.host_str().expect("the URL has a host").to_owned();
        self.pages.insert(key(&host, url.path(), url.query()), Arc::new(handler));
        self.hosts.insert(host);
        self
    }

    /// Serves the pages that a function returns for all paths of a host that begin as that of `url` does. Other pages
    /// take precedence.
    ///
    /// # Panics
    /// If the URL is not absolute.
    #[must_use]
    pub fn pages_below(
        mut self,
        url: &str,
        handler: impl Fn(&ReceivedRequest) -> Page + Send + Sync + 'static,
    ) -> Self {
        let url = Url::parse(url).expect("the URL is absolute");
        let host = url.host_str().expect("the URL has a host").to_owned();
        self.below.push((key(&host, url.path(), None), Arc::new(handler)));
        self.hosts.insert(host);
        self
    }

    /// Serves the files below a directory as a host; pages of the host take precedence.
    #[must_use]
    pub fn directory(mut self, host: &str, root: impl AsRef<Path>) -> Self {
        self.directories.insert(host.to_owned(), root.as_ref().to_owned());
        self.hosts.insert(host.to_owned());
        self
    }

    /// Starts listening on 127.0.0.1.
    ///
    /// # Panics
    /// If the system has no free port, or the certificates cannot be written.
    pub async fn start(self) -> TestWeb {
        let authority = Authority::new();
        let certificates = TempDir::new().expect("a temporary directory can be created");
        let dir = certificates.path();
        let mut hosts: Vec<String> = self.hosts.iter().cloned().collect();
        hosts.push("localhost".to_owned());
        authority.issue_into(dir, &hosts);
        std::fs::write(dir.join("ca.pem"), authority.pem()).expect("the directory is writable");
        let tls = TlsFiles { cert: dir.join("cert.pem"), key: dir.join("key.pem") };

        let requests = Arc::new(Mutex::new(Vec::new()));
        let site = Arc::new(Site {
            pages: self.pages,
            below: self.below,
            directories: self.directories,
            requests: Arc::clone(&requests),
            in_flight: InFlightCounts::default(),
        });
        let (http, http_task) = listen(&site, "http", None).await;
        let (https, https_task) = listen(&site, "https", Some(tls)).await;
        TestWeb { http, https, authority, certificates, requests, tasks: vec![http_task, https_task] }
    }
}

async fn listen(
    site: &Arc<Site>,
    scheme: &'static str,
    tls: Option<TlsFiles>,
) -> (SocketAddr, JoinHandle<()>) {
    let config = ServerConfig { tls, ..ServerConfig::new("127.0.0.1:0") };
    let server = Server::bind(config).await.expect("there is a free port");
    let addr = server.local_addr();
    let site = Arc::clone(site);
    let handler = move |request| {
        let site = Arc::clone(&site);
        async move { site.respond(scheme, request).await }
    };
    let task = tokio::spawn(async move {
        // The task is aborted when the web is dropped.
        let _ = server.run(handler, std::future::pending()).await;
    });
    (addr, task)
}

/// The state that both listeners share.
struct Site {
    pages: HashMap<String, Handler>,
    below: Vec<(String, Handler)>,
    directories: HashMap<String, PathBuf>,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
    in_flight: InFlightCounts,
}

/// The number of requests in flight, by host.
#[derive(Debug, Clone, Default)]
struct InFlightCounts(Arc<Mutex<HashMap<String, usize>>>);

/// The guard of one request in flight, which counts until the response is ready or the client disconnects.
struct InFlightGuard(InFlightCounts, String);

impl InFlightCounts {
    /// Counts one more request of a host, and returns the new count.
    fn enter(&self, host: &str) -> (usize, InFlightGuard) {
        let mut hosts = self.0.lock();
        let count = hosts.entry(host.to_owned()).or_default();
        *count += 1;
        (*count, InFlightGuard(self.clone(), host.to_owned()))
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        if let Some(count) = self.0.0.lock().get_mut(&self.1) {
            *count -= 1;
        }
    }
}

impl Site {
    async fn respond(&self, scheme: &str, request: Request<ServerBody>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let by_header = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
        let authority =
            by_header.or_else(|| parts.uri.authority().map(http::uri::Authority::as_str)).unwrap_or_default();
        let authority = authority.to_ascii_lowercase();
        let target = parts.uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
        let url = format!("{scheme}://{authority}{target}");
        let timeout = BodyTimeout { idle: Duration::from_secs(5), total: Duration::from_secs(30) };
        let body = body.read(MAX_BODY_BYTES, timeout).await.unwrap_or_default();
        let (in_flight, _guard) = self.in_flight.enter(&authority);
        let request = ReceivedRequest {
            method: parts.method,
            url,
            headers: parts.headers,
            body,
            received_at: Instant::now(),
            in_flight,
        };
        self.requests.lock().push(request.clone());
        let host = authority.rsplit_once(':').map_or(authority.as_str(), |(host, _)| host);
        self.find_page(&request, host, parts.uri.path(), parts.uri.query()).await.respond().await
    }

    async fn find_page(
        &self,
        request: &ReceivedRequest,
        host: &str,
        path: &str,
        query: Option<&str>,
    ) -> Page {
        let exact = self.pages.get(&key(host, path, query));
        if let Some(handler) = exact.or_else(|| self.pages.get(&key(host, path, None))) {
            return handler(request);
        }
        let key = key(host, path, None);
        if let Some((_, handler)) = self.below.iter().find(|(prefix, _)| key.starts_with(prefix)) {
            return handler(request);
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

impl Drop for TestWeb {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl fmt::Debug for TestWeb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestWeb")
            .field("http", &self.http)
            .field("https", &self.https)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for TestWebBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestWebBuilder").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}
