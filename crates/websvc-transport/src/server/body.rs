//! The body of a request, read with a size limit and a time limit.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};
use parking_lot::Mutex;

use crate::error::BodyError;

/// Time limits for reading a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyTimeout {
    /// Maximum time between two chunks.
    pub idle: Duration,
    /// Maximum time for the whole body.
    pub total: Duration,
}

impl Default for BodyTimeout {
    /// Ten seconds between chunks, sixty in all.
    fn default() -> Self {
        Self { idle: Duration::from_secs(10), total: Duration::from_secs(60) }
    }
}

/// The body of a request.
///
/// The handler may drop the body without reading it. The server then reads and discards a limited amount of what the
/// client still sends, so that a client that writes its whole body before it reads still gets the response.
#[derive(Debug)]
pub struct ServerBody {
    incoming: Option<Incoming>,
    /// The whole body, after it was received.
    received: Bytes,
    unread: Option<UnreadIncoming>,
    peer: SocketAddr,
}

/// Slot that takes back a body that was not read to its end; empty bodies have none.
#[derive(Debug, Clone, Default)]
pub(super) struct UnreadIncoming(Arc<Mutex<Option<Incoming>>>);

impl UnreadIncoming {
    pub(super) fn take(&self) -> Option<Incoming> {
        self.0.lock().take()
    }
}

impl ServerBody {
    pub(super) fn new(incoming: Incoming, peer: SocketAddr) -> (Self, Option<UnreadIncoming>) {
        let unread = (!incoming.is_end_stream()).then(UnreadIncoming::default);
        let body = Self { incoming: Some(incoming), received: Bytes::new(), unread: unread.clone(), peer };
        (body, unread)
    }

    /// Returns a body that has arrived already, of a request that was made inside of the process for a client at an
    /// address.
    #[must_use]
    pub fn received(received: Bytes, peer: SocketAddr) -> Self {
        Self { incoming: None, received, unread: None, peer }
    }

    /// Returns the address of the client at the other end of the connection.
    ///
    /// The address is not in the request's extensions, because that would cost every request three allocations.
    #[must_use]
    pub fn peer_addr(&self) -> SocketAddr {
        self.peer
    }

    /// Returns the declared length of the body, if there is one.
    #[must_use]
    pub fn announced_length(&self) -> Option<u64> {
        self.incoming.as_ref().and_then(|incoming| incoming.size_hint().exact())
    }

    /// Receives the whole body, which [`into_received`](Self::into_received) then returns. Returns its length.
    ///
    /// # Errors
    /// [`BodyError::TooLarge`] when the body is larger than `limit` bytes: before anything is read if its declared
    /// length is. [`BodyError::TimedOut`] when the client is too slow. [`BodyError::Broken`] when the body ends early.
    pub async fn receive(&mut self, limit: usize, timeout: BodyTimeout) -> Result<usize, BodyError> {
        if self.announced_length().is_some_and(|length| length > limit as u64) {
            return Err(BodyError::TooLarge { limit });
        }
        self.received = with_timeout(timeout.total, self.collect(limit, timeout.idle)).await??;
        Ok(self.received.len())
    }

    /// Returns the body that was received; empty if none was.
    #[must_use]
    pub fn into_received(mut self) -> Bytes {
        std::mem::take(&mut self.received)
    }

    /// Receives and returns the whole body.
    ///
    /// # Errors
    /// Those of [`receive`](Self::receive).
    pub async fn read(mut self, limit: usize, timeout: BodyTimeout) -> Result<Bytes, BodyError> {
        self.receive(limit, timeout).await?;
        Ok(self.into_received())
    }

    /// Reads the next chunk of the body, `None` at its end. A body that has arrived is one chunk. The caller has to limit the
    /// total size.
    ///
    /// # Errors
    /// [`BodyError::TimedOut`] when nothing arrives for `idle`. [`BodyError::Broken`] when the body ends early.
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
                // Most bodies arrive in one chunk, which is then not copied.
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
        if !self.received.is_empty() {
            return Ok(Some(std::mem::take(&mut self.received)));
        }
        let Some(incoming) = &mut self.incoming else { return Ok(None) };
        while let Some(frame) = with_timeout(idle, incoming.frame()).await? {
            // This server ignores trailers.
            if let Ok(data) = frame.map_err(|error| BodyError::Broken(error.into()))?.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }
}

async fn with_timeout<F: Future>(limit: Duration, future: F) -> Result<F::Output, BodyError> {
    tokio::time::timeout(limit, future).await.map_err(|_elapsed| BodyError::TimedOut)
}

impl Drop for ServerBody {
    fn drop(&mut self) {
        if let (Some(incoming), Some(unread)) = (self.incoming.take(), &self.unread)
            && !incoming.is_end_stream()
        {
            *unread.0.lock() = Some(incoming);
        }
    }
}
