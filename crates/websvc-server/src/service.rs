//! The service: its shared state, and the path of one request through the stages.

mod internal_request;
mod receive;
mod state;
mod websocket;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use http::{Method, Request, StatusCode};
use uuid::Uuid;
use websvc_artifacts::Artifacts;
use websvc_audit::Audit;
use websvc_engine::Engine;
use websvc_jobs::Jobs;
use websvc_monitor::{Monitors, MonitorsConfig};
use websvc_runs::{Runs, RunsConfig};
use websvc_session::{Sessions, SessionsConfig};
use websvc_stage::{RequestSpan, Stage, TraceMetrics};
use websvc_store::{Caller, Store};
use websvc_transport::{Body, BoxFuture, ServerBody, run_blocking};
use websvc_types::ErrorCode;

use self::receive::{Arrived, RequestInput, receive};
use crate::admission::{AdmissionLimits, Admitted};
use crate::audit_trail::{AuditOutcome, AuditTrail};
use crate::authenticate::{Authentication, authenticate};
use crate::authorize::authorize_endpoint;
use crate::clock_watch;
use crate::cors;
use crate::dashboard;
use crate::forwarding::{Forwarded, ReplicaConfig};
use crate::handler::{self, watch};
use crate::oauth::{self, OauthIssuer};
use crate::oidc::Oidc;
use crate::public_url::PublicUrlConfig;
use crate::request_id::RequestId;
use crate::response::{ApiError, HttpResponse};
use crate::route::{self, AccessLevel, Endpoint, HandlerFuture, OperationGroup};
pub(crate) use internal_request::{InternalCaller, InternalRequest};
pub(crate) use state::{RequestContext, ServiceState};

/// The largest database file that is checked before the start, which takes up to half a second.
const MAX_CHECKED_BYTES: u64 = 64 * 1024 * 1024;

/// The parts and settings of a [`Service`].
#[derive(Debug)]
pub struct ServiceConfig {
    /// The operations: searches, scrapes, maps.
    pub engine: Engine,
    /// The keys and teams.
    pub store: Store,
    /// The files that requests leave for their callers.
    pub artifacts: Artifacts,
    /// The jobs, which continue after their requests were answered. The caller must [run](Jobs::run) them.
    pub jobs: Jobs,
    /// The limits of monitors. The caller must [run](websvc_monitor::Monitors::run) the
    /// [monitors](Service::monitors).
    pub monitors: MonitorsConfig,
    /// The limits of agent runs. The caller must [run](websvc_runs::Runs::run) the [runs](Service::runs).
    pub runs: RunsConfig,
    /// The limits of browser sessions, and the program that runs their code. The caller must
    /// [shut them down](websvc_session::Sessions::shut_down).
    pub browser_sessions: SessionsConfig,
    /// The address of this process for the other replicas; `None` if it never has any.
    pub replica: Option<ReplicaConfig>,
    /// The directory of files that are being uploaded, created on first use. Nothing in it outlives its request.
    pub uploads_dir: PathBuf,
    /// The URL under which callers reach the service.
    pub public_url: PublicUrlConfig,
    /// The rule for requests without a key.
    pub authentication: Authentication,
    /// The service as an authorization server for MCP clients; `None` if OAuth is off.
    pub oauth: Option<OauthIssuer>,
    /// The identity provider whose tokens and users are accepted; `None` if there is none.
    pub oidc: Option<Oidc>,
    /// Serves `/metrics` without a key. Set it only if the address is reachable from this machine alone.
    pub open_metrics: bool,
    /// The limits of concurrent requests and of requests per minute.
    pub limits: AdmissionLimits,
    /// The counters of exported spans, if traces are sent to a collector.
    pub traces: Option<Arc<TraceMetrics>>,
    /// The audit events of the teams that want them. The caller must deliver the events.
    pub audit: Option<Audit>,
}

/// The HTTP interface. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Service {
    state: Arc<ServiceState>,
}

/// Marks a request to the listener for metrics.
#[derive(Debug, Clone, Copy)]
struct FromMetricsListener;

/// The identity of a request in its response, the log and traces.
#[derive(Debug)]
struct RequestIdentity {
    /// The id of the response and of the request in the usage log.
    id: String,
    /// The id that the client knows.
    request_id: RequestId,
    span: RequestSpan,
    started: Instant,
}

/// A response, and the outcome that the audit event records.
///
/// They differ for a WebSocket: its handshake is always answered with 101, even if the request is rejected.
struct Handled {
    response: HttpResponse,
    outcome: AuditOutcome,
}

