//! One request and the head of its answer, on a kept connection or a new one.

use http::Response;
use hyper::body::Incoming;

use super::Shared;
use super::connect::Endpoint;
use super::connection::{Connection, SendFailure};
use super::fetch::Limits;
use super::pool::HostPermit;
use super::redirect::Hop;
use crate::error::{FetchError, FetchPhase};

/// Kept connections that may turn out to be dead before a new one is opened.
const MAX_STALE: usize = 2;

/// An answer whose body is still on the wire, and the connection it comes from.
pub(super) struct PendingResponse {
    pub(super) response: Response<Incoming>,
    pub(super) lease: PooledConnection,
}

/// A connection in use; dropping it closes an HTTP/1.1 connection.
pub(super) struct PooledConnection {
    pub(super) connection: Connection,
    endpoint: Endpoint,
    _place: HostPermit,
}

impl PooledConnection {
    /// Gives the connection back for later requests. Only after the body was read to its end.
    pub(super) fn release(self, shared: &Shared) {
        shared.pool.checkin(&self.endpoint, self.connection);
    }
}

/// Sends a hop and waits for the head of the answer.
///
/// A kept connection may be closed by the server just as the request goes out. Then the request is sent again if that
/// cannot do anything twice: it never left, or its method is safe.
pub(super) async fn exchange(
    shared: &Shared,
    hop: &Hop,
    limits: &Limits,
) -> Result<PendingResponse, FetchError> {
    let endpoint = Endpoint::of(&hop.url, limits.tls, limits.proxy.as_ref())?;
    limits.set_phase(FetchPhase::Resolve);
    let place = shared.pool.acquire_host_permit(&endpoint).await;
    let mut stale = 0;
    loop {
        let kept = if stale < MAX_STALE { shared.pool.checkout(&endpoint).await } else { None };
        let is_kept = kept.is_some();
        let mut connection = match kept {
            Some(connection) => connection,
            None => open(shared, &endpoint, limits).await?,
        };
        let request = connection.prepare(hop)?;
        limits.set_phase(FetchPhase::Response);
        match connection.send(request).await {
            Ok(response) => {
                let lease = PooledConnection { connection, endpoint, _place: place };
                return Ok(PendingResponse { response, lease });
            }
            Err(failure) if is_kept && is_retryable(hop, &failure) => stale += 1,
            Err(SendFailure { error, .. }) => {
                return Err(FetchError::Protocol { host: endpoint.host.to_string(), source: error.into() });
            }
        }
    }
}

async fn open(shared: &Shared, endpoint: &Endpoint, limits: &Limits) -> Result<Connection, FetchError> {
    let connecting =
        shared.connector.connect(endpoint, limits.connect_timeout, |stage| limits.set_phase(stage));
    let connection = connecting.await?;
    shared.pool.share(endpoint, &connection);
    Ok(connection)
}

fn is_retryable(hop: &Hop, failure: &SendFailure) -> bool {
    failure.is_unsent
        || hop.method.is_safe() && (failure.error.is_incomplete_message() || failure.error.is_closed())
}
