//! The body of a response: bytes at hand, a channel that somebody fills, or a file that is read while it is sent.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use thiserror::Error;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc;

use crate::server::{ShutdownSignal, UpgradeHandler};
use crate::tunnel::Tunnel;

/// How much of a file is in memory for one answer.
const CHUNK_BYTES: usize = 64 * 1024;

/// The body of a response.
#[derive(Debug)]
pub struct Body(Inner);

#[derive(Debug)]
enum Inner {
    Full(Bytes),
    Channel(mpsc::Receiver<Result<Bytes, Aborted>>),
    Reader(Box<Reader>),
    /// Nothing: another protocol follows.
    Switch(UpgradeHandler),
}

/// Something that is read while it is sent, and how much of it is left.
struct Reader {
    source: Pin<Box<dyn AsyncRead + Send>>,
    left: u64,
    chunk: Vec<u8>,
}

/// A streamed body was given up by its sender: the connection is cut, so that the client sees a broken body.
#[derive(Debug, Clone, Copy, Error)]
#[error("the body was given up")]
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

    /// Returns a body and what fills it; at most `capacity` chunks (at least one) wait for a slow client.
    ///
    /// It is sent chunked over HTTP/1.1 unless the response has a `Content-Length` header.
    #[must_use]
    pub fn channel(capacity: usize) -> (BodySender, Self) {
        let (sender, receiver) = mpsc::channel(capacity.max(1));
        (BodySender(sender), Self(Inner::Channel(receiver)))
    }

    /// Returns a body of `length` bytes that are read while they are sent. If there are fewer, or reading fails, the
    /// connection is cut.
    #[must_use]
    pub fn reader(source: impl AsyncRead + Send + 'static, length: u64) -> Self {
        Self(Inner::Reader(Box::new(Reader { source: Box::pin(source), left: length, chunk: Vec::new() })))
    }

    /// Returns the body of an answer 101: once its head is written, `protocol` goes on with the connection. That counts as
    /// one connection until `protocol` ends, and is cut when the client takes nothing for
    /// [`ServerConfig::write_stall_timeout`](crate::ServerConfig::write_stall_timeout), or two seconds after the server
    /// began to drain, which `protocol` is told; silent clients are the protocol's affair.
    ///
    /// The answer is 500 when the request asked for no other protocol in HTTP/1.1, or the answer's status is not 101.
    #[must_use]
    pub fn upgrade<F>(protocol: impl FnOnce(Tunnel, ShutdownSignal) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self(Inner::Switch(UpgradeHandler::new(protocol)))
    }

    /// Returns the bytes, if they are at hand.
    #[must_use]
    pub fn bytes(&self) -> Option<&Bytes> {
        match &self.0 {
            Inner::Full(bytes) => Some(bytes),
            Inner::Channel(_) | Inner::Reader(_) | Inner::Switch(_) => None,
        }
    }
}

impl Reader {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Aborted>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let wanted = usize::try_from(self.left).unwrap_or(CHUNK_BYTES).min(CHUNK_BYTES);
        self.chunk.resize(wanted, 0);
        let mut buffer = ReadBuf::new(&mut self.chunk);
        let outcome = match self.source.as_mut().poll_read(cx, &mut buffer) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(outcome) => outcome,
        };
        let read = buffer.filled().len();
        if outcome.is_err() || read == 0 {
            // The length was promised: what is short of it must not look whole.
            self.left = 0;
            return Poll::Ready(Some(Err(Aborted)));
        }
        self.left -= read as u64;
        let mut chunk = std::mem::take(&mut self.chunk);
        chunk.truncate(read);
        Poll::Ready(Some(Ok(chunk.into())))
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("left", &self.left).finish_non_exhaustive()
    }
}

impl BodySender {
    /// Sends one chunk, waiting while the client is slow.
    ///
    /// # Errors
    /// [`Aborted`] when the client has gone: stop producing.
    pub async fn send(&self, chunk: impl Into<Bytes>) -> Result<(), Aborted> {
        self.0.send(Ok(chunk.into())).await.map_err(|_| Aborted)
    }

    /// Cuts the connection instead of ending the body properly.
    pub async fn abort(self) {
        // A client that has gone has nothing left to cut.
        let _ = self.0.send(Err(Aborted)).await;
    }

    /// Waits until the client has gone or has received everything.
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
    pub(crate) const fn is_switch(&self) -> bool {
        matches!(self.0, Inner::Switch(_))
    }

    /// Returns what is to follow instead of a body.
    pub(crate) fn into_switch(self) -> Option<UpgradeHandler> {
        match self.0 {
            Inner::Switch(switch) => Some(switch),
            Inner::Full(_) | Inner::Channel(_) | Inner::Reader(_) => None,
        }
    }

    pub(crate) fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Aborted>>> {
        match &mut self.0 {
            Inner::Switch(_) => Poll::Ready(None),
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
            Inner::Switch(_) => true,
            Inner::Full(bytes) => bytes.is_empty(),
            Inner::Channel(_) => false,
            Inner::Reader(reader) => reader.left == 0,
        }
    }

    pub(crate) fn remaining(&self) -> SizeHint {
        match &self.0 {
            Inner::Switch(_) => SizeHint::with_exact(0),
            Inner::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Inner::Channel(_) => SizeHint::default(),
            Inner::Reader(reader) => SizeHint::with_exact(reader.left),
        }
    }
}
