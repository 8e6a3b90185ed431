//! The state that all requests share, and the state of one request.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use http::Request;
use websvc_artifacts::Artifacts;
use websvc_audit::Audit;
use websvc_engine::Engine;
use websvc_jobs::Jobs;
use websvc_monitor::Monitors;
use websvc_runs::{Runs, RunsConfig};
use websvc_session::Sessions as BrowserSessions;
use websvc_stage::{RequestSpan, TraceMetrics};
use websvc_store::{ApiVersion, Caller, DEFAULT_TEAM, Store};
use websvc_transport::ServerBody;

use super::receive::BodySlots;
use super::{Service, ServiceConfig};
use crate::admission::{Admission, AdmissionLimits};
use crate::audit_trail::AuditTrail;
use crate::authenticate::{Authentication, Authenticator};
use crate::crawl_progress::CrawlProgressStore;
use crate::dashboard::{SignInLimiter, SignInLinks, session::Sessions};
use crate::forwarding::{Forwarded, Forwarding};
use crate::handler::watch::WebSocketLimits;
use crate::oauth::OauthIssuer;
use crate::oidc::Oidc;
use crate::public_url::PublicUrlConfig;
use crate::replays::ReplayStore;
use crate::request_metrics::RequestMetrics;
use crate::route::Endpoint;
use crate::scrape_results::ScrapeResultStore;
use crate::uploads::Uploads;

/// The state that all requests share.
#[derive(Debug)]
pub(crate) struct ServiceState {
    pub(crate) engine: Engine,
    pub(crate) store: Store,
    pub(crate) artifacts: Artifacts,
    pub(crate) jobs: Jobs,
    pub(crate) monitors: Monitors,
    /// The agent runs.
    pub(crate) runs: Runs,
    /// The browser sessions that clients control.
    pub(crate) browser_sessions: BrowserSessions,
    /// The recent scrapes whose pages browser sessions can open.
    pub(crate) replays: ReplayStore,
    /// The requests from and to other replicas.
    pub(crate) forwarding: Forwarding,
    pub(crate) public_url: PublicUrlConfig,
    pub(crate) authentication: Authentication,
    pub(crate) oauth: Option<OauthIssuer>,
    pub(crate) oidc: Option<Oidc>,
    pub(crate) open_metrics: bool,
    /// The limits of admission.
    pub(crate) limits: AdmissionLimits,
    pub(crate) admission: Admission,
    pub(crate) metrics: RequestMetrics,
    pub(crate) traces: Option<Arc<TraceMetrics>>,
    pub(crate) audit: Option<Audit>,
    /// The sessions of the dashboard.
    pub(crate) sessions: Sessions,
    pub(crate) sign_in_limiter: SignInLimiter,
    pub(crate) sign_in_links: SignInLinks,
    pub(super) body_slots: BodySlots,
    pub(crate) uploads: Uploads,
    pub(crate) scrape_results: ScrapeResultStore,
    pub(crate) crawl_progress: CrawlProgressStore,
    pub(crate) websockets: WebSocketLimits,
    /// The time at which the service was built, in milliseconds since the Unix epoch.
    pub(crate) started_at_ms: u64,
    pub(super) shutting_down: AtomicBool,
}

