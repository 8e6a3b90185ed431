//! Forwarding: requests that only another replica can answer are passed on to it over HTTP.
//!
//! A browser session runs in one process. Each replica writes its address and a secret of its current run into its row
//! of the database. The replica that a request reaches, the edge, sends it on with that secret. The edge counts the
//! request: rate limits, concurrency, metrics. The owner does the work: it authenticates the key again, charges, and
//! writes the audit event. So the secret alone gives no access to anything.
//!
//! A forwarded request is never forwarded again.

mod header;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use data_encoding::HEXLOWER;
use futures_util::future::join_all;
use http::{Method, Request, StatusCode};
use subtle::ConstantTimeEq;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use url::Url;
use websvc_stage::Counter;
use websvc_store::{ReplicaAddress, Store};
use websvc_transport::{
    AddressGuard, Client, ClientBuildError, ClientConfig, FetchRequest, FetchResponse, RedirectPolicy,
    RelayRequest, ServerBody,
};
use websvc_types::ErrorCode;

pub(crate) use self::header::{Forwarded, Origin};
use self::header::{remove_all, write_all};
use crate::response::{ApiError, HttpResponse};

/// The maximum number of requests that this process passes on at the same time.
const MAX_REQUESTS: usize = 128;
/// The maximum number of WebSockets that this process passes on at the same time.
const MAX_SOCKETS: usize = 256;
/// Time limit for a connection to another replica.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// Time limit until the head of the response: code runs for up to 300 s, in a session that first has to start.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(360);
/// Time limit of the handshake of a WebSocket.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(30);
/// Time without data from the owner after which it counts as gone. It sends a ping every 25 s.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(60);
/// Time limit of a question to another replica.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(3);
/// The maximum size of the answer to a question: a list of 100 sessions is a tenth of it.
const MAX_ANSWER_BYTES: u64 = 1024 * 1024;
/// `Retry-After` while a replica does not respond. After about ten seconds it counts as lost.
const UNREACHABLE_RETRY_AFTER_S: u64 = 2;
/// `Retry-After` while this process passes on as many requests as it may.
const BUSY_RETRY_AFTER_S: u64 = 10;

/// The address of this process for the other replicas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Announcement {
    /// A base URL, such as `http://10.0.0.5:3002`.
    Url(Url),
    /// There is none.
    None {
        /// The reason, and the key to set: for operators.
        reason: String,
    },
}

/// The settings of a replica, for requests that only another one can answer.
#[derive(Debug, Clone)]
pub struct ReplicaConfig {
    /// The address of this process.
    announcement: Announcement,
    /// A client for the addresses that replicas announce, and for nothing else: it may connect to any network.
    client: Client,
}

impl ReplicaConfig {
    /// Creates the settings. `ca_file` has the authorities that sign the certificates of the other replicas, in addition
    /// to those of the system.
    ///
    /// # Errors
    /// [`ClientBuildError`] if `ca_file` cannot be used.
    pub fn new(announcement: Announcement, ca_file: Option<PathBuf>) -> Result<Self, ClientBuildError> {
        // Replicas are on the networks that the address guard of pages refuses.
        let mut client = ClientConfig::new(AddressGuard::open());
        client.ca_file = ca_file;
        // All requests may be for one replica. With fewer connections, code that runs for minutes would keep the others
        // waiting, questions beyond their time limit.
        client.connections_per_host = MAX_REQUESTS;
        Ok(Self { announcement, client: Client::new(client)? })
    }
}

/// The requests that this process passes on to other replicas, and gets from them.
pub(crate) struct Forwarding {
    /// `None` without a database on a server: there are no other replicas.
    client: Option<Client>,
    /// The secret of requests from other replicas; `None` if this one announces no address.
    secret: Option<String>,
    /// Reason why this replica announces no address.
    off_reason: Option<String>,
    requests: Arc<Semaphore>,
    sockets: Arc<Semaphore>,
    metrics: ForwardingMetrics,
}

/// The counts of requests that were passed on.
#[derive(Debug, Default)]
pub(crate) struct ForwardingMetrics {
    pub(crate) answered: Counter,
    /// The other replica did not respond.
    pub(crate) failed: Counter,
    /// Not passed on, because too many are.
    pub(crate) rejected: Counter,
}

/// A request to pass on. Only these parts of it are.
#[derive(Debug)]
pub(crate) struct ForwardedRequest {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: Option<String>,
    pub(crate) origin: Origin,
    pub(crate) body: Bytes,
    pub(crate) is_websocket: bool,
}

impl Forwarding {
    /// Writes the address of this process into its row, if it has one.
    pub(crate) fn new(config: Option<ReplicaConfig>, store: &Store) -> Self {
        let config = config.filter(|_| store.is_shared());
        let (client, announcement) = match config {
            Some(ReplicaConfig { announcement, client }) => (Some(client), Some(announcement)),
            None => (None, None),
        };
        let (mut secret, mut off_reason) = (None, None);
        match announcement {
            Some(Announcement::Url(url)) => match random_secret() {
                Ok(random) => {
                    let url = url.as_str().trim_end_matches('/').to_owned();
                    store.announce_replica(ReplicaAddress { url, secret: random.clone() });
                    secret = Some(random);
                }
                Err(error) => off_reason = Some(format!("the system provides no random numbers: {error}")),
            },
            Some(Announcement::None { reason }) => off_reason = Some(reason),
            None => {}
        }
        if let Some(reason) = &off_reason {
            tracing::info!(reason, "other replicas cannot pass on requests for browser sessions to this one");
        }
        Self {
            client,
            secret,
            off_reason,
            requests: Arc::new(Semaphore::new(MAX_REQUESTS)),
            sockets: Arc::new(Semaphore::new(MAX_SOCKETS)),
            metrics: ForwardingMetrics::default(),
        }
    }

