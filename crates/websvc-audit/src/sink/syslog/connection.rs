//! A way to whoever collects the messages.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UdpSocket;
#[cfg(unix)]
use tokio::net::UnixDatagram;
use websvc_transport::{Client, FetchError, Tunnel};

use super::SyslogAddress;
use super::message::counted;
use crate::error::SinkError;

#[derive(Debug)]
pub(super) enum Connection {
    Stream(Tunnel),
    Udp(UdpSocket),
    #[cfg(unix)]
    Unix(UnixDatagram),
}

impl Connection {
    pub(super) async fn open(
        client: &Client,
        address: &SyslogAddress,
        limit: Duration,
    ) -> Result<Self, SinkError> {
        let opened = match address {
            SyslogAddress::Udp(host, port) => client.connect_udp(host, *port, limit).await.map(Self::Udp),
            SyslogAddress::Tcp(host, port) => client.tunnel(host, *port, None, limit).await.map(Self::Stream),
            SyslogAddress::Tls(host, port) => {
                client.secure_tunnel(host, *port, limit).await.map(Self::Stream)
            }
            SyslogAddress::Unix(path) => return local(path),
        };
        opened.map_err(|error| unreachable(&error))
    }

    /// Sends messages, in order.
    pub(super) async fn send(&mut self, messages: &[Vec<u8>]) -> io::Result<()> {
        match self {
            Self::Stream(stream) => {
                let frames: Vec<u8> = messages.iter().flat_map(|message| counted(message)).collect();
                stream.write_all(&frames).await?;
                stream.flush().await
            }
            Self::Udp(socket) => {
                for message in messages {
                    socket.send(message).await?;
                }
                Ok(())
            }
            #[cfg(unix)]
            Self::Unix(socket) => {
                for message in messages {
                    socket.send(message).await?;
                }
                Ok(())
            }
        }
    }

    /// Waits until the other side is known to be gone, which may be never. What it says is passed over.
    pub(super) async fn over(&mut self) -> io::Error {
        let mut buffer = [0; 512];
        loop {
            let read = match self {
                Self::Stream(stream) => match stream.read(&mut buffer).await {
                    Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
                    read => read,
                },
                Self::Udp(socket) => socket.recv(&mut buffer).await,
                #[cfg(unix)]
                Self::Unix(socket) => socket.recv(&mut buffer).await,
            };
            if let Err(error) = read {
                return error;
            }
        }
    }

    /// Returns the connection, unless the other side is known to be gone by now.
    pub(super) fn if_alive(mut self) -> Option<Self> {
        let is_over = self.over().now_or_never().is_some();
        (!is_over).then_some(self)
    }
}

#[cfg(unix)]
fn local(path: &Path) -> Result<Connection, SinkError> {
    let failed = |error: io::Error| SinkError::io("the socket cannot be used", &error);
    let socket = UnixDatagram::unbound().map_err(failed)?;
    socket.connect(path).map_err(failed)?;
    Ok(Connection::Unix(socket))
}

#[cfg(not(unix))]
fn local(_path: &Path) -> Result<Connection, SinkError> {
    Err(SinkError::new("this system has no such sockets"))
}

/// Tells what went wrong without the host and without any source.
fn unreachable(error: &FetchError) -> SinkError {
    SinkError::new(match error {
        FetchError::Timeout { .. } => "it could not be connected to in time",
        FetchError::Dns { .. } => "its host was not found",
        FetchError::Tls { .. } => "there is no secure connection to it",
        _ => "it cannot be connected to",
    })
}
