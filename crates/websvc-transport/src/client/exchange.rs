//! One request and the head of its response, on a pooled connection or a new one.

use http::Response;
use hyper::body::Incoming;

use super::Shared;
use super::connect::Endpoint;
use super::connection::{Connection, SendFailure};
use super::limits::Limits;
use super::pool::HostPermit;
use super::redirect::Hop;
use crate::error::{FetchError, FetchPhase};

/// Maximum number of pooled connections that may turn out to be closed before a new one is opened.
const MAX_STALE: usize = 2;

/// A response whose body is still on the wire, and its connection.
pub(super) struct PendingResponse {
    pub(super) response: Response<Incoming>,
    pub(super) pooled: PooledConnection,
}

/// A connection in use; dropping it closes an HTTP/1.1 connection.
pub(super) struct PooledConnection {
    pub(super) connection: Connection,
    endpoint: Endpoint,
    _permit: HostPermit,
}

impl PooledConnection {
    /// Returns the connection to the pool. Call this only after the body was read to its end.
    pub(super) fn release(self, shared: &Shared) {
        shared.pool.checkin(&self.endpoint, self.connection);
    }
}

/// Sends a hop and waits for the head of the response.
///
/// The server may close a pooled connection while the request is being sent. The request is then repeated, if that
/// cannot have an effect twice: nothing of it was sent, or its method is safe.
pub(super) async fn exchange(
    shared: &Shared,
    hop: &Hop,
    limits: &Limits,
) -> Result<PendingResponse, FetchError> {
    let endpoint = Endpoint::new(&hop.url, limits.tls, limits.proxy.as_ref())?;
    limits.set_phase(FetchPhase::Resolve);
    let permit = shared.pool.acquire_host_permit(&endpoint).await;
    let mut stale = 0;
    loop {
        let pooled = if stale < MAX_STALE { shared.pool.checkout(&endpoint).await } else { None };
        let is_pooled = pooled.is_some();
        let mut connection = match pooled {
            Some(connection) => connection,
            None => open(shared, &endpoint, limits).await?,
        };
        let request = connection.prepare(hop)?;
        limits.set_phase(FetchPhase::Response);
        match connection.send(request).await {
            Ok(response) => {
                let pooled = PooledConnection { connection, endpoint, _permit: permit };
                return Ok(PendingResponse { response, pooled });
            }
            Err(failure) if is_pooled && is_retryable(hop, &failure) => stale += 1,
            Err(SendFailure { error, .. }) => {
                return Err(FetchError::Protocol { host: endpoint.host.to_string(), source: error.into() });
            }
        }
    }
}

async fn open(shared: &Shared, endpoint: &Endpoint, limits: &Limits) -> Result<Connection, FetchError> {
    let connecting =
        shared.connector.connect(endpoint, limits.connect_timeout, |phase| limits.set_phase(phase));
    let connection = connecting.await?;
    shared.pool.share(endpoint, &connection);
    Ok(connection)
}

fn is_retryable(hop: &Hop, failure: &SendFailure) -> bool {
    failure.is_unsent
        || hop.method.is_safe() && (failure.error.is_incomplete_message() || failure.error.is_closed())
}
