//! The byte stream of a connection, TCP or TLS: it records progress, and closes without destroying the last response.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use super::dispatch::ConnectionShared;

/// Maximum number of bytes that are read and discarded after the response.
const LINGER_BYTES: usize = 64 * 1024 * 1024;

/// TCP, with or without TLS.
#[derive(Debug)]
pub(super) enum Transport {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// The stream of a connection.
#[derive(Debug)]
pub(super) struct Stream {
    transport: Transport,
    /// Bytes that were read to detect the protocol.
    prefix: Bytes,
    shared: Arc<ConnectionShared>,
    end: End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Open,
    /// The write side is closed. The number of discarded bytes.
    Lingering(usize),
    Closed,
}

impl Stream {
    pub(super) fn new(transport: Transport, prefix: Bytes, shared: Arc<ConnectionShared>) -> Self {
        Self { transport, prefix, shared, end: End::Open }
    }

    /// Returns bytes to the stream that were read beyond the end of HTTP.
    pub(super) fn push_back(&mut self, bytes: &Bytes) {
        if self.prefix.is_empty() {
            self.prefix = bytes.clone();
        } else {
            self.prefix = [bytes, &self.prefix[..]].concat().into();
        }
    }

    /// Reads and discards what the client sends until it closes the connection. Closing a socket with unread bytes
    /// makes the system reset the connection, and the client could lose a response that it has not read yet.
    fn poll_linger(&mut self, cx: &mut Context<'_>, mut discarded: usize) -> Poll<()> {
        let tcp = match &mut self.transport {
            Transport::Plain(stream) => stream,
            Transport::Tls(stream) => stream.get_mut().0,
        };
        let mut scratch = [0; 16 * 1024];
        while discarded < LINGER_BYTES {
            let mut buffer = ReadBuf::new(&mut scratch);
            match Pin::new(&mut *tcp).poll_read(cx, &mut buffer) {
                Poll::Pending => {
                    self.end = End::Lingering(discarded);
                    return Poll::Pending;
                }
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => discarded += buffer.filled().len(),
                Poll::Ready(_) => break,
            }
        }
        Poll::Ready(())
    }

    fn record_write<T>(&self, result: Poll<T>) -> Poll<T> {
        match &result {
            Poll::Pending => self.shared.activity.write_blocked(),
            Poll::Ready(_) => self.shared.activity.write_moved(),
        }
        result
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.prefix.has_remaining() {
            let n = self.prefix.len().min(buffer.remaining());
            buffer.put_slice(&self.prefix.split_to(n));
            self.shared.activity.bytes_read();
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let read = match &mut self.transport {
            Transport::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Transport::Tls(stream) => Pin::new(stream.as_mut()).poll_read(cx, buffer),
        };
        if buffer.filled().len() > before {
            self.shared.activity.bytes_read();
        }
        read
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = match &mut self.transport {
            Transport::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Transport::Tls(stream) => Pin::new(stream.as_mut()).poll_write(cx, bytes),
        };
        self.record_write(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = match &mut self.transport {
            Transport::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
            Transport::Tls(stream) => Pin::new(stream.as_mut()).poll_write_vectored(cx, slices),
        };
        self.record_write(written)
    }

    fn is_write_vectored(&self) -> bool {
        match &self.transport {
            Transport::Plain(stream) => stream.is_write_vectored(),
            Transport::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = match &mut self.transport {
            Transport::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Transport::Tls(stream) => Pin::new(stream.as_mut()).poll_flush(cx),
        };
        self.record_write(flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            self.end = match self.end {
                End::Open => {
                    let shut = match &mut self.transport {
                        Transport::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
                        Transport::Tls(stream) => Pin::new(stream.as_mut()).poll_shutdown(cx),
                    };
                    ready!(self.record_write(shut))?;
                    if self.shared.activity.may_reset() { End::Lingering(0) } else { End::Closed }
                }
                End::Lingering(discarded) => {
                    self.shared.activity.linger();
                    ready!(self.poll_linger(cx, discarded));
                    End::Closed
                }
                End::Closed => return Poll::Ready(Ok(())),
            };
        }
    }
}
