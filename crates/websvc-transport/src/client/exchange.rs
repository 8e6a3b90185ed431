//! One request and the head of its answer, on a kept connection or a new one.

use http::Response;
use hyper::body::Incoming;

use super::Shared;
use super::connect::Endpoint;
use super::connection::{Connection, SendFailure};
use super::fetch::Limits;
use super::pool::Place;
use super::redirect::Hop;
use crate::error::{FetchError, Stage};

/// Kept connections that may turn out to be dead before a new one is opened.
const MAX_STALE: usize = 2;

/// An answer whose body is still on the wire, and the connection it comes from.
pub(super) struct Answer {
    pub(super) response: Response<Incoming>,
    pub(super) lease: Lease,
}

/// A connection in use; dropping it closes an HTTP/1.1 connection.
pub(super) struct Lease {
    pub(super) connection: Connection,
    endpoint: Endpoint,
    _place: Place,
}

impl Lease {
    /// Gives the connection back for later requests. Only after the body was read to its end.
    pub(super) fn give_back(self, shared: &Shared) {
        shared.pool.put(&self.endpoint, self.connection);
    }
}

/// Sends a hop and waits for the head of the answer.
///
/// A kept connection may be closed by the server just as the request goes out. Then the request is sent again if that
/// cannot do anything twice: it never left, or its method is safe.
pub(super) async fn exchange(shared: &Shared, hop: &Hop, limits: &Limits) -> Result<Answer, FetchError> {
    let endpoint = Endpoint::of(&hop.url, limits.tls, limits.proxy.as_ref())?;
    limits.enter(Stage::Resolve);
    let place = shared.pool.place(&endpoint).await;
    let mut stale = 0;
    loop {
        let kept = if stale < MAX_STALE { shared.pool.take(&endpoint).await } else { None };
        let is_kept = kept.is_some();
        let mut connection = match kept {
            Some(connection) => connection,
            None => open(shared, &endpoint, limits).await?,
        };
        let request = connection.prepare(hop)?;
        limits.enter(Stage::Response);
        match connection.send(request).await {
            Ok(response) => {
                let lease = Lease { connection, endpoint, _place: place };
                return Ok(Answer { response, lease });
            }
            Err(failure) if is_kept && may_repeat(hop, &failure) => stale += 1,
            Err(SendFailure { error, .. }) => {
                return Err(FetchError::Protocol { host: endpoint.host.to_string(), source: error.into() });
            }
        }
    }
}

async fn open(shared: &Shared, endpoint: &Endpoint, limits: &Limits) -> Result<Connection, FetchError> {
    let connecting = shared.connector.connect(endpoint, limits.connect_timeout, |stage| limits.enter(stage));
    let connection = connecting.await?;
    shared.pool.offer(endpoint, &connection);
    Ok(connection)
}

fn may_repeat(hop: &Hop, failure: &SendFailure) -> bool {
    failure.is_unsent
        || hop.method.is_safe() && (failure.error.is_incomplete_message() || failure.error.is_closed())
}
