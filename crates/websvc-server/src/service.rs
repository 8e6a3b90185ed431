//! The service: its parts, and the path of one request through the stages.

mod internal_request;
mod websocket;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use http::{Method, Request, StatusCode};
use uuid::Uuid;
use websvc_artifacts::Artifacts;
use websvc_audit::Audit;
use websvc_engine::Engine;
use websvc_jobs::Jobs;
use websvc_stage::{RequestSpan, Stage, TraceCounters};
use websvc_store::{Caller, Store};
use websvc_transport::{Body, BoxFuture, ServerBody};
use websvc_types::ErrorCode;

use crate::adapter;
use crate::admission::{Admission, AdmissionLimits, Admitted};
use crate::audit_trail::AuditTrail;
use crate::authenticate::{Authentication, authenticate};
use crate::authorize::authorize;
use crate::cors;
use crate::crawl_progress::CrawlProgressStore;
use crate::dashboard::{self, SignInLimiter, session::Sessions};
use crate::handler::watch::{self, WebSocketLimits};
use crate::handler::{self, JobOperation, Version};
use crate::mcp;
use crate::public_url::PublicUrlConfig;
use crate::request_id::RequestId;
use crate::request_metrics::RequestMetrics;
use crate::response::{ApiError, HttpResponse};
use crate::route::{self, AccessLevel, Operation, Route};
use crate::scrape_results::ScrapeResultStore;
use crate::uploads::Uploads;
pub(crate) use internal_request::{InternalCaller, InternalOperation};

/// What a service is built of.
#[derive(Debug)]
pub struct ServiceConfig {
    /// The operations.
    pub engine: Engine,
    /// The keys and teams.
    pub store: Store,
    /// The files that requests leave behind.
    pub artifacts: Artifacts,
    /// The work that goes on after its request was answered; whoever builds the service lets it [run](Jobs::run).
    pub jobs: Jobs,
    /// Where uploaded files are while they arrive; made when it is needed. Nothing in it outlives its request.
    pub uploads: PathBuf,
    /// Where callers reach the service.
    pub origin: PublicUrlConfig,
    /// Whether callers have to show a key.
    pub authentication: Authentication,
    /// Lets everybody have `/metrics`, as befits an address that only this machine reaches; else it wants a key.
    pub open_metrics: bool,
    /// How much is worked on.
    pub limits: AdmissionLimits,
    /// What becomes of the spans of traces, where they are sent to a collector.
    pub traces: Option<TraceCounters>,
    /// Where the events of teams go that want them; whoever builds the service delivers them.
    pub audit: Option<Audit>,
}

/// Marks a request that came to the listener for metrics.
#[derive(Debug, Clone, Copy)]
struct FromMetricsListener;

/// The HTTP interface. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Service {
    parts: Arc<ServiceState>,
}

#[derive(Debug)]
struct ServiceState {
    engine: Engine,
    store: Store,
    artifacts: Artifacts,
    jobs: Jobs,
    origin: PublicUrlConfig,
    authentication: Authentication,
    open_metrics: bool,
    concurrency: usize,
    admission: Admission,
    meters: RequestMetrics,
    traces: Option<TraceCounters>,
    audit: Option<Audit>,
    sessions: Sessions,
    uploads: Uploads,
    results: ScrapeResultStore,
    attempts: SignInLimiter,
    crawls: CrawlProgressStore,
    seats: WebSocketLimits,
    serving_since_ms: u64,
    stopping: AtomicBool,
}

/// What a handler is given beside the request.
#[derive(Debug)]
pub(crate) struct RequestContext<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) store: &'a Store,
    pub(crate) artifacts: &'a Artifacts,
    pub(crate) jobs: &'a Jobs,
    pub(crate) origin: &'a PublicUrlConfig,
    pub(crate) authentication: Authentication,
    /// How many requests of a team without a number of its own are worked on at one time.
    pub(crate) concurrency: usize,
    pub(crate) admission: &'a Admission,
    pub(crate) meters: &'a RequestMetrics,
    pub(crate) traces: Option<&'a TraceCounters>,
    /// The request, as the log and traces know it.
    pub(crate) span: RequestSpan,
    pub(crate) sessions: &'a Sessions,
    pub(crate) uploads: &'a Uploads,
    pub(crate) results: &'a ScrapeResultStore,
    /// What an audit event will tell of the request.
    pub(crate) trail: &'a AuditTrail,
    pub(crate) audit: Option<&'a Audit>,
    pub(crate) attempts: &'a SignInLimiter,
    pub(crate) crawls: &'a CrawlProgressStore,
    pub(crate) seats: &'a WebSocketLimits,
    /// The whole, for what answers in more than one step.
    pub(crate) service: &'a Service,
    /// When the service was built, in milliseconds since the Unix epoch.
    pub(crate) serving_since_ms: u64,
    /// Who calls; `None` where nobody is asked.
    pub(crate) caller: Option<Caller>,
    /// The identifier of the answer, of the request in the usage log.
    pub(crate) id: String,
    pub(crate) started: Instant,
    pub(crate) stopping: bool,
}