    /// Returns whether there may be other replicas.
    pub(crate) fn is_on(&self) -> bool {
        self.client.is_some()
    }

    /// Returns the reason why this replica announces no address.
    pub(crate) fn off_reason(&self) -> Option<&str> {
        self.off_reason.as_deref()
    }

    pub(crate) fn metrics(&self) -> Option<&ForwardingMetrics> {
        self.is_on().then_some(&self.metrics)
    }

    /// Removes the headers of forwarded requests, and marks a request with the right secret as forwarded.
    ///
    /// # Errors
    /// 421 for a wrong secret: the sender meant another process, or guesses.
    pub(crate) fn accept(&self, request: &mut Request<ServerBody>) -> Result<(), ApiError> {
        let Some((secret, forwarded)) = remove_all(request.headers_mut()) else { return Ok(()) };
        let is_right = self.secret.as_ref().is_some_and(|own| own.as_bytes().ct_eq(secret.as_bytes()).into());
        match forwarded.filter(|_| is_right) {
            Some(forwarded) => {
                request.extensions_mut().insert(forwarded);
                Ok(())
            }
            None => Err(ApiError::misdirected()),
        }
    }

    /// Passes a request on to a replica, and returns its response.
    ///
    /// # Errors
    /// 429 if too many requests are passed on, 503 if the replica does not respond.
    pub(crate) async fn forward(
        &self,
        replica: &ReplicaAddress,
        request: ForwardedRequest,
    ) -> Result<HttpResponse, ApiError> {
        let ForwardedRequest { method, path, query, origin, body, is_websocket } = request;
        let permit = self.acquire(is_websocket)?;
        let client = self.client.as_ref().ok_or_else(unreachable)?;
        let relay = RelayRequest {
            method,
            url: url(replica, &path, query.as_deref()).ok_or_else(unreachable)?,
            headers: write_all(&replica.secret, origin, false),
            body,
            upgrade: is_websocket.then_some("websocket"),
            connect_timeout: CONNECT_TIMEOUT,
            timeout: if is_websocket { HANDSHAKE_TIMEOUT } else { RESPONSE_TIMEOUT },
            silence_timeout: SILENCE_TIMEOUT,
            permit,
        };
        match client.relay(relay).await {
            Ok(response) if response.status() != StatusCode::MISDIRECTED_REQUEST => {
                self.metrics.answered.add(1);
                Ok(response)
            }
            Ok(_) => {
                let reason =
                    "another process has its address: it was restarted, or its replica.address is wrong";
                tracing::warn!(url = replica.url, reason, "a replica did not answer a request");
                self.metrics.failed.add(1);
                Err(unreachable())
            }
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(url = replica.url, error, "a replica did not answer a request");
                self.metrics.failed.add(1);
                Err(unreachable())
            }
        }
    }

    /// Asks replicas the same question, and returns their responses in the same order; `None` for those that do not
    /// respond. A question is a forwarded request without a body whose response is small.
    pub(crate) async fn ask_all(
        &self,
        replicas: &[ReplicaAddress],
        method: &Method,
        path: &str,
        query: Option<&str>,
        origin: &Origin,
    ) -> Vec<Option<FetchResponse>> {
        let asking = replicas.iter().map(|replica| async move {
            let _permit = self.acquire(false).ok()?;
            let request = FetchRequest {
                method: method.clone(),
                headers: write_all(&replica.secret, origin.clone(), true),
                timeout: QUESTION_TIMEOUT,
                connect_timeout: CONNECT_TIMEOUT,
                max_body_bytes: MAX_ANSWER_BYTES,
                max_decoded_bytes: MAX_ANSWER_BYTES,
                redirects: RedirectPolicy::None,
                ..FetchRequest::get(url(replica, path, query)?)
            };
            match self.client.as_ref()?.fetch(request).await {
                Ok(response) if response.status != StatusCode::MISDIRECTED_REQUEST => Some(response),
                Ok(_) => None,
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::debug!(url = replica.url, error, "a replica did not answer a question");
                    None
                }
            }
        });
        join_all(asking).await
    }

    fn acquire(&self, is_websocket: bool) -> Result<OwnedSemaphorePermit, ApiError> {
        let (permits, max, what) = match is_websocket {
            true => (&self.sockets, MAX_SOCKETS, "WebSockets"),
            false => (&self.requests, MAX_REQUESTS, "requests"),
        };
        Arc::clone(permits).try_acquire_owned().map_err(|_| {
            self.metrics.rejected.add(1);
            let text = format!("Rate limit exceeded: {max} {what} are passed on to other replicas already");
            ApiError::new(ErrorCode::RateLimited, text).retry_after(BUSY_RETRY_AFTER_S)
        })
    }
}

/// Returns the error of a request to a replica that does not respond.
pub(crate) fn unreachable() -> ApiError {
    let text = format!(
        "Browser sessions are not available: the replica of this one does not respond. Try again in \
         {UNREACHABLE_RETRY_AFTER_S} seconds; if it was lost, its sessions end"
    );
    ApiError::new(ErrorCode::BrowserUnavailable, text).retry_after(UNREACHABLE_RETRY_AFTER_S)
}

fn url(replica: &ReplicaAddress, path: &str, query: Option<&str>) -> Option<Url> {
    let mut url = Url::parse(&replica.url).ok()?;
    url.set_path(path);
    url.set_query(query);
    Some(url)
}

fn random_secret() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(HEXLOWER.encode(&bytes))
}

impl fmt::Debug for Forwarding {
    /// Omits the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forwarding").field("off_reason", &self.off_reason).finish_non_exhaustive()
    }
}
