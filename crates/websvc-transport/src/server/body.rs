//! The body of a request, read with a limit and a time limit.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};

use crate::error::BodyError;

/// How slowly a body may arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyTimeout {
    /// The longest silence between two pieces.
    pub idle: Duration,
    /// The whole body.
    pub total: Duration,
}

impl Default for BodyTimeout {
    /// Ten seconds of silence, sixty in all.
    fn default() -> Self {
        Self { idle: Duration::from_secs(10), total: Duration::from_secs(60) }
    }
}

/// The body of a request.
///
/// Dropping it unread is fine: what the client still sends is read and thrown away within bounds, so that the client
/// gets its answer even if it writes everything before it reads.
#[derive(Debug)]
pub struct ServerBody {
    incoming: Option<Incoming>,
    leftover: Option<UnreadIncoming>,
    peer: SocketAddr,
}

/// Slot that takes back a body that was not read to its end; empty bodies have none.
#[derive(Debug, Clone, Default)]
pub(super) struct UnreadIncoming(Arc<Mutex<Option<Incoming>>>);

impl UnreadIncoming {
    pub(super) fn take(&self) -> Option<Incoming> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl ServerBody {
    pub(super) fn new(incoming: Incoming, peer: SocketAddr) -> (Self, Option<UnreadIncoming>) {
        let leftover = (!incoming.is_end_stream()).then(UnreadIncoming::default);
        (Self { incoming: Some(incoming), leftover: leftover.clone(), peer }, leftover)
    }

    /// Returns the address of the client at the other end of the connection.
    ///
    /// It is here rather than in the request's extensions because those would cost every request three allocations.
    #[must_use]
    pub fn peer_addr(&self) -> SocketAddr {
        self.peer
    }

    /// Returns the length the client has announced, if it did.
    #[must_use]
    pub fn announced_length(&self) -> Option<u64> {
        self.incoming.as_ref().and_then(|incoming| incoming.size_hint().exact())
    }

    /// Reads the whole body.
    ///
    /// # Errors
    /// [`BodyError::TooLarge`] when the body is larger than `limit` bytes; before reading anything if its announced
    /// length is. [`BodyError::TimedOut`] when it is too slow, [`BodyError::Broken`] when it ends early.
    pub async fn read(mut self, limit: usize, timeout: BodyTimeout) -> Result<Bytes, BodyError> {
        if self.announced_length().is_some_and(|length| length > limit as u64) {
            return Err(BodyError::TooLarge { limit });
        }
        within(timeout.total, self.collect(limit, timeout.idle)).await?
    }

    /// Reads the next piece of the body, `None` at its end. The caller bounds how much it reads.
    ///
    /// # Errors
    /// [`BodyError::TimedOut`] when nothing arrives for `idle`, [`BodyError::Broken`] when it ends early.
    pub async fn next_chunk(&mut self, idle: Duration) -> Result<Option<Bytes>, BodyError> {
        let chunk = self.chunk(idle).await?;
        if chunk.is_none() {
            self.incoming = None;
        }
        Ok(chunk)
    }

    async fn collect(&mut self, limit: usize, idle: Duration) -> Result<Bytes, BodyError> {
        let mut first = Bytes::new();
        let mut rest = BytesMut::new();
        while let Some(chunk) = self.chunk(idle).await? {
            if first.len() + rest.len() + chunk.len() > limit {
                return Err(BodyError::TooLarge { limit });
            }
            if first.is_empty() {
                // Most bodies are one piece: those are not copied.
                first = chunk;
            } else {
                rest.extend_from_slice(&chunk);
            }
        }
        self.incoming = None;
        if rest.is_empty() {
            return Ok(first);
        }
        let mut whole = BytesMut::with_capacity(first.len() + rest.len());
        whole.extend_from_slice(&first);
        whole.extend_from_slice(&rest);
        Ok(whole.freeze())
    }

    async fn chunk(&mut self, idle: Duration) -> Result<Option<Bytes>, BodyError> {
        let Some(incoming) = &mut self.incoming else { return Ok(None) };
        while let Some(frame) = within(idle, incoming.frame()).await? {
            // Trailers mean nothing to this server.
            if let Ok(data) = frame.map_err(|error| BodyError::Broken(error.into()))?.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }
}

async fn within<F: Future>(limit: Duration, future: F) -> Result<F::Output, BodyError> {
    tokio::time::timeout(limit, future).await.map_err(|_| BodyError::TimedOut)
}

impl Drop for ServerBody {
    fn drop(&mut self) {
        if let (Some(incoming), Some(leftover)) = (self.incoming.take(), &self.leftover)
            && !incoming.is_end_stream()
        {
            *leftover.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(incoming);
        }
    }
}