impl From<Result<HttpResponse, ApiError>> for Handled {
    fn from(result: Result<HttpResponse, ApiError>) -> Self {
        let outcome = AuditOutcome::of_response(&result);
        Self { response: result.unwrap_or_else(ApiError::into_response), outcome }
    }
}

impl From<ApiError> for Handled {
    fn from(error: ApiError) -> Self {
        Err(error).into()
    }
}

impl Service {
    /// Builds the service.
    pub fn new(config: ServiceConfig) -> Self {
        Self { state: Arc::new(ServiceState::new(config)) }
    }

    /// Checks a small database for damage, and [joins](Jobs::prepare) the replicas. Call it before requests are served. A
    /// damaged database is served as far as it can be read, but `/ready` responds with 503.
    pub async fn prepare(&self) {
        let store = self.state.store.clone();
        let checked = run_blocking(move || store.check_structure(MAX_CHECKED_BYTES)).await;
        if let Ok(Err(error)) = checked {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "the check of the database failed: run `websvc doctor`"
            );
        }
        self.state.jobs.prepare().await;
    }

    /// Logs when the clock of the machine begins to differ from the time of the service, and when that ends. Never returns.
    pub async fn watch_clock(&self) -> std::convert::Infallible {
        clock_watch::watch(&self.state.store).await
    }

    /// Starts the shutdown: from now on `/ready` responds with 503, so that load balancers send no new requests. Then
    /// [hands the jobs over](Jobs::leave). Call it before the requests in flight are awaited.
    pub async fn stop(&self) {
        self.state.shutting_down.store(true, Ordering::Relaxed);
        self.state.jobs.leave().await;
    }

    /// Returns the files that requests leave for their callers.
    #[must_use]
    pub fn artifacts(&self) -> &Artifacts {
        &self.state.artifacts
    }

    /// Returns the jobs.
    #[must_use]
    pub fn jobs(&self) -> &Jobs {
        &self.state.jobs
    }

    /// Returns the monitors.
    #[must_use]
    pub fn monitors(&self) -> &Monitors {
        &self.state.monitors
    }

    /// Returns the agent runs.
    #[must_use]
    pub fn runs(&self) -> &Runs {
        &self.state.runs
    }

    /// Returns whether a language model is configured, which agent runs need.
    pub(crate) fn has_completion_model(&self) -> bool {
        self.state.engine.completion_model().is_some()
    }

    /// Returns a link that signs in to the dashboard at `base_url` once within ten minutes, with an admin key; `None` if
    /// the system provides no random numbers.
    #[must_use]
    pub fn sign_in_link(&self, base_url: &str, key: &str) -> Option<String> {
        let token = self.state.sign_in_links.create(key, Instant::now()).ok()?;
        // In the fragment, which browsers send to no server.
        Some(format!("{}/#/sign-in/{token}", base_url.trim_end_matches('/')))
    }

    /// Returns the browser sessions.
    #[must_use]
    pub fn browser_sessions(&self) -> &Sessions {
        &self.state.browser_sessions
    }

    /// Returns the base URL under which the sender of this request reaches the service, such as
    /// `https://websvc.test`; `None` if neither the configuration nor the request contains it.
    #[must_use]
    pub fn base_url(&self, request: &Request<ServerBody>) -> Option<String> {
        self.state.base_url(request)
    }

    pub(crate) fn state(&self) -> &ServiceState {
        &self.state
    }

    /// Handles one request. Every response has an `x-request-id`, and every request writes one log line.
    pub fn handle<'a>(&'a self, mut request: Request<ServerBody>) -> BoxFuture<'a, HttpResponse> {
        Box::pin(async move {
            let accepted = self.state.forwarding.accept(&mut request);
            let forwarded = request.extensions().get::<Forwarded>();
            let id = forwarded.map_or_else(|| Uuid::now_v7().to_string(), |forwarded| forwarded.id.clone());
            let request_id = RequestId::from_headers(request.headers(), &id);
            let traceparent = request.headers().get("traceparent").and_then(|value| value.to_str().ok());
            let span = RequestSpan::new(request_id.as_str(), request.method().as_str(), traceparent);
            let identity = RequestIdentity { id, request_id, span, started: Instant::now() };
            let mut response = identity.span.run(self.handle_and_log(request, accepted, &identity)).await;
            identity.request_id.write(response.headers_mut());
            response
        })
    }

    /// Handles a request to the listener for metrics: `/metrics` without a key, `/health` and `/ready`. Everything
    /// else is 404.
    pub fn handle_metrics<'a>(&'a self, mut request: Request<ServerBody>) -> BoxFuture<'a, HttpResponse> {
        Box::pin(async move {
            let endpoint = route::find(request.method(), request.uri().path());
            if !endpoint.is_ok_and(|endpoint| endpoint.group == OperationGroup::Status) {
                return Self::error_reply(StatusCode::NOT_FOUND);
            }
            request.extensions_mut().insert(FromMetricsListener);
            self.handle(request).await
        })
    }

    /// Handles a request within its span, and records it in the metrics and the log. The metrics of a request from another
    /// replica are those of that replica.
    async fn handle_and_log(
        &self,
        request: Request<ServerBody>,
        accepted: Result<(), ApiError>,
        identity: &RequestIdentity,
    ) -> HttpResponse {
        let RequestIdentity { id, request_id, span, started } = identity;
        let method = request.method().clone();
        let mut path = request.uri().path().to_owned();
        let is_forwarded = request.extensions().get::<Forwarded>().is_some();
        let endpoint = accepted.and_then(|()| route::find(&method, &path)).and_then(|endpoint| {
            let is_wrong = is_forwarded && !endpoint.is_forwarded;
            if is_wrong { Err(ApiError::misdirected()) } else { Ok(endpoint) }
        });
        let group = endpoint.as_ref().map_or(OperationGroup::None, |endpoint| endpoint.group);
        if let Ok(endpoint) = &endpoint {
            span.set_route(endpoint.path);
            // The rest is a URL, which the log has only as far as the retention of the request allows.
            if endpoint.has_rest() {
                endpoint.path.clone_into(&mut path);
            }
        }
        let mut response = match endpoint {
            _ if method == Method::OPTIONS => self.preflight(),
            Ok(endpoint) => self.handle_endpoint(request, endpoint, identity).await,
            Err(error) => error.into_response(),
        };
        if handler::is_of_extractions(&path) {
            handler::mark_deprecated(&mut response);
        }
        cors::allow(self.state.authentication, response.headers_mut());
        let status = response.status().as_u16();
        span.set_status(status);
        let elapsed = started.elapsed();
        if !is_forwarded {
            self.state.metrics.record_response(group, status, elapsed);
        }
        let elapsed_us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
        let client_request_id_replaced = request_id.is_replacement.then_some(true);
        tracing::info!(
            id,
            method = method.as_str(),
            path,
            status,
            elapsed_us,
            client_request_id_replaced,
            from_replica = is_forwarded.then_some(true),
            "request"
        );
        response
    }

    /// Returns the response to a request that the transport rejects by itself, and to one whose handler panicked. It
    /// has an `x-request-id`, too, and writes a log line.
    pub fn error_reply(status: StatusCode) -> HttpResponse {
        let id = Uuid::now_v7().to_string();
        let request_id = RequestId::from_headers(&http::HeaderMap::new(), &id);
        RequestSpan::new(&id, "", None)
            .in_scope(|| tracing::info!(status = status.as_u16(), "request rejected by the transport"));
        let (code, text) = match status {
            StatusCode::NOT_FOUND => {
                (ErrorCode::NotFound, "This address serves GET /metrics, /health and /ready only")
            }
            StatusCode::REQUEST_TIMEOUT => (ErrorCode::RequestTimeout, "The request did not arrive in time"),
            StatusCode::INTERNAL_SERVER_ERROR => (ErrorCode::UnknownError, "An unexpected error occurred"),
            _ => (ErrorCode::BadRequest, "Bad request"),
        };
        let mut response = ApiError::new(code, text).into_response();
        request_id.write(response.headers_mut());
        response
    }

    /// Handles a request to an endpoint, and writes its audit event.
    async fn handle_endpoint(
        &self,
        mut request: Request<ServerBody>,
        endpoint: &'static Endpoint,
        identity: &RequestIdentity,
    ) -> HttpResponse {
        let watched = endpoint.watched.filter(|_| watch::is_websocket_request(&request));
        if endpoint.access != AccessLevel::Public
            && watched.is_none()
            && let Err(error) = self.state.sessions.attach_session_key(&mut request).await
        {
            return error.into_response();
        }
        let forwarded = request.extensions().get::<Forwarded>();
        let is_question = forwarded.is_some_and(|forwarded| forwarded.is_question);
        let trail = AuditTrail::new(
            self.state.audit.as_ref(),
            // Another replica asks only in order to handle the request of its client.
            endpoint.name.filter(|_| !is_question),
            identity.request_id.as_str(),
            Some(self.state.client_ip(&request)),
            identity.started,
        );
        let context = RequestContext::new(&self.state, &trail, &identity.id, identity.span.clone(), endpoint);
        let Handled { mut response, outcome } = match watched {
            Some(kind) => self.handle_websocket(kind, context, request).await,
            None => self.handle_request(context, request).await,
        };
        trail.end(outcome);
        oauth::add_challenge(self.state.oauth.as_ref(), endpoint.path, &mut response);
        response
    }

    /// Runs the handler of an endpoint if its access level allows the request.
    async fn handle_request(&self, mut context: RequestContext<'_>, request: Request<ServerBody>) -> Handled {
        match context.endpoint.access {
            AccessLevel::Public => match self.check_metrics_access(&context, &request).await {
                Ok(()) => receive_and_perform(context, request).await.into(),
                Err(error) => error.into(),
            },
            AccessLevel::Admin => match dashboard::authenticate_admin(&context, &request).await {
                Ok(caller) => {
                    context.caller = caller;
                    receive_and_perform(context, request).await.into()
                }
                Err(error) => error.into(),
            },
            AccessLevel::Key => self.handle_admitted(context, request).await,
        }
    }

    /// Authenticates and authorizes a request, receives its body and admits it, then runs the handler. A request whose
    /// body arrives slowly takes no permit.
    async fn handle_admitted(
        &self,
        mut context: RequestContext<'_>,
        request: Request<ServerBody>,
    ) -> Handled {
        context.caller = match self.authenticate_for(&context, &request).await {
            Ok(caller) => caller,
            Err(error) => return error.into(),
        };
        if request.extensions().get::<Forwarded>().is_some() {
            // The replica that the client has reached admitted the request, and counts it until it has the response.
            return receive_and_perform(context, request).await.into();
        }
        let Arrived { input, slot } = match receive(&context, request).await {
            Ok(arrived) => arrived,
            Err(error) => return error.into(),
        };
        let admission = self.state.admission.admit(context.caller.as_ref());
        let Admitted { rate, permit } = self.state.engine.stages().run(Stage::Admit, admission).await;
        drop(slot);
        let result = match permit {
            Ok(_permit) => perform(context, input).await,
            Err(error) => Err(error),
        };
        let mut handled = Handled::from(result);
        if let Some(rate) = rate {
            rate.write(handled.response.headers_mut());
        }
        handled
    }

    /// Allows a public endpoint; metrics need a key if other machines can reach this address.
    async fn check_metrics_access(
        &self,
        context: &RequestContext<'_>,
        request: &Request<ServerBody>,
    ) -> Result<(), ApiError> {
        let is_open = self.state.open_metrics || request.extensions().get::<FromMetricsListener>().is_some();
        if context.endpoint.path == handler::METRICS_PATH && !is_open {
            self.authenticate(context, request).await?;
        }
        Ok(())
    }

    /// Returns the caller, if it may send requests to the endpoint.
    async fn authenticate_for(
        &self,
        context: &RequestContext<'_>,
        request: &Request<ServerBody>,
    ) -> Result<Option<Caller>, ApiError> {
        let caller = self.authenticate(context, request).await?;
        authorize_endpoint(caller.as_ref(), context.endpoint)?;
        Ok(caller)
    }

    async fn authenticate(
        &self,
        context: &RequestContext<'_>,
        request: &Request<ServerBody>,
    ) -> Result<Option<Caller>, ApiError> {
        let state = &*self.state;
        let address = state.client_ip(request);
        let authenticating = authenticate(state.authenticator(), request.headers(), address, context.trail);
        state.engine.stages().run(Stage::Authenticate, authenticating).await
    }

    fn preflight(&self) -> HttpResponse {
        let mut response = HttpResponse::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        cors::preflight(self.state.authentication, response.headers_mut());
        response
    }
}

/// Receives the body of a request, then runs the handler.
async fn receive_and_perform(
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let Arrived { input, slot } = receive(&context, request).await?;
    drop(slot);
    perform(context, input).await
}

/// Runs the handler of an endpoint.
fn perform(context: RequestContext<'_>, input: RequestInput) -> HandlerFuture<'_> {
    match input {
        RequestInput::Request(request) => (context.endpoint.handler)(context, request),
        RequestInput::Form(form) => Box::pin(handler::parse(context, form)),
    }
}

#[cfg(test)]
mod outage_tests;
#[cfg(test)]
mod tests;
