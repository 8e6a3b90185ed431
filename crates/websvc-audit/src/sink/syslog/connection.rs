//! A connection to a syslog receiver.

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
use super::message::frame;
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
        timeout: Duration,
    ) -> Result<Self, SinkError> {
        let opened = match address {
            SyslogAddress::Udp(host, port) => client.connect_udp(host, *port, timeout).await.map(Self::Udp),
            SyslogAddress::Tcp(host, port) => {
                client.tunnel(host, *port, None, timeout).await.map(Self::Stream)
            }
            SyslogAddress::Tls(host, port) => {
                client.secure_tunnel(host, *port, timeout).await.map(Self::Stream)
            }
            SyslogAddress::Unix(path) => return connect_unix(path),
        };
        opened.map_err(|error| to_sink_error(&error))
    }

    /// Sends messages in order.
    pub(super) async fn send(&mut self, messages: &[Vec<u8>]) -> io::Result<()> {
        match self {
            Self::Stream(stream) => {
                let frames: Vec<u8> = messages.iter().flat_map(|message| frame(message)).collect();
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

    /// Waits until the connection is known to be closed, which may be never. Received data is ignored.
    pub(super) async fn closed(&mut self) -> io::Error {
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

    /// Returns the connection, unless it is known to be closed.
    pub(super) fn if_alive(mut self) -> Option<Self> {
        let is_closed = self.closed().now_or_never().is_some();
        (!is_closed).then_some(self)
    }
}

#[cfg(unix)]
fn connect_unix(path: &Path) -> Result<Connection, SinkError> {
    let failed = |error: io::Error| SinkError::io("the socket cannot be used", &error);
    let socket = UnixDatagram::unbound().map_err(failed)?;
    socket.connect(path).map_err(failed)?;
    Ok(Connection::Unix(socket))
}

#[cfg(not(unix))]
fn connect_unix(_path: &Path) -> Result<Connection, SinkError> {
    Err(SinkError::new("this system has no Unix sockets"))
}

/// Converts an error of the client, without the host and the source.
fn to_sink_error(error: &FetchError) -> SinkError {
    SinkError::new(match error {
        FetchError::Timeout { .. } => "connection timed out",
        FetchError::Dns { .. } => "host not found",
        FetchError::Tls { .. } => "TLS connection failed",
        _ => "could not connect",
    })
}
