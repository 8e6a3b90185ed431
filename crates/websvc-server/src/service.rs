//! The service: its parts, and the path of one request through the stages.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, StatusCode};
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;
use websvc_artifacts::Artifacts;
use websvc_engine::Engine;
use websvc_store::{Caller, KeyScope, Store};
use websvc_transport::{Body, ServerBody};
use websvc_types::ErrorCode;

use crate::adapter;
use crate::admit::{Admission, Admitted, Limits};
use crate::authenticate::{Authentication, authenticate};
use crate::authorise::{authorise, authorise_admin};
use crate::cors;
use crate::dashboard::{self, session::Sessions};
use crate::handler;
use crate::mcp;
use crate::origin::OriginConfig;
use crate::reply::{Failure, Reply};
use crate::results::Results;
use crate::route::{self, Access, Operation, Route};
use crate::uploads::Uploads;

/// What a service is built of.
#[derive(Debug)]
pub struct ServiceConfig {
    /// The operations.
    pub engine: Engine,
    /// The keys and teams.
    pub store: Store,
    /// The files that requests leave behind.
    pub artifacts: Artifacts,
    /// Where uploaded files are while they arrive; made when it is needed. Nothing in it outlives its request.
    pub uploads: PathBuf,
    /// Where callers reach the service.
    pub origin: OriginConfig,
    /// Whether callers have to show a key.
    pub authentication: Authentication,
    /// How much is worked on.
    pub limits: Limits,
}

/// The HTTP interface. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Service {
    parts: Arc<Parts>,
}

#[derive(Debug)]
struct Parts {
    engine: Engine,
    store: Store,
    artifacts: Artifacts,
    origin: OriginConfig,
    authentication: Authentication,
    concurrency: usize,
    admission: Admission,
    sessions: Sessions,
    uploads: Uploads,
    results: Results,
    serving_since_ms: u64,
    stopping: AtomicBool,
}

/// What a handler is given beside the request.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) store: &'a Store,
    pub(crate) artifacts: &'a Artifacts,
    pub(crate) origin: &'a OriginConfig,
    pub(crate) authentication: Authentication,
    /// How many requests of a team without a number of its own are worked on at one time.
    pub(crate) concurrency: usize,
    pub(crate) admission: &'a Admission,
    pub(crate) sessions: &'a Sessions,
    pub(crate) uploads: &'a Uploads,
    pub(crate) results: &'a Results,
    /// The whole, for what answers in more than one step.
    pub(crate) service: &'a Service,
    /// When the service was built, in milliseconds since the Unix epoch.
    pub(crate) serving_since_ms: u64,
    /// Who calls; `None` where nobody is asked.
    pub(crate) caller: Option<Caller>,
    /// The identifier of the request.
    pub(crate) id: String,
    pub(crate) started: Instant,
    pub(crate) stopping: bool,
}

