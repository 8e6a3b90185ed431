//! The proxy of one download: a SOCKS server on a Unix socket, which only the sandbox of the download has. The guarded
//! client makes its connections.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use url::{Host, Url};
use websvc_transport::{Client, FetchError, Proxy, TrafficBudget};

/// The maximum time of a SOCKS handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum time to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// The maximum number of concurrent connections.
const MAX_CONNECTIONS: usize = 64;
/// The ports of the web below 1024. The others are those of mail, shells, shared files and the like.
const WEB_PORTS: [u16; 2] = [80, 443];
/// The first port that any user may listen on.
const FIRST_USER_PORT: u16 = 1024;
/// The maximum number of refused destinations that are recorded.
const MAX_REFUSED: usize = 20;

/// A rule for the hosts that a download may connect to, in addition to the guard's: it returns whether the URL of the root
/// of a host is allowed.
#[derive(Clone)]
pub struct HostRule(Arc<dyn Fn(&Url) -> bool + Send + Sync>);

impl HostRule {
    /// Creates a rule.
    pub fn new(is_allowed: impl Fn(&Url) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_allowed))
    }

    fn allows(&self, host: &Host, port: u16) -> bool {
        let scheme = if port == 443 { "https" } else { "http" };
        Url::parse(&format!("{scheme}://{host}:{port}/")).is_ok_and(|url| (self.0)(&url))
    }
}

impl fmt::Debug for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostRule").finish_non_exhaustive()
    }
}

/// The network access of a download.
pub(crate) struct Route {
    pub(crate) client: Client,
    pub(crate) proxy: Option<Proxy>,
    pub(crate) rule: Option<HostRule>,
    pub(crate) traffic_bytes: u64,
}

/// A listening proxy. Dropping it closes the listener and all connections.
pub(crate) struct DownloadProxy {
    refused: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

/// The state that all connections share.
struct Shared {
    route: Route,
    budget: TrafficBudget,
    permits: Semaphore,
    refused: Arc<Mutex<Vec<String>>>,
}

impl DownloadProxy {
    /// Starts a proxy on a new socket `name` in a directory.
    #[cfg(target_os = "linux")]
    pub(crate) fn start(directory: &Path, name: &str, route: Route) -> io::Result<Self> {
        use std::os::fd::AsRawFd;
        // The address of a socket is short, and the path of the directory may be long.
        let handle = std::fs::File::open(directory)?;
        let short = format!("/proc/self/fd/{}/{name}", handle.as_raw_fd());
        let listener = tokio::net::UnixListener::bind(short)?;
        let refused = Arc::new(Mutex::new(Vec::new()));
        let shared = Shared {
            budget: TrafficBudget::new(route.traffic_bytes),
            route,
            permits: Semaphore::new(MAX_CONNECTIONS),
            refused: Arc::clone(&refused),
        };
        Ok(Self { refused, task: tokio::spawn(serve(listener, Arc::new(shared))) })
    }

    /// Fails: other systems have no sandbox for downloads.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn start(_directory: &Path, _name: &str, _route: Route) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns the hosts and ports that were refused.
    pub(crate) fn refused(&self) -> Vec<String> {
        self.refused.lock().clone()
    }
}

impl Drop for DownloadProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[cfg(target_os = "linux")]
async fn serve(listener: tokio::net::UnixListener, shared: Arc<Shared>) {
    let mut connections = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let shared = Arc::clone(&shared);
                    connections.spawn(async move { shared.serve_connection(stream).await });
                }
                // Most likely the limit on open files; wait until some are closed.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

#[cfg(target_os = "linux")]
impl Shared {
    async fn serve_connection(&self, mut stream: tokio::net::UnixStream) {
        use websvc_transport::socks_server;

        let Ok(_permit) = self.permits.try_acquire() else { return };
        let handshake = tokio::time::timeout(HANDSHAKE_TIMEOUT, socks_server::accept(&mut stream)).await;
        let Ok(Ok((host, port))) = handshake else { return };
        match self.connect(&host, port).await {
            Ok(tunnel) => {
                if socks_server::reply_success(&mut stream).await.is_ok() {
                    // A used-up budget ends the connection, which the tool reports.
                    let _ = self.budget.copy(stream, tunnel).await;
                }
            }
            Err(error) => {
                if matches!(error, FetchError::Forbidden) {
                    self.record_refused(&host, port);
                }
                // The tool may have closed the connection already.
                let _ = socks_server::reply_failure(&mut stream, &error).await;
            }
        }
    }

    async fn connect(&self, host: &Host, port: u16) -> Result<websvc_transport::Tunnel, FetchError> {
        let Route { client, proxy, rule, traffic_bytes: _ } = &self.route;
        let is_web = port >= FIRST_USER_PORT || WEB_PORTS.contains(&port);
        if !is_web || rule.as_ref().is_some_and(|rule| !rule.allows(host, port)) {
            return Err(FetchError::Forbidden);
        }
        client.tunnel(host, port, proxy.as_ref(), CONNECT_TIMEOUT).await
    }

    fn record_refused(&self, host: &Host, port: u16) {
        tracing::debug!(%host, port, "refused a connection of a download");
        let mut refused = self.refused.lock();
        if refused.len() < MAX_REFUSED {
            refused.push(format!("{host}:{port}"));
        }
    }
}
