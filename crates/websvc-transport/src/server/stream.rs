//! The byte stream of a connection: TCP or TLS, watched for progress, closed without destroying the last answer.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use super::dispatch::ConnectionShared;

/// How much of what a client still sends after its answer is read and thrown away.
const LINGER_BYTES: usize = 64 * 1024 * 1024;

/// TCP, with TLS or without.
#[derive(Debug)]
pub(super) enum Transport {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// A connection's stream.
#[derive(Debug)]
pub(super) struct Stream {
    transport: Transport,
    /// Bytes that were read to find out the protocol.
    prefix: Bytes,
    origin: Arc<ConnectionShared>,
    end: End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Open,
    /// Our side is closed; this many bytes were thrown away.
    Lingering(usize),
    Closed,
}

impl Stream {
    pub(super) fn new(transport: Transport, prefix: Bytes, origin: Arc<ConnectionShared>) -> Self {
        Self { transport, prefix, origin, end: End::Open }
    }

    /// Puts back bytes that were read too far.
    pub(super) fn push_back(&mut self, bytes: &Bytes) {
        if self.prefix.is_empty() {
            self.prefix = bytes.clone();
        } else {
            self.prefix = [bytes, &self.prefix[..]].concat().into();
        }
    }

    /// Reads and drops what the client sends until it closes: closing with unread bytes would make the system reset
    /// the connection, and the client would lose an answer that it has not read yet.
    fn poll_linger(&mut self, cx: &mut Context<'_>, mut dropped: usize) -> Poll<()> {
        let tcp = match &mut self.transport {
            Transport::Plain(stream) => stream,
            Transport::Tls(stream) => stream.get_mut().0,
        };
        let mut scratch = [0; 16 * 1024];
        while dropped < LINGER_BYTES {
            let mut buffer = ReadBuf::new(&mut scratch);
            match Pin::new(&mut *tcp).poll_read(cx, &mut buffer) {
                Poll::Pending => {
                    self.end = End::Lingering(dropped);
                    return Poll::Pending;
                }
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => dropped += buffer.filled().len(),
                Poll::Ready(_) => break,
            }
        }
        Poll::Ready(())
    }

    fn note<T>(&self, written: Poll<T>) -> Poll<T> {
        match &written {
            Poll::Pending => self.origin.activity.write_blocked(),
            Poll::Ready(_) => self.origin.activity.write_moved(),
        }
        written
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
            self.origin.activity.bytes_read();
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let read = match &mut self.transport {
            Transport::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Transport::Tls(stream) => Pin::new(stream.as_mut()).poll_read(cx, buffer),
        };
        if buffer.filled().len() > before {
            self.origin.activity.bytes_read();
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
        self.note(written)
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
        self.note(written)
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
        self.note(flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            self.end = match self.end {
                End::Open => {
                    let shut = match &mut self.transport {
                        Transport::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
                        Transport::Tls(stream) => Pin::new(stream.as_mut()).poll_shutdown(cx),
                    };
                    ready!(self.note(shut))?;
                    if self.origin.activity.may_reset() { End::Lingering(0) } else { End::Closed }
                }
                End::Lingering(dropped) => {
                    self.origin.activity.linger();
                    ready!(self.poll_linger(cx, dropped));
                    End::Closed
                }
                End::Closed => return Poll::Ready(Ok(())),
            };
        }
    }
}