impl Service {
    /// Builds the service.
    pub fn new(config: ServiceConfig) -> Self {
        let ServiceConfig {
            engine,
            store,
            artifacts,
            jobs,
            uploads,
            origin,
            authentication,
            open_metrics,
            limits,
            traces,
            audit,
        } = config;
        // What a team may have at one time of which nothing else is said.
        let concurrency = limits.concurrency.map_or(limits.total_concurrency, |most| most as usize);
        let admission = Admission::new(limits);
        let stopping = AtomicBool::new(false);
        let serving_since_ms = u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or_default();
        let parts = ServiceState {
            engine,
            store,
            artifacts,
            jobs,
            origin,
            authentication,
            open_metrics,
            concurrency,
            admission,
            meters: RequestMetrics::default(),
            traces,
            audit,
            sessions: Sessions::default(),
            uploads: Uploads::new(uploads),
            results: ScrapeResultStore::default(),
            attempts: SignInLimiter::default(),
            crawls: CrawlProgressStore::default(),
            seats: WebSocketLimits::default(),
            serving_since_ms,
            stopping,
        };
        Self { parts: Arc::new(parts) }
    }

    /// Makes `/ready` say that no new work should be sent.
    pub fn stop(&self) {
        self.parts.stopping.store(true, Ordering::Relaxed);
    }

    /// Returns the files that requests leave behind.
    #[must_use]
    pub fn artifacts(&self) -> &Artifacts {
        &self.parts.artifacts
    }

    /// Returns the work that goes on after its request was answered.
    #[must_use]
    pub fn jobs(&self) -> &Jobs {
        &self.parts.jobs
    }

    /// Returns where the sender of this request reaches the service, such as `https://websvc.test`, for the links of
    /// the answer; `None` when neither the configuration nor the request says so.
    #[must_use]
    pub fn origin_of(&self, request: &Request<ServerBody>) -> Option<String> {
        let peer = request.body().peer_addr().ip();
        self.parts.origin.of(peer, request.uri(), request.headers())
    }

