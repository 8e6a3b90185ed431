//! A forward proxy for tests: tunnels and whole URLs, with or without a password.

#![expect(clippy::unwrap_used, reason = "a proxy of tests fails the test, too")]

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Maps `host:port` to the address that the proxy connects to; `None` gives 502.
pub type Routes = Arc<dyn Fn(&str) -> Option<SocketAddr> + Send + Sync>;

/// A proxy on a loopback address; it ends when dropped.
pub struct ForwardProxy {
    pub addr: SocketAddr,
    rules: Rules,
    task: JoinHandle<()>,
}

/// Behavior of a proxy, and the requests that it received.
#[derive(Clone)]
pub struct Rules {
    routes: Routes,
    /// The value of `Proxy-Authorization` without which it answers 407.
    authorization: Option<&'static str>,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Rules {
    pub fn new(routes: impl Fn(&str) -> Option<SocketAddr> + Send + Sync + 'static) -> Self {
        Self { routes: Arc::new(routes), authorization: None, heads: Arc::default() }
    }

    pub fn demand(self, authorization: &'static str) -> Self {
        Self { authorization: Some(authorization), ..self }
    }

    /// Returns the first lines that arrived, one for each connection.
    pub fn asked(&self) -> Vec<String> {
        let heads = self.heads.lock().unwrap();
        heads.iter().map(|head| head.lines().next().unwrap_or_default().to_owned()).collect()
    }

    /// Serves one connection.
    pub async fn serve<T: AsyncRead + AsyncWrite + Unpin>(&self, mut client: T) {
        let Some(head) = read_head(&mut client).await else { return };
        self.heads.lock().unwrap().push(head.clone());
        if let Some(expected) = self.authorization
            && !head
                .lines()
                .any(|line| line.eq_ignore_ascii_case(&format!("proxy-authorization: {expected}")))
        {
            return refuse(&mut client, "407 Proxy Authentication Required").await;
        }
        let (method, target) = words(&head);
        let is_tunnel = method == "CONNECT";
        let host = if is_tunnel { target } else { authority(target) };
        let Some(addr) = (self.routes)(host) else { return refuse(&mut client, "502 Bad Gateway").await };
        let Ok(mut server) = TcpStream::connect(addr).await else {
            return refuse(&mut client, "502 Bad Gateway").await;
        };
        if is_tunnel {
            client.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").await.unwrap();
        } else {
            // The connection belongs to one host: enough for a test.
            server.write_all(head.as_bytes()).await.unwrap();
        }
        // How a tunnel ends is nobody's business.
        let _ = copy_bidirectional(&mut client, &mut server).await;
    }
}

impl ForwardProxy {
    pub async fn start(rules: Rules) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let serving = rules.clone();
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let serving = serving.clone();
                tokio::spawn(async move { serving.serve(client).await });
            }
        });
        Self { addr, rules, task }
    }

    pub fn asked(&self) -> Vec<String> {
        self.rules.asked()
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

async fn refuse<T: AsyncWrite + Unpin>(stream: &mut T, status: &str) {
    let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    stream.write_all(answer.as_bytes()).await.unwrap();
}

fn words(head: &str) -> (&str, &str) {
    let mut words = head.split(' ');
    (words.next().unwrap_or_default(), words.next().unwrap_or_default())
}

/// Returns the host and port of a whole URL.
fn authority(url: &str) -> &str {
    url.strip_prefix("http://").and_then(|rest| rest.split('/').next()).unwrap_or_default()
}
