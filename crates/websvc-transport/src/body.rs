//! The body of a response: bytes in memory, a channel of chunks, or a reader that is read while the body is sent.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use thiserror::Error;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc;

use crate::tunnel::Tunnel;
use crate::upgrade::{ShutdownSignal, UpgradeHandler};

/// The size of the chunks in which a reader is read: the amount of a file in memory for one response.
const CHUNK_BYTES: usize = 64 * 1024;

/// The body of a response.
#[derive(Debug)]
pub struct Body(Inner);

#[derive(Debug)]
enum Inner {
    Full(Bytes),
    Channel(mpsc::Receiver<Result<Bytes, Aborted>>),
    Reader(Box<Reader>),
    /// No content: the connection continues with another protocol.
    Upgrade(UpgradeHandler),
}

/// A source that is read while it is sent.
struct Reader {
    source: Pin<Box<dyn AsyncRead + Send>>,
    remaining: u64,
    chunk: Vec<u8>,
}

/// The sender of a streamed body aborted it: the connection is closed, so that the client sees an incomplete body.
#[derive(Debug, Clone, Copy, Error)]
#[error("the response body was aborted")]
pub struct Aborted;

/// The writing end of [`Body::channel`]; dropping it ends the body.
#[derive(Debug, Clone)]
pub struct BodySender(mpsc::Sender<Result<Bytes, Aborted>>);

impl Body {
    /// Returns a body without content.
    #[must_use]
    pub const fn empty() -> Self {
        Self(Inner::Full(Bytes::new()))
    }

    /// Returns a body and its sender. At most `capacity` chunks (at least one) are buffered while the client is slow.
    ///
    /// The body is sent chunked over HTTP/1.1 unless the response has a `Content-Length` header.
    #[must_use]
    pub fn channel(capacity: usize) -> (BodySender, Self) {
        let (sender, receiver) = mpsc::channel(capacity.max(1));
        (BodySender(sender), Self(Inner::Channel(receiver)))
    }

    /// Returns a body of `length` bytes that are read from `source` while they are sent. If `source` has fewer bytes,
    /// or reading fails, the connection is closed.
    #[must_use]
    pub fn reader(source: impl AsyncRead + Send + 'static, length: u64) -> Self {
        Self(Inner::Reader(Box::new(Reader {
            source: Box::pin(source),
            remaining: length,
            chunk: Vec::new(),
        })))
    }

    /// Returns the body of a 101 response: once its head is written, `protocol` takes over the connection.
    ///
    /// The connection counts as one until `protocol` ends. It is closed when the client reads nothing for
    /// [`ServerConfig::write_stall_timeout`](crate::ServerConfig::write_stall_timeout), or two seconds after the server
    /// began to shut down, which the [`ShutdownSignal`] reports. A client that sends nothing is not closed: `protocol`
    /// has to handle that.
    ///
    /// The response becomes a 500 if the request did not ask for an upgrade in HTTP/1.1, or the status is not 101.
    #[must_use]
    pub fn upgrade<F>(protocol: impl FnOnce(Tunnel, ShutdownSignal) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self(Inner::Upgrade(UpgradeHandler::new(protocol)))
    }

    /// Returns the bytes, if the whole body is in memory.
    #[must_use]
    pub fn bytes(&self) -> Option<&Bytes> {
        match &self.0 {
            Inner::Full(bytes) => Some(bytes),
            Inner::Channel(_) | Inner::Reader(_) | Inner::Upgrade(_) => None,
        }
    }
}

impl Reader {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Aborted>>> {
        if self.remaining == 0 {
            return Poll::Ready(None);
        }
        let chunk_len = usize::try_from(self.remaining).unwrap_or(CHUNK_BYTES).min(CHUNK_BYTES);
        self.chunk.resize(chunk_len, 0);
        let mut buffer = ReadBuf::new(&mut self.chunk);
        let outcome = match self.source.as_mut().poll_read(cx, &mut buffer) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(outcome) => outcome,
        };
        let read = buffer.filled().len();
        if outcome.is_err() || read == 0 {
            // The response promised a length: a shorter body must not look complete.
            self.remaining = 0;
            return Poll::Ready(Some(Err(Aborted)));
        }
        self.remaining -= read as u64;
        let mut chunk = std::mem::take(&mut self.chunk);
        chunk.truncate(read);
        Poll::Ready(Some(Ok(chunk.into())))
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("remaining", &self.remaining).finish_non_exhaustive()
    }
}

impl BodySender {
    /// Sends one chunk. Waits while the client is slow.
    ///
    /// # Errors
    /// [`Aborted`] when the client has disconnected: stop producing.
    pub async fn send(&self, chunk: impl Into<Bytes>) -> Result<(), Aborted> {
        self.0.send(Ok(chunk.into())).await.map_err(|_| Aborted)
    }

    /// Closes the connection instead of ending the body properly.
    pub async fn abort(self) {
        // A client that has disconnected has no connection left to close.
        let _ = self.0.send(Err(Aborted)).await;
    }

    /// Waits until the client has disconnected or has received everything.
    pub async fn closed(&self) {
        self.0.closed().await;
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::empty()
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self(Inner::Full(bytes))
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Inner::Full(bytes.into()))
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        Self(Inner::Full(text.into()))
    }
}

impl From<&'static str> for Body {
    fn from(text: &'static str) -> Self {
        Self(Inner::Full(Bytes::from_static(text.as_bytes())))
    }
}

impl Body {
    pub(crate) const fn is_upgrade(&self) -> bool {
        matches!(self.0, Inner::Upgrade(_))
    }

    /// Returns the protocol of a 101 response.
    pub(crate) fn into_upgrade(self) -> Option<UpgradeHandler> {
        match self.0 {
            Inner::Upgrade(handler) => Some(handler),
            Inner::Full(_) | Inner::Channel(_) | Inner::Reader(_) => None,
        }
    }

    pub(crate) fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Aborted>>> {
        match &mut self.0 {
            Inner::Upgrade(_) => Poll::Ready(None),
            Inner::Full(bytes) if bytes.is_empty() => Poll::Ready(None),
            Inner::Full(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Inner::Channel(receiver) => {
                Pin::new(receiver).poll_recv(cx).map(|chunk| chunk.map(|c| c.map(Frame::data)))
            }
            Inner::Reader(reader) => reader.poll_chunk(cx).map(|chunk| chunk.map(|c| c.map(Frame::data))),
        }
    }

    pub(crate) fn is_finished(&self) -> bool {
        match &self.0 {
            Inner::Upgrade(_) => true,
            Inner::Full(bytes) => bytes.is_empty(),
            Inner::Channel(_) => false,
            Inner::Reader(reader) => reader.remaining == 0,
        }
    }

    pub(crate) fn remaining(&self) -> SizeHint {
        match &self.0 {
            Inner::Upgrade(_) => SizeHint::with_exact(0),
            Inner::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Inner::Channel(_) => SizeHint::default(),
            Inner::Reader(reader) => SizeHint::with_exact(reader.remaining),
        }
    }
}