    /// Answers one request. Every answer has an `x-request-id`, and makes one line in the log.
    pub fn handle<'a>(&'a self, request: Request<ServerBody>) -> BoxFuture<'a, HttpResponse> {
        Box::pin(async move {
            let id = Uuid::now_v7().to_string();
            let request_id = RequestId::of(request.headers(), &id);
            let traceparent = request.headers().get("traceparent").and_then(|value| value.to_str().ok());
            let span = RequestSpan::new(request_id.as_str(), request.method().as_str(), traceparent);
            let mut reply = span.run(self.handle_within(request, id, &request_id, &span)).await;
            request_id.write(reply.headers_mut());
            reply
        })
    }

    /// Answers a request that came to the listener for metrics: `/metrics` without a key, `/health` and `/ready`, and nothing
    /// else.
    pub fn handle_metrics<'a>(&'a self, mut request: Request<ServerBody>) -> BoxFuture<'a, HttpResponse> {
        Box::pin(async move {
            let operation = route::find(request.method(), request.uri().path()).map(|route| route.operation);
            if !matches!(operation, Ok(Operation::Metrics | Operation::Health | Operation::Ready)) {
                return Self::error_reply(StatusCode::NOT_FOUND);
            }
            request.extensions_mut().insert(FromMetricsListener);
            self.handle(request).await
        })
    }

    /// Answers one request within its span.
    async fn handle_within(
        &self,
        request: Request<ServerBody>,
        id: String,
        request_id: &RequestId,
        span: &RequestSpan,
    ) -> HttpResponse {
        let started = Instant::now();
        let method = request.method().clone();
        let path = request.uri().path().to_owned();
        let route = route::find(&method, &path);
        let operation = route.as_ref().ok().map(|route| route.operation);
        if let Ok(route) = &route {
            span.set_route(route.path);
        }
        let answer = self.answer(request, route, &id, request_id, span, started).await;
        let mut reply = answer.unwrap_or_else(ApiError::into_response);
        cors::allow(self.parts.authentication, reply.headers_mut());
        let status = reply.status().as_u16();
        span.set_status(status);
        let took = started.elapsed();
        self.parts.meters.record_response(operation, status, took);
        let elapsed_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let replaced_id = request_id.replaces.then_some(true);
        tracing::info!(id, method = method.as_str(), path, status, elapsed_us, replaced_id, "request");
        reply
    }

    /// Returns the reply to what the transport refuses by itself, and to a request whose handling panicked. It has an
    /// `x-request-id`, too, and makes a line in the log.
    pub fn error_reply(status: StatusCode) -> HttpResponse {
        let id = Uuid::now_v7().to_string();
        let request_id = RequestId::of(&http::HeaderMap::new(), &id);
        RequestSpan::new(&id, "", None)
            .in_scope(|| tracing::info!(status = status.as_u16(), "request refused by the transport"));
        let (code, text) = match status {
            StatusCode::NOT_FOUND => {
                (ErrorCode::NotFound, "This address answers GET /metrics, /health and /ready only")
            }
            StatusCode::REQUEST_TIMEOUT => (ErrorCode::RequestTimeout, "The request did not arrive in time"),
            StatusCode::INTERNAL_SERVER_ERROR => (ErrorCode::UnknownError, "An unexpected error occurred"),
            _ => (ErrorCode::BadRequest, "Bad request"),
        };
        let mut reply = ApiError::new(code, text).into_response();
        request_id.write(reply.headers_mut());
        reply
    }

    async fn answer(
        &self,
        mut request: Request<ServerBody>,
        route: Result<&Route, ApiError>,
        id: &str,
        request_id: &RequestId,
        span: &RequestSpan,
        started: Instant,
    ) -> Result<HttpResponse, ApiError> {
        if request.method() == Method::OPTIONS {
            return Ok(self.preflight());
        }
        let Route { operation, access, .. } = route?;
        let parts = &*self.parts;
        let is_watched = watch::is_asked(&request);
        let watched = match operation {
            Operation::Job(kind, JobOperation::Status) if is_watched => Some(*kind),
            _ => None,
        };
        if *access != AccessLevel::Public && watched.is_none() {
            parts.sessions.attach_session_key(&mut request)?;
        }
        let address = parts.origin.client_ip(request.body().peer_addr().ip(), request.headers());
        let trail = AuditTrail::new(
            parts.audit.as_ref(),
            operation.name(),
            request_id.as_str(),
            Some(address),
            started,
        );
        let context = self.context(&trail, id, span.clone());
        let answer = match watched {
            Some(kind) => self.watch(kind, context, request).await,
            None => self.admit(*operation, *access, context, request).await,
        };
        trail.end(&answer);
        answer
    }

    /// Lets a request in as its operation wants it, and answers it.
    async fn admit(
        &self,
        operation: Operation,
        access: AccessLevel,
        mut context: RequestContext<'_>,
        request: Request<ServerBody>,
    ) -> Result<HttpResponse, ApiError> {
        let parts = &*self.parts;
        match access {
            AccessLevel::Public => {
                self.admit_unknown(operation, &context, &request)?;
                perform(operation, context, request).await
            }
            AccessLevel::Admin => {
                context.caller = dashboard::administrator(&context, &request)?;
                if context.caller.is_none() {
                    dashboard::admit_without_key(&request)?;
                }
                perform(operation, context, request).await
            }
            AccessLevel::Key => {
                let caller = self.authenticate(&context, &request)?;
                if let Some(scope) = operation.scope() {
                    authorize(caller.as_ref(), scope)?;
                }
                let admitting = parts.admission.admit(caller.as_ref());
                let Admitted { rate, permit } = parts.engine.stages().run(Stage::Admit, admitting).await;
                context.caller = caller;
                let trail = context.trail;
                let performed = match permit {
                    Ok(_permit) => perform(operation, context, request).await,
                    Err(refused) => Err(refused),
                };
                trail.end(&performed);
                let mut reply = performed.unwrap_or_else(ApiError::into_response);
                if let Some(rate) = rate {
                    rate.write(reply.headers_mut());
                }
                Ok(reply)
            }
        }
    }

    /// Lets whoever asks have what needs no key, but for the metrics where others than this machine may ask.
    fn admit_unknown(
        &self,
        operation: Operation,
        context: &RequestContext<'_>,
        request: &Request<ServerBody>,
    ) -> Result<(), ApiError> {
        let is_open = self.parts.open_metrics || request.extensions().get::<FromMetricsListener>().is_some();
        if operation == Operation::Metrics && !is_open {
            self.authenticate(context, request)?;
        }
        Ok(())
    }

    fn authenticate(
        &self,
        context: &RequestContext<'_>,
        request: &Request<ServerBody>,
    ) -> Result<Option<Caller>, ApiError> {
        let (parts, headers) = (&*self.parts, request.headers());
        let address = parts.origin.client_ip(request.body().peer_addr().ip(), headers);
        parts.engine.stages().time(Stage::Authenticate, || {
            authenticate(parts.authentication, &parts.store, headers, address, context.trail)
        })
    }

    fn context<'a>(&'a self, trail: &'a AuditTrail, id: &str, span: RequestSpan) -> RequestContext<'a> {
        let parts = &*self.parts;
        RequestContext {
            engine: &parts.engine,
            store: &parts.store,
            artifacts: &parts.artifacts,
            jobs: &parts.jobs,
            origin: &parts.origin,
            authentication: parts.authentication,
            concurrency: parts.concurrency,
            admission: &parts.admission,
            meters: &parts.meters,
            traces: parts.traces.as_ref(),
            span,
            sessions: &parts.sessions,
            uploads: &parts.uploads,
            results: &parts.results,
            trail,
            audit: parts.audit.as_ref(),
            attempts: &parts.attempts,
            crawls: &parts.crawls,
            seats: &parts.seats,
            service: self,
            serving_since_ms: parts.serving_since_ms,
            caller: None,
            id: id.to_owned(),
            started: trail.started(),
            stopping: parts.stopping.load(Ordering::Relaxed),
        }
    }

    fn preflight(&self) -> HttpResponse {
        let mut reply = HttpResponse::new(Body::empty());
        *reply.status_mut() = StatusCode::NO_CONTENT;
        cors::preflight(self.parts.authentication, reply.headers_mut());
        reply
    }
}

