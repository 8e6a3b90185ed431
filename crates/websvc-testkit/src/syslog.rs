//! A fake of a syslog collector.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::net::{TcpListener, UdpSocket, UnixDatagram};
use tokio::task::{JoinHandle, JoinSet};

use crate::wait_for::until;

/// The maximum size of a message.
const MESSAGE_MAX_BYTES: usize = 65_536;

/// A collector of messages, which is stopped when dropped.
#[derive(Debug)]
pub struct FakeSyslog {
    messages: Messages,
    address: Option<SocketAddr>,
    task: JoinHandle<()>,
}

type Messages = Arc<Mutex<Vec<String>>>;

impl FakeSyslog {
    /// Collects messages with a length prefix from TCP connections; port 0 selects a free port.
    ///
    /// # Panics
    /// If the port is not free.
    pub async fn tcp(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.expect("the port is free");
        let address = listener.local_addr().ok();
        let messages = Messages::default();
        let collected = Arc::clone(&messages);
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let collected = Arc::clone(&collected);
                connections.spawn(async move { collect(stream, &collected).await });
            }
        });
        Self { messages, address, task }
    }

    /// Collects datagrams on a free UDP port.
    ///
    /// # Panics
    /// If the system has no free port.
    pub async fn udp() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.expect("the port is free");
        let address = socket.local_addr().ok();
        let messages = Messages::default();
        let collected = Arc::clone(&messages);
        let task = tokio::spawn(async move {
            let mut buffer = vec![0; MESSAGE_MAX_BYTES];
            while let Ok(length) = socket.recv(&mut buffer).await {
                store(&collected, &buffer[..length]);
            }
        });
        Self { messages, address, task }
    }

    /// Collects datagrams at a Unix socket.
    ///
    /// # Panics
    /// If the path exists or is too long.
    #[must_use]
    pub fn unix(path: &Path) -> Self {
        let socket = UnixDatagram::bind(path).expect("the path is free");
        let messages = Messages::default();
        let collected = Arc::clone(&messages);
        let task = tokio::spawn(async move {
            let mut buffer = vec![0; MESSAGE_MAX_BYTES];
            while let Ok(length) = socket.recv(&mut buffer).await {
                store(&collected, &buffer[..length]);
            }
        });
        Self { messages, address: None, task }
    }

    /// Collects messages from connections that the test accepts, such as TLS connections.
    #[must_use]
    pub fn from_streams<S>(mut streams: tokio::sync::mpsc::Receiver<S>) -> Self
    where
        S: AsyncRead + Send + Unpin + 'static,
    {
        let messages = Messages::default();
        let collected = Arc::clone(&messages);
        let task = tokio::spawn(async move {
            while let Some(stream) = streams.recv().await {
                collect(stream, &collected).await;
            }
        });
        Self { messages, address: None, task }
    }

    /// Returns the port.
    ///
    /// # Panics
    /// If the collector has no port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.expect("the collector has a port").port()
    }

    /// Returns the received messages, in order of arrival.
    #[must_use]
    pub fn messages(&self) -> Vec<String> {
        self.messages.lock().clone()
    }

    /// Waits until `count` messages were received, and returns them.
    ///
    /// # Panics
    /// If they are not received within a minute.
    pub async fn wait_for_messages(&self, count: usize) -> Vec<String> {
        until(&format!("{count} syslog messages were received"), || self.messages().len() >= count).await;
        self.messages()
    }

    /// Stops the collector and closes its connections. Returns once the port is free.
    pub async fn stop(mut self) {
        self.task.abort();
        // The error is that the task was aborted.
        let _ = (&mut self.task).await;
    }
}

impl Drop for FakeSyslog {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Reads messages with a length prefix (RFC 6587, section 3.4.1) until the stream ends or is invalid.
async fn collect(stream: impl AsyncRead + Unpin, messages: &Messages) {
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
        store(messages, &message);
    }
}

fn store(messages: &Messages, message: &[u8]) {
    let text = String::from_utf8_lossy(message).into_owned();
    messages.lock().push(text);
}
