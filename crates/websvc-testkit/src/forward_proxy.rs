//! An HTTP forward proxy for tests: tunnels and absolute URLs, with or without a password.

#![expect(clippy::unwrap_used, reason = "a test helper may panic, which fails the test")]

use std::net::SocketAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A function from `host:port` to the address that the proxy connects to; `None` leads to 502.
pub type Routes = Arc<dyn Fn(&str) -> Option<SocketAddr> + Send + Sync>;

/// A proxy on a loopback address, which is stopped when dropped.
pub struct ForwardProxy {
    /// The address of the proxy.
    pub addr: SocketAddr,
    rules: Rules,
    task: JoinHandle<()>,
}

/// The behavior of a proxy, and the requests that it received.
#[derive(Clone)]
pub struct Rules {
    routes: Routes,
    /// The value of `Proxy-Authorization` without which the proxy responds 407.
    authorization: Option<&'static str>,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Rules {
    /// Creates rules with these routes, without a password.
    pub fn new(routes: impl Fn(&str) -> Option<SocketAddr> + Send + Sync + 'static) -> Self {
        Self { routes: Arc::new(routes), authorization: None, heads: Arc::default() }
    }

    /// Requires this value of `Proxy-Authorization`.
    pub fn require_authorization(self, authorization: &'static str) -> Self {
        Self { authorization: Some(authorization), ..self }
    }

    /// Returns the first line of the request on each connection.
    pub fn requests(&self) -> Vec<String> {
        let heads = self.heads.lock();
        heads.iter().map(|head| head.lines().next().unwrap_or_default().to_owned()).collect()
    }

    /// Serves one connection.
    pub async fn serve<T: AsyncRead + AsyncWrite + Unpin>(&self, mut client: T) {
        let Some(head) = read_head(&mut client).await else { return };
        self.heads.lock().push(head.clone());
        if let Some(expected) = self.authorization
            && !head
                .lines()
                .any(|line| line.eq_ignore_ascii_case(&format!("proxy-authorization: {expected}")))
        {
            return respond_error(&mut client, "407 Proxy Authentication Required").await;
        }
        let (method, target) = method_and_target(&head);
        let is_tunnel = method == "CONNECT";
        let host = if is_tunnel { target } else { authority(target) };
        let Some(addr) = (self.routes)(host) else {
            return respond_error(&mut client, "502 Bad Gateway").await;
        };
        let Ok(mut server) = TcpStream::connect(addr).await else {
            return respond_error(&mut client, "502 Bad Gateway").await;
        };
        if is_tunnel {
            client.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").await.unwrap();
        } else {
            // All requests on a connection go to one host, which is enough for tests.
            server.write_all(head.as_bytes()).await.unwrap();
        }
        // The end of a tunnel is not an error.
        let _ = copy_bidirectional(&mut client, &mut server).await;
    }
}

impl ForwardProxy {
    /// Starts a proxy.
    pub async fn start(rules: Rules) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let connection_rules = rules.clone();
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let rules = connection_rules.clone();
                tokio::spawn(async move { rules.serve(client).await });
            }
        });
        Self { addr, rules, task }
    }

    /// Returns the first line of the request on each connection.
    pub fn requests(&self) -> Vec<String> {
        self.rules.requests()
    }
}

impl Drop for ForwardProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn read_head<T: AsyncRead + Unpin>(stream: &mut T) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    String::from_utf8(head).ok()
}

async fn respond_error<T: AsyncWrite + Unpin>(stream: &mut T, status: &str) {
    let response = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    stream.write_all(response.as_bytes()).await.unwrap();
}

fn method_and_target(head: &str) -> (&str, &str) {
    let mut words = head.split(' ');
    (words.next().unwrap_or_default(), words.next().unwrap_or_default())
}

/// Returns the host and port of an absolute URL.
fn authority(url: &str) -> &str {
    url.strip_prefix("http://").and_then(|rest| rest.split('/').next()).unwrap_or_default()
}