impl Service {
    /// Builds the service.
    pub fn new(config: ServiceConfig) -> Self {
        let ServiceConfig { engine, store, artifacts, uploads, origin, authentication, limits } = config;
        // What a team may have at one time of which nothing else is said.
        let concurrency = limits.concurrency.map_or(limits.total_concurrency, |most| most as usize);
        let admission = Admission::new(limits);
        let stopping = AtomicBool::new(false);
        let serving_since_ms = u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or_default();
        let parts = Parts {
            engine,
            store,
            artifacts,
            origin,
            authentication,
            concurrency,
            admission,
            sessions: Sessions::default(),
            uploads: Uploads::new(uploads),
            results: Results::default(),
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

    /// Returns where the sender of this request reaches the service, such as `https://websvc.test`, for the links of
    /// the answer; `None` when neither the configuration nor the request says so.
    #[must_use]
    pub fn origin_of(&self, request: &Request<ServerBody>) -> Option<String> {
        let peer = request.body().peer_addr().ip();
        self.parts.origin.of(peer, request.uri(), request.headers())
    }

    /// Answers one request. Every answer has an `x-request-id`, and makes one line in the log.
    pub async fn handle(&self, request: Request<ServerBody>) -> Reply {
        let started = Instant::now();
        let id = Uuid::now_v7().to_string();
        let method = request.method().clone();
        let path = request.uri().path().to_owned();
        let mut reply = self.answer(request, &id, started).await.unwrap_or_else(Failure::into_reply);
        cors::allow(self.parts.authentication, reply.headers_mut());
        if let Ok(value) = HeaderValue::from_str(&id) {
            reply.headers_mut().insert(HeaderName::from_static("x-request-id"), value);
        }
        let status = reply.status().as_u16();
        let elapsed_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        tracing::info!(id, method = method.as_str(), path, status, elapsed_us, "request");
        reply
    }

    /// Returns the reply to what the transport refuses by itself, and to a request whose handling panicked.
    pub fn error_reply(status: StatusCode) -> Reply {
        let (code, text) = match status {
            StatusCode::REQUEST_TIMEOUT => (ErrorCode::RequestTimeout, "The request did not arrive in time"),
            StatusCode::INTERNAL_SERVER_ERROR => (ErrorCode::UnknownError, "An unexpected error occurred"),
            _ => (ErrorCode::BadRequest, "Bad request"),
        };
        Failure::new(code, text).into_reply()
    }

    async fn answer(
        &self,
        mut request: Request<ServerBody>,
        id: &str,
        started: Instant,
    ) -> Result<Reply, Failure> {
        if request.method() == Method::OPTIONS {
            return Ok(self.preflight());
        }
        let Route { operation, access, .. } = route::find(request.method(), request.uri().path())?;
        let parts = &*self.parts;
        let mut context = self.context(id, started);
        if *access != Access::Public {
            parts.sessions.unfold(&mut request)?;
        }
        let address = parts.origin.client(request.body().peer_addr().ip(), request.headers());
        match access {
            Access::Public => perform(*operation, context, request).await,
            Access::Admin => {
                context.caller =
                    authenticate(parts.authentication, &parts.store, request.headers(), address)?;
                match &context.caller {
                    Some(caller) => authorise_admin(caller)?,
                    None => dashboard::admit_without_key(&request)?,
                }
                perform(*operation, context, request).await
            }
            Access::Key => {
                let caller = authenticate(parts.authentication, &parts.store, request.headers(), address)?;
                if let Some(scope) = operation.scope() {
                    authorise(caller.as_ref(), scope)?;
                }
                let Admitted { rate, permit } = parts.admission.admit(caller.as_ref()).await;
                context.caller = caller;
                let performed = match permit {
                    Ok(_permit) => perform(*operation, context, request).await,
                    Err(refused) => Err(refused),
                };
                let mut reply = performed.unwrap_or_else(Failure::into_reply);
                if let Some(rate) = rate {
                    rate.write(reply.headers_mut());
                }
                Ok(reply)
            }
        }
    }

    /// Answers a search as a request of this caller, as JSON.
    pub(crate) async fn search_as(
        &self,
        caller: Option<Caller>,
        origin: Option<String>,
        body: Bytes,
    ) -> Result<String, Failure> {
        authorise(caller.as_ref(), KeyScope::Search)?;
        let context = Context { caller, ..self.context(&Uuid::now_v7().to_string(), Instant::now()) };
        as_text(&handler::answer_search(context, origin, body).await?)
    }

    /// Answers a request of this caller for a page, as JSON.
    pub(crate) async fn scrape_as(
        &self,
        caller: Option<Caller>,
        origin: Option<String>,
        arguments: Map<String, Value>,
    ) -> Result<String, Failure> {
        authorise(caller.as_ref(), KeyScope::Scrape)?;
        let context = Context { caller, ..self.context(&Uuid::now_v7().to_string(), Instant::now()) };
        let body = Bytes::from(Value::Object(arguments).to_string());
        let json = handler::answer_scrape(context, origin, body).await?;
        String::from_utf8(json.into())
            .map_err(|error| Failure::internal(&error, "the answer could not be written"))
    }

    /// Answers a map as a request of this caller, as JSON.
    pub(crate) async fn map_as(&self, caller: Option<Caller>, body: Bytes) -> Result<String, Failure> {
        authorise(caller.as_ref(), KeyScope::Map)?;
        let context = Context { caller, ..self.context(&Uuid::now_v7().to_string(), Instant::now()) };
        as_text(&Box::pin(handler::answer_map(context, body, websvc_validate::read_map)).await?)
    }

    fn context(&self, id: &str, started: Instant) -> Context<'_> {
        let parts = &*self.parts;
        Context {
            engine: &parts.engine,
            store: &parts.store,
            artifacts: &parts.artifacts,
            origin: &parts.origin,
            authentication: parts.authentication,
            concurrency: parts.concurrency,
            admission: &parts.admission,
            sessions: &parts.sessions,
            uploads: &parts.uploads,
            results: &parts.results,
            service: self,
            serving_since_ms: parts.serving_since_ms,
            caller: None,
            id: id.to_owned(),
            started,
            stopping: parts.stopping.load(Ordering::Relaxed),
        }
    }

    fn preflight(&self) -> Reply {
        let mut reply = Reply::new(Body::empty());
        *reply.status_mut() = StatusCode::NO_CONTENT;
        cors::preflight(self.parts.authentication, reply.headers_mut());
        reply
    }
}

fn as_text<T: Serialize>(answer: &T) -> Result<String, Failure> {
    serde_json::to_string(answer)
        .map_err(|error| Failure::internal(&error, "the answer could not be written"))
}

async fn perform(
    operation: Operation,
    context: Context<'_>,
    request: Request<ServerBody>,
) -> Result<Reply, Failure> {
    match operation {
        Operation::Search => handler::search(context, request).await,
        Operation::Map => handler::map(context, request).await,
        Operation::MapV1 => handler::map_v1(context, request).await,
        Operation::Scrape => handler::scrape(context, request).await,
        Operation::ScrapeResult => handler::scrape_result(&context, request.uri().path()),
        Operation::Parse => handler::parse(context, request).await,
        Operation::ParseFormats => Ok(handler::parse_formats(&context)),
        Operation::AddDocuments => handler::add_documents(context, request).await,
        Operation::IndexStats => handler::index_stats(&context),
        Operation::CreditUsage => handler::credit_usage(&context).await,
        Operation::CreditHistory => handler::credit_history(&context, request.uri().query()).await,
        Operation::TokenUsage => handler::token_usage(&context).await,
        Operation::TokenHistory => handler::token_history(&context, request.uri().query()).await,
        Operation::QueueStatus => handler::queue_status(&context).await,
        Operation::ConcurrencyCheck => Ok(handler::concurrency_check(&context)),
        Operation::Health => Ok(handler::health()),
        Operation::Ready => Ok(handler::ready(&context).await),
        Operation::Metrics => Ok(handler::metrics(&context).await),
        Operation::OpenApi => Ok(handler::openapi()),
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
