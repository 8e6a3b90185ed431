//! The public state of the service: health, readiness, the OpenAPI document and the root.

use std::time::Instant;

use http::header::ACCEPT;
use http::{HeaderMap, HeaderValue, Request, StatusCode};
use url::form_urlencoded;
use websvc_audit::{Audit, AuditMetrics, SinkMetrics};
use websvc_browser::{Browser, BrowserHealth};
use websvc_engine::{NO_PAGES, OutboxStatus, SearchSource, SourceHealth};
use websvc_scrape::threat::ScannerHealth;
use websvc_store::{Store, StoreFault};
use websvc_transport::ServerBody;
use websvc_types::status::{
    AuditReadiness, AuditState, BrowserReadiness, BrowserState, ClockState, ComponentStatus,
    ForwardingReadiness, ForwardingState, HealthResponse, OutboxReadiness, OutboxState, ReadinessChecks,
    ReadinessResponse, ReadinessStatus, RootResponse, SourceReadiness, SourceState, ThreatReadiness,
    ThreatState,
};

use super::compressed::{Compressed, compressed};
use crate::clock_watch;
use crate::dashboard;
use crate::response::{ApiError, HttpResponse, json, redirect};
use crate::route::OperationGroup::{Dashboard, Docs, Status};
use crate::route::{Endpoint, handler};
use crate::service::RequestContext;

/// The OpenAPI document that `cargo xtask schema` writes. To generate it here, the program would have to contain the
/// schemas of all types, which are ten times its size.
static OPENAPI: Compressed = compressed!("openapi.json");

pub(crate) const ENDPOINTS: &[Endpoint] = &[
    Endpoint::get("/health", Status, handler!(|_, _| Ok(health()))).public(),
    Endpoint::get("/ready", Status, handler!(|context, _| Ok(ready(&context).await))).public(),
    Endpoint::get("/openapi.json", Docs, handler!(|_, request| openapi(request.headers()).await)).public(),
    Endpoint::get("/", Dashboard, handler!(|_, request| Ok(root(&request)))).public(),
];

/// `GET /health`: the process responds.
fn health() -> HttpResponse {
    json(
        StatusCode::OK,
        &HealthResponse { status: ComponentStatus::Ok, version: env!("CARGO_PKG_VERSION").to_owned() },
    )
}

/// `GET /ready`: the parts that a request needs are available, and the service is not shutting down.
async fn ready(context: &RequestContext<'_>) -> HttpResponse {
    let (code, readiness) = readiness(context).await;
    json(code, &readiness)
}

/// Returns the readiness of the service, and the HTTP status for it.
pub(crate) async fn readiness(context: &RequestContext<'_>) -> (StatusCode, ReadinessResponse) {
    let state = context.state;
    let (is_readable, fault) = store_state(&state.store).await;
    let is_store_ok = is_readable && fault.is_none();
    let (code, status) = match (state.is_shutting_down(), is_store_ok) {
        (true, _) => (StatusCode::SERVICE_UNAVAILABLE, ReadinessStatus::Stopping),
        (false, false) => (StatusCode::SERVICE_UNAVAILABLE, ReadinessStatus::NotReady),
        (false, true) => (StatusCode::OK, ReadinessStatus::Ready),
    };
    let component = |is_ok: bool| if is_ok { ComponentStatus::Ok } else { ComponentStatus::Unavailable };
    let scraper = state.engine.scraper();
    let checks = ReadinessChecks {
        store: component(is_store_ok),
        index: component(state.engine.index().is_some()),
        cache: component(!scraper.is_cache_full()),
        artifacts: component(state.artifacts.may_store()),
    };
    let sources = state.engine.sources();
    let no_pages = sources.iter().all(|source| source.is_empty());
    let sources: Vec<SourceReadiness> =
        sources.iter().map(|source| source_readiness(source.as_ref(), no_pages)).collect();
    let outboxes: Vec<OutboxReadiness> =
        state.engine.mirrors().iter().map(|mirror| outbox(mirror.name(), mirror.status())).collect();
    let browser = scraper.configured_browser().map_or_else(BrowserReadiness::default, browser);
    let threat = threat(state.engine.threat().health());
    let clock = clock_watch::readiness(&state.store);
    let mut degraded = degraded(&checks, &sources, &outboxes, &browser, &threat);
    degraded.extend((clock.state != ClockState::Ok).then(|| "clock".to_owned()));
    let audit = state.audit.as_ref().map_or_else(Vec::new, audit);
    let forwarding = state.forwarding.is_on().then(|| forwarding(state.forwarding.off_reason()));
    let reason = fault.map(|fault| fault.to_string());
    let readiness = ReadinessResponse {
        status,
        reason,
        checks,
        sources,
        outboxes,
        browser,
        threat,
        degraded,
        audit,
        forwarding,
        clock,
    };
    (code, readiness)
}

/// Returns whether the store can be read, and its fault. That of a server is known: a probe that did not respond would
/// not be a better answer than 503.
async fn store_state(store: &Store) -> (bool, Option<StoreFault>) {
    let probed = store.clone();
    if !store.is_shared() {
        let probe = move || (probed.is_readable(), probed.fault(Instant::now()));
        return websvc_transport::spawn_blocking(probe).await.unwrap_or((false, None));
    }
    let fault = store.known_fault();
    if fault.is_some() {
        // It finds out for the next request if the fault has gone.
        drop(websvc_transport::spawn_blocking(move || probed.fault(Instant::now())));
    }
    (store.is_readable(), fault)
}