/// Does what an operation is there for. The type of the future is left out: what is around it would become too deep for
/// the compiler otherwise.
fn perform(
    operation: Operation,
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> BoxHandlerFuture<'_> {
    Box::pin(dispatch(operation, context, request))
}

type BoxHandlerFuture<'a, T = HttpResponse> = BoxFuture<'a, Result<T, ApiError>>;

async fn dispatch(
    operation: Operation,
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    match operation {
        Operation::Search => handler::search(context, request).await,
        Operation::Map => handler::map(context, request).await,
        Operation::MapV1 => handler::map_v1(context, request).await,
        Operation::Scrape => handler::scrape(context, request).await,
        Operation::ScrapeResult => handler::scrape_result(&context, request.uri().path()),
        Operation::Parse => handler::parse(context, request).await,
        Operation::ParseFormats => Ok(handler::parse_formats(&context)),
        Operation::Job(kind, operation) => handler::job(Version::V2, kind, operation, context, request).await,
        Operation::Webhook(operation) => handler::webhook(operation, &context, &request).await,
        Operation::AddDocuments => handler::add_documents(context, request).await,
        Operation::CrawlProgress => handler::crawl_progress(&context, request).await,
        Operation::IndexStats => handler::index_stats(&context).await,
        Operation::CreditUsage => handler::credit_usage(&context).await,
        Operation::CreditHistory => handler::credit_history(&context, request.uri().query()).await,
        Operation::TokenUsage => handler::token_usage(&context).await,
        Operation::TokenHistory => handler::token_history(&context, request.uri().query()).await,
        Operation::QueueStatus => handler::queue_status(&context).await,
        Operation::ConcurrencyCheck => Ok(handler::concurrency_check(&context)),
        Operation::Health => Ok(handler::health()),
        Operation::Ready => Ok(handler::ready(&context).await),
        Operation::Metrics => Ok(handler::metrics(&context).await),
        Operation::OpenApi => handler::openapi(request.headers()).await,
        Operation::Adapter(operation) => adapter::perform(operation, context, request).await,
        Operation::Artifact => handler::artifact(&context, &request).await,
        Operation::Docs(file) => handler::docs(file, request.headers()).await,
        Operation::Root => Ok(handler::root(request.headers())),
        Operation::Dashboard(operation) => dashboard::perform(operation, context, request).await,
        Operation::Mcp => mcp::mcp(context, request).await,
    }
}

#[cfg(test)]
mod tests;
