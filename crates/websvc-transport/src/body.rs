//! The body of a response: bytes at hand, or a channel that somebody fills.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use thiserror::Error;
use tokio::sync::mpsc;

/// The body of a response.
#[derive(Debug)]
pub struct Body(Inner);

#[derive(Debug)]
enum Inner {
    Full(Bytes),
    Channel(mpsc::Receiver<Result<Bytes, Aborted>>),
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

    /// Returns the bytes, unless the body is a channel.
    #[must_use]
    pub fn bytes(&self) -> Option<&Bytes> {
        match &self.0 {
            Inner::Full(bytes) => Some(bytes),
            Inner::Channel(_) => None,
        }
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
    pub(crate) fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Aborted>>> {
        match &mut self.0 {
            Inner::Full(bytes) if bytes.is_empty() => Poll::Ready(None),
            Inner::Full(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Inner::Channel(receiver) => {
                Pin::new(receiver).poll_recv(cx).map(|chunk| chunk.map(|c| c.map(Frame::data)))
            }
        }
    }

    pub(crate) fn is_finished(&self) -> bool {
        matches!(&self.0, Inner::Full(bytes) if bytes.is_empty())
    }

    pub(crate) fn remaining(&self) -> SizeHint {
        match &self.0 {
            Inner::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Inner::Channel(_) => SizeHint::default(),
        }
    }
}
