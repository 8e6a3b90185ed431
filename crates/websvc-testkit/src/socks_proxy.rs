//! A SOCKS5 proxy for tests (RFC 1928), with or without a password (RFC 1929).

#![expect(clippy::unwrap_used, reason = "a proxy of tests fails the test, too")]

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::Routes;

/// A proxy on a loopback address; it ends when dropped.
pub struct SocksProxy {
    pub addr: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

#[derive(Clone)]
struct Rules {
    routes: Routes,
    /// The user and password without which it makes no tunnel.
    login: Option<(&'static str, &'static str)>,
    asked: Arc<Mutex<Vec<String>>>,
}

/// The methods of authentication, and the answers to a request.
const NO_AUTHENTICATION: u8 = 0;
const PASSWORD: u8 = 2;
const NONE_FITS: u8 = 0xff;
const SUCCEEDED: u8 = 0;
const HOST_UNREACHABLE: u8 = 4;

impl SocksProxy {
    pub async fn start(
        login: Option<(&'static str, &'static str)>,
        routes: impl Fn(&str) -> Option<SocketAddr> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let rules = Rules { routes: Arc::new(routes), login, asked: Arc::default() };
        let asked = Arc::clone(&rules.asked);
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let rules = rules.clone();
                // How a tunnel ends is nobody's business.
                tokio::spawn(async move { rules.serve(client).await.ok() });
            }
        });
        Self { addr, asked, task }
    }

    /// Returns the `host:port` of each tunnel that was asked for.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for SocksProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Rules {
    async fn serve(&self, mut client: TcpStream) -> io::Result<()> {
        if !self.admit(&mut client).await? {
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
        self.asked.lock().unwrap().push(target.clone());
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

    /// Agrees on a method of authentication, and asks for the password when there is one.
    async fn admit(&self, client: &mut TcpStream) -> io::Result<bool> {
        assert_eq!(client.read_u8().await?, 5);
        let mut methods = vec![0; usize::from(client.read_u8().await?)];
        client.read_exact(&mut methods).await?;
        let wanted = if self.login.is_some() { PASSWORD } else { NO_AUTHENTICATION };
        if !methods.contains(&wanted) {
            client.write_all(&[5, NONE_FITS]).await?;
            return Ok(false);
        }
        client.write_all(&[5, wanted]).await?;
        let Some((user, password)) = self.login else { return Ok(true) };
        assert_eq!(client.read_u8().await?, 1);
        let given = (text(client).await?, text(client).await?);
        let is_right = given == (user.to_owned(), password.to_owned());
        client.write_all(&[1, u8::from(!is_right)]).await?;
        Ok(is_right)
    }
}

/// Reads a text that stands behind its length.
async fn text(client: &mut TcpStream) -> io::Result<String> {
    let mut bytes = vec![0; usize::from(client.read_u8().await?)];
    client.read_exact(&mut bytes).await?;
    String::from_utf8(bytes).map_err(io::Error::other)
}