impl ServiceState {
    pub(super) fn new(config: ServiceConfig) -> Self {
        let ServiceConfig {
            engine,
            store,
            artifacts,
            jobs,
            monitors,
            runs,
            browser_sessions,
            replica,
            uploads_dir,
            public_url,
            authentication,
            oauth,
            oidc,
            open_metrics,
            limits,
            traces,
            audit,
        } = config;
        let monitors = Monitors::new(&engine, store.clone(), jobs.clone(), monitors);
        let browser_sessions =
            BrowserSessions::new(engine.clone(), store.clone(), artifacts.clone(), browser_sessions);
        let runs = RunsConfig { team_concurrency: limits.concurrency, ..runs };
        let runs = Runs::new(store.clone(), jobs.clone(), Some(browser_sessions.clone()), runs);
        let admission = Admission::new(limits).share_limits(&store, &jobs);
        Self {
            engine,
            artifacts,
            jobs,
            monitors,
            runs,
            browser_sessions,
            replays: ReplayStore::default(),
            forwarding: Forwarding::new(replica, &store),
            public_url,
            authentication,
            oauth,
            oidc,
            open_metrics,
            limits,
            admission,
            metrics: RequestMetrics::default(),
            traces,
            audit,
            sessions: Sessions::new(&store),
            sign_in_limiter: SignInLimiter::default(),
            sign_in_links: SignInLinks::default(),
            body_slots: BodySlots::default(),
            uploads: Uploads::new(uploads_dir),
            scrape_results: ScrapeResultStore::new(&store),
            crawl_progress: CrawlProgressStore::default(),
            websockets: WebSocketLimits::default(),
            started_at_ms: store.now_ms(),
            shutting_down: AtomicBool::new(false),
            store,
        }
    }

    /// Returns the means by which callers prove who they are.
    pub(crate) fn authenticator(&self) -> Authenticator<'_> {
        Authenticator { mode: self.authentication, store: &self.store, oidc: self.oidc.as_ref() }
    }

    /// Returns the base URL under which the sender of this request reaches the service.
    pub(crate) fn base_url(&self, request: &Request<ServerBody>) -> Option<String> {
        if let Some(forwarded) = request.extensions().get::<Forwarded>() {
            return forwarded.base_url.clone();
        }
        let peer = request.body().peer_addr().ip();
        self.public_url.base_url(peer, request.uri(), request.headers())
    }

    /// Returns the address of the client, behind trusted proxies if there are any.
    pub(crate) fn client_ip(&self, request: &Request<ServerBody>) -> IpAddr {
        if let Some(forwarded) = request.extensions().get::<Forwarded>() {
            return forwarded.client;
        }
        self.public_url.client_ip(request.body().peer_addr().ip(), request.headers())
    }

    pub(crate) fn is_shutting_down(&self) -> bool {
        self.shutting_down.load(Ordering::Relaxed)
    }
}

/// The state of one request: the state that all requests share, and what belongs to this request alone.
#[derive(Debug)]
pub(crate) struct RequestContext<'a> {
    pub(crate) state: &'a Arc<ServiceState>,
    /// The audit trail of the request.
    pub(crate) trail: &'a AuditTrail,
    /// The span of the request in the log and in traces.
    pub(crate) span: RequestSpan,
    /// The caller; `None` for public operations and without authentication.
    pub(crate) caller: Option<Caller>,
    pub(crate) endpoint: &'static Endpoint,
    /// The version of the API in the path of the request. URLs in the response have the same version.
    pub(crate) api_version: ApiVersion,
    /// The id of the response and of the request in the usage log.
    pub(crate) id: String,
    pub(crate) started: Instant,
}

impl<'a> RequestContext<'a> {
    /// Returns the context of a request whose caller is not known yet.
    pub(super) fn new(
        state: &'a Arc<ServiceState>,
        trail: &'a AuditTrail,
        id: &str,
        span: RequestSpan,
        endpoint: &'static Endpoint,
    ) -> Self {
        let (api_version, started) = (endpoint.api_version(), trail.started());
        Self { state, trail, span, caller: None, endpoint, api_version, id: id.to_owned(), started }
    }

    /// Returns the service, for work that outlives the request.
    pub(crate) fn service(&self) -> Service {
        Service { state: Arc::clone(self.state) }
    }

    /// Returns the segment in the path of a request that a name in the path of its endpoint matches; an empty text if there is
    /// no such name.
    pub(crate) fn capture<'r>(&self, request: &'r Request<ServerBody>, name: &str) -> &'r str {
        self.endpoint.capture(request.uri().path(), name)
    }

    /// Returns the name of the caller's team; all callers are the default team without authentication.
    pub(crate) fn team_name(&self) -> &str {
        self.caller.as_ref().map_or(DEFAULT_TEAM, |caller| caller.team.name.as_str())
    }
}
