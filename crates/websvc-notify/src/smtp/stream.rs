//! A stream to a mail server, on a connection of the guarded client.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use lettre::transport::smtp::client::AsyncTokioStream;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use websvc_transport::Tunnel;

/// Maximum size of all replies on a connection, in bytes. The mail library reads a line of any length.
const MAX_REPLY_BYTES: usize = 256 * 1024;
/// Replaces the greeting after `STARTTLS`, when the server sends none (RFC 3207, section 4.2) and the mail library
/// expects one.
const GREETING: &[u8] = b"220 TLS\r\n";

/// A connection that the mail library uses for a while. It can be taken back for TLS.
#[derive(Debug, Clone)]
pub(super) struct Connection(Arc<Mutex<Tunnel>>);

/// The stream of a connection, as the mail library needs it.
#[derive(Debug)]
pub(super) struct MailStream {
    connection: Connection,
    greeting: &'static [u8],
    remaining_bytes: usize,
}

impl Connection {
    pub(super) fn new(tunnel: Tunnel) -> Self {
        Self(Arc::new(Mutex::new(tunnel)))
    }

    /// Returns the stream of a connection on which the server sends a greeting.
    pub(super) fn stream(&self) -> Box<MailStream> {
        Box::new(MailStream { connection: self.clone(), greeting: &[], remaining_bytes: MAX_REPLY_BYTES })
    }

    /// Returns the stream of a connection after `STARTTLS`.
    pub(super) fn stream_after_start_tls(&self) -> Box<MailStream> {
        Box::new(MailStream { greeting: GREETING, ..*self.stream() })
    }

    /// Takes the connection back, if its stream was dropped. Bytes that the server sent too early were dropped with the
    /// stream, so nothing from before TLS can count as a reply after it.
    pub(super) fn into_tunnel(self) -> Option<Tunnel> {
        Arc::into_inner(self.0).map(Mutex::into_inner)
    }
}

impl AsyncTokioStream for MailStream {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }
}

impl AsyncRead for MailStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.greeting.is_empty() {
            let (now, later) = self.greeting.split_at(self.greeting.len().min(buffer.remaining()));
            buffer.put_slice(now);
            self.greeting = later;
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let polled = Pin::new(&mut *self.connection.0.lock()).poll_read(cx, buffer);
        let received = buffer.filled().len() - before;
        match self.remaining_bytes.checked_sub(received) {
            Some(remaining) => self.remaining_bytes = remaining,
            None => return Poll::Ready(Err(io::Error::other("the server sent more than 256 KiB"))),
        }
        polled
    }
}

impl AsyncWrite for MailStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.connection.0.lock()).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.connection.0.lock()).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.connection.0.lock()).poll_shutdown(cx)
    }
}
