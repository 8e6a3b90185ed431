//! A stand-in for a collector of syslog.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::net::{TcpListener, UdpSocket, UnixDatagram};
use tokio::task::{JoinHandle, JoinSet};

use crate::wait_for::until;

/// The largest message that is taken.
const MESSAGE_MAX_BYTES: usize = 65_536;

/// Collects messages; it ends when dropped.
#[derive(Debug)]
pub struct FakeSyslog {
    messages: Messages,
    address: Option<SocketAddr>,
    task: JoinHandle<()>,
}

type Messages = Arc<Mutex<Vec<String>>>;

impl FakeSyslog {
    /// Listens for connections, whose messages have their length before them; port 0 picks a free one.
    ///
    /// # Panics
    /// When the port is taken.
    pub async fn tcp(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.expect("a free port");
        let address = listener.local_addr().ok();
        let messages = Messages::default();
        let kept = Arc::clone(&messages);
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let kept = Arc::clone(&kept);
                connections.spawn(async move { collect(stream, &kept).await });
            }
        });
        Self { messages, address, task }
    }

    /// Takes datagrams on a free port.
    ///
    /// # Panics
    /// When there is none.
    pub async fn udp() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.expect("a free port");
        let address = socket.local_addr().ok();
        let messages = Messages::default();
        let kept = Arc::clone(&messages);
        let task = tokio::spawn(async move {
            let mut buffer = vec![0; MESSAGE_MAX_BYTES];
            while let Ok(length) = socket.recv(&mut buffer).await {
                keep(&kept, &buffer[..length]);
            }
        });
        Self { messages, address, task }
    }

    /// Takes datagrams at a socket of the file system.
    ///
    /// # Panics
    /// When there is something at the path, or it is too long.
    #[must_use]
    pub fn unix(path: &Path) -> Self {
        let socket = UnixDatagram::bind(path).expect("a free path");
        let messages = Messages::default();
        let kept = Arc::clone(&messages);
        let task = tokio::spawn(async move {
            let mut buffer = vec![0; MESSAGE_MAX_BYTES];
            while let Ok(length) = socket.recv(&mut buffer).await {
                keep(&kept, &buffer[..length]);
            }
        });
        Self { messages, address: None, task }
    }

    /// Takes what connections bring that somebody else accepts, such as those over TLS.
    #[must_use]
    pub fn of<S>(mut streams: tokio::sync::mpsc::Receiver<S>) -> Self
    where
        S: AsyncRead + Send + Unpin + 'static,
    {
        let messages = Messages::default();
        let kept = Arc::clone(&messages);
        let task = tokio::spawn(async move {
            while let Some(stream) = streams.recv().await {
                collect(stream, &kept).await;
            }
        });
        Self { messages, address: None, task }
    }

    /// Returns the port.
    ///
    /// # Panics
    /// When it has none.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.expect("a stand-in with a port").port()
    }

    /// Returns the messages so far, in order of arrival.
    #[must_use]
    pub fn messages(&self) -> Vec<String> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until so many messages are here, and returns them.
    ///
    /// # Panics
    /// When they do not come within a minute.
    pub async fn received(&self, count: usize) -> Vec<String> {
        until(&format!("{count} messages of syslog came"), || self.messages().len() >= count).await;
        self.messages()
    }

    /// Ends listening and all connections, and returns when the port is free again.
    pub async fn end(mut self) {
        self.task.abort();
        // It ended by being aborted.
        let _ = (&mut self.task).await;
    }
}

impl Drop for FakeSyslog {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Reads messages with their length before them (RFC 6587, section 3.4.1) until the stream ends or has something else.
async fn collect(stream: impl AsyncRead + Unpin, kept: &Messages) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut length = Vec::new();
        if reader.read_until(b' ', &mut length).await.is_err() {
            return;
        }
        let digits = std::str::from_utf8(&length).unwrap_or_default().trim_end();
        let Ok(length @ 1..=MESSAGE_MAX_BYTES) = digits.parse::<usize>() else { return };
        let mut message = vec![0; length];
        if reader.read_exact(&mut message).await.is_err() {
            return;
        }
        keep(kept, &message);
    }
}

fn keep(kept: &Messages, message: &[u8]) {
    let text = String::from_utf8_lossy(message).into_owned();
    kept.lock().unwrap_or_else(PoisonError::into_inner).push(text);
}