/// Returns the names of the degraded parts.
fn degraded(
    checks: &ReadinessChecks,
    sources: &[SourceReadiness],
    outboxes: &[OutboxReadiness],
    browser: &BrowserReadiness,
    threat: &ThreatReadiness,
) -> Vec<String> {
    let ReadinessChecks { store, index, cache, artifacts } = checks;
    let checks = [("store", store), ("index", index), ("cache", cache), ("artifacts", artifacts)];
    let checks = checks.into_iter().filter(|(_, status)| **status != ComponentStatus::Ok);
    let sources = sources.iter().filter(|source| source.state != SourceState::Ok);
    let outboxes = outboxes.iter().filter(|outbox| outbox.state != OutboxState::Ok);
    let browser = (browser.state == BrowserState::Degraded).then_some("browser");
    let threat = matches!(threat.state, ThreatState::Paused | ThreatState::Probing).then_some("threat");
    let parts = browser.into_iter().chain(threat).map(str::to_owned);
    checks
        .map(|(name, _)| name.to_owned())
        .chain(sources.map(|source| format!("source:{}", source.name)))
        .chain(outboxes.map(|outbox| format!("outbox:{}", outbox.name)))
        .chain(parts)
        .collect()
}

fn outbox(name: &str, status: OutboxStatus) -> OutboxReadiness {
    let OutboxStatus { state, pages, bytes, lag, failure } = status;
    let state = match state {
        websvc_engine::OutboxState::Ok => OutboxState::Ok,
        websvc_engine::OutboxState::Late => OutboxState::Late,
        websvc_engine::OutboxState::Full => OutboxState::Full,
    };
    let lag_ms = u64::try_from(lag.as_millis()).unwrap_or(u64::MAX);
    OutboxReadiness { name: name.to_owned(), state, pages, bytes, lag_ms, reason: failure }
}

fn threat(health: Option<ScannerHealth>) -> ThreatReadiness {
    let (state, retry_after_ms, reason) = match health {
        None => (ThreatState::Off, None, None),
        Some(ScannerHealth::Ok) => (ThreatState::Ok, None, None),
        Some(ScannerHealth::Paused { retry_after_ms, reason }) => {
            (ThreatState::Paused, Some(retry_after_ms), Some(reason))
        }
        Some(ScannerHealth::Probing { reason }) => (ThreatState::Probing, None, Some(reason)),
    };
    ThreatReadiness { state, retry_after_ms, reason }
}

fn forwarding(off_reason: Option<&str>) -> ForwardingReadiness {
    let state = if off_reason.is_some() { ForwardingState::Off } else { ForwardingState::Ok };
    ForwardingReadiness { state, reason: off_reason.map(str::to_owned) }
}

fn audit(audit: &Audit) -> Vec<AuditReadiness> {
    let AuditMetrics { unwritten, sinks, .. } = audit.metrics();
    let readiness = |SinkMetrics { name, lost, backlog, failure, .. }: SinkMetrics| AuditReadiness {
        name: name.to_owned(),
        state: if failure.is_some() { AuditState::Failing } else { AuditState::Ok },
        backlog,
        lost: lost + unwritten,
        reason: failure,
    };
    sinks.into_iter().map(readiness).collect()
}

fn browser(browser: &Browser) -> BrowserReadiness {
    let BrowserHealth { failure, warnings } = browser.health();
    BrowserReadiness {
        state: if failure.is_some() { BrowserState::Degraded } else { BrowserState::Ok },
        reason: failure,
        warnings: warnings.into_iter().map(str::to_owned).collect(),
    }
}

fn source_readiness(source: &dyn SearchSource, no_pages: bool) -> SourceReadiness {
    let (state, retry_after_ms, reason) = match source.health() {
        SourceHealth::Ok => (SourceState::Ok, None, None),
        SourceHealth::Paused { retry_after_ms, reason } => {
            (SourceState::Paused, Some(retry_after_ms), Some(reason))
        }
        SourceHealth::Probing { reason } => (SourceState::Probing, None, Some(reason)),
    };
    let warning = no_pages.then(|| NO_PAGES.to_owned());
    SourceReadiness { name: source.name().to_owned(), state, retry_after_ms, reason, warning }
}

/// `GET /openapi.json`.
async fn openapi(headers: &HeaderMap) -> Result<HttpResponse, ApiError> {
    OPENAPI.response("application/json", headers).await
}

/// `GET /`: the dashboard for browsers, and JSON for other clients.
fn root(request: &Request<ServerBody>) -> HttpResponse {
    if request
        .headers()
        .get(ACCEPT)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.contains("text/html"))
    {
        return dashboard::page();
    }
    let parameters = request.uri().query().unwrap_or_default();
    // Some clients of SearXNG are given its address only, where SearXNG itself searches, too.
    if form_urlencoded::parse(parameters.as_bytes()).any(|(name, _)| name == "q")
        && let Ok(location) = HeaderValue::try_from(format!("/search?{parameters}"))
    {
        return redirect(location);
    }
    json(
        StatusCode::OK,
        &RootResponse {
            message: "websvc is running. Send POST /v2/search with a bearer key.".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            docs: "/docs".to_owned(),
            openapi: "/openapi.json".to_owned(),
        },
    )
}
