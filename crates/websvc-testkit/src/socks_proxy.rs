//! A SOCKS5 proxy for tests (RFC 1928), with or without a password (RFC 1929).

#![expect(clippy::unwrap_used, reason = "a test helper may panic, which fails the test")]

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::Routes;

/// A proxy on a loopback address, which is stopped when dropped.
pub struct SocksProxy {
    /// The address of the proxy.
    pub addr: SocketAddr,
    targets: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

#[derive(Clone)]
struct Rules {
    routes: Routes,
    /// The required user and password.
    login: Option<(&'static str, &'static str)>,
    targets: Arc<Mutex<Vec<String>>>,
}

// The methods of authentication (RFC 1928, section 3).
const NO_AUTHENTICATION: u8 = 0;
const PASSWORD: u8 = 2;
const NO_ACCEPTABLE_METHOD: u8 = 0xff;

// The replies to a request (RFC 1928, section 6).
const SUCCEEDED: u8 = 0;
const HOST_UNREACHABLE: u8 = 4;

impl SocksProxy {
    /// Starts a proxy, optionally with a required user and password.
    pub async fn start(
        login: Option<(&'static str, &'static str)>,
        routes: impl Fn(&str) -> Option<SocketAddr> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let rules = Rules { routes: Arc::new(routes), login, targets: Arc::default() };
        let targets = Arc::clone(&rules.targets);
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let rules = rules.clone();
                // The end of a tunnel is not an error.
                tokio::spawn(async move { rules.serve(client).await.ok() });
            }
        });
        Self { addr, targets, task }
    }

    /// Returns the `host:port` of each requested tunnel.
    pub fn requests(&self) -> Vec<String> {
        self.targets.lock().clone()
    }
}

impl Drop for SocksProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Rules {
    async fn serve(&self, mut client: TcpStream) -> io::Result<()> {
        if !self.authenticate(&mut client).await? {
            return Ok(());
        }
        let mut head = [0; 4];
        client.read_exact(&mut head).await?;
        assert_eq!(head[..3], [5, 1, 0], "version 5, CONNECT");
        let host = match head[3] {
            1 => Ipv4Addr::from(client.read_u32().await?).to_string(),
            3 => text(&mut client).await?,
            4 => format!("[{}]", Ipv6Addr::from(client.read_u128().await?)),
            other => panic!("address type {other}"),
        };
        let target = format!("{host}:{}", client.read_u16().await?);
        self.targets.lock().push(target.clone());
        let server = match (self.routes)(&target) {
            Some(addr) => TcpStream::connect(addr).await.ok(),
            None => None,
        };
        let code = if server.is_some() { SUCCEEDED } else { HOST_UNREACHABLE };
        client.write_all(&[5, code, 0, 1, 0, 0, 0, 0, 0, 0]).await?;
        if let Some(mut server) = server {
            copy_bidirectional(&mut client, &mut server).await?;
        }
        Ok(())
    }

    /// Selects a method of authentication, and checks the password if one is required. Returns whether the client may
    /// continue.
    async fn authenticate(&self, client: &mut TcpStream) -> io::Result<bool> {
        assert_eq!(client.read_u8().await?, 5);
        let mut methods = vec![0; usize::from(client.read_u8().await?)];
        client.read_exact(&mut methods).await?;
        let method = if self.login.is_some() { PASSWORD } else { NO_AUTHENTICATION };
        if !methods.contains(&method) {
            client.write_all(&[5, NO_ACCEPTABLE_METHOD]).await?;
            return Ok(false);
        }
        client.write_all(&[5, method]).await?;
        let Some((user, password)) = self.login else { return Ok(true) };
        assert_eq!(client.read_u8().await?, 1);
        let given = (text(client).await?, text(client).await?);
        let is_accepted = given == (user.to_owned(), password.to_owned());
        client.write_all(&[1, u8::from(!is_accepted)]).await?;
        Ok(is_accepted)
    }
}

/// Reads a text with its length before it.
async fn text(client: &mut TcpStream) -> io::Result<String> {
    let mut bytes = vec![0; usize::from(client.read_u8().await?)];
    client.read_exact(&mut bytes).await?;
    String::from_utf8(bytes).map_err(io::Error::other)
}
