//! What the service says of itself, to anybody.

use http::header::ACCEPT;
use http::{HeaderMap, StatusCode};
use websvc_audit::{Audit, AuditMetrics, SinkMetrics};
use websvc_browser::{Browser, BrowserHealth};
use websvc_engine::{NO_PAGES, SearchSource, SourceHealth as SourceCondition};
use websvc_threat::ScannerHealth as ScannerCondition;
use websvc_types::status::{
    AuditReadiness, AuditState, BrowserReadiness, BrowserState, ComponentStatus, HealthResponse,
    ReadinessChecks, ReadinessResponse, ReadinessStatus, RootResponse, SourceReadiness, SourceState,
    ThreatReadiness, ThreatState,
};

use super::compressed::{Compressed, compressed};
use crate::dashboard;
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;

/// The OpenAPI document as `cargo xtask schema` writes it. Making it here would bring the schemas of all types into the program,
/// ten times its size.
static OPENAPI: Compressed = compressed!("openapi.json");

/// `GET /health`: the process answers.
pub(crate) fn health() -> HttpResponse {
    json(
        StatusCode::OK,
        &HealthResponse { status: ComponentStatus::Ok, version: env!("CARGO_PKG_VERSION").to_owned() },
    )
}

/// `GET /ready`: the parts that a request needs answer too, and the service is not stopping.
pub(crate) async fn ready(context: &RequestContext<'_>) -> HttpResponse {
    let (code, readiness) = readiness(context).await;
    json(code, &readiness)
}

/// Returns whether requests can be served, and the status that says so.
pub(crate) async fn readiness(context: &RequestContext<'_>) -> (StatusCode, ReadinessResponse) {
    let store = context.store.clone();
    let store = matches!(tokio::task::spawn_blocking(move || store.list_teams()).await, Ok(Ok(_)));
    let (code, status) = match (context.stopping, store) {
        (true, _) => (StatusCode::SERVICE_UNAVAILABLE, ReadinessStatus::Stopping),
        (false, false) => (StatusCode::SERVICE_UNAVAILABLE, ReadinessStatus::NotReady),
        (false, true) => (StatusCode::OK, ReadinessStatus::Ready),
    };
    let condition = |good: bool| if good { ComponentStatus::Ok } else { ComponentStatus::Unavailable };
    let checks = ReadinessChecks {
        store: condition(store),
        index: condition(context.engine.index().is_some()),
        cache: condition(!context.engine.scraper().cache_metrics().is_full),
        artifacts: condition(context.artifacts.may_store()),
    };
    let sources = context.engine.sources();
    let none_has_pages = sources.iter().all(|source| source.is_empty());
    let sources: Vec<SourceReadiness> =
        sources.iter().map(|source| source_readiness(source.as_ref(), none_has_pages)).collect();
    let browser =
        context.engine.scraper().configured_browser().map_or_else(BrowserReadiness::default, browser);
    let threat = threat(context.engine.threat().health());
    let degraded = degraded(&checks, &sources, &browser, &threat);
    let audit = context.audit.map_or_else(Vec::new, audit);
    (code, ReadinessResponse { status, checks, sources, browser, threat, degraded, audit })
}

/// Returns the names of what is less than it should be.
fn degraded(
    checks: &ReadinessChecks,
    sources: &[SourceReadiness],
    browser: &BrowserReadiness,
    threat: &ThreatReadiness,
) -> Vec<String> {
    let ReadinessChecks { store, index, cache, artifacts } = checks;
    let checks = [("store", store), ("index", index), ("cache", cache), ("artifacts", artifacts)];
    let checks = checks.into_iter().filter(|(_, condition)| **condition != ComponentStatus::Ok);
    let sources = sources.iter().filter(|source| source.state != SourceState::Ok);
    let browser = (browser.state == BrowserState::Degraded).then_some("browser");
    let threat = matches!(threat.state, ThreatState::Paused | ThreatState::Probing).then_some("threat");
    let parts = browser.into_iter().chain(threat).map(str::to_owned);
    checks
        .map(|(name, _)| name.to_owned())
        .chain(sources.map(|source| format!("source:{}", source.name)))
        .chain(parts)
        .collect()
}

fn threat(condition: Option<ScannerCondition>) -> ThreatReadiness {
    let (state, retry_after_ms, reason) = match condition {
        None => (ThreatState::Off, None, None),
        Some(ScannerCondition::Ok) => (ThreatState::Ok, None, None),
        Some(ScannerCondition::Paused { retry_after_ms, reason }) => {
            (ThreatState::Paused, Some(retry_after_ms), Some(reason))
        }
        Some(ScannerCondition::Probing { reason }) => (ThreatState::Probing, None, Some(reason)),
    };
    ThreatReadiness { state, retry_after_ms, reason }
}

fn audit(audit: &Audit) -> Vec<AuditReadiness> {
    let AuditMetrics { unwritten, sinks, .. } = audit.report();
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

fn source_readiness(source: &dyn SearchSource, none_has_pages: bool) -> SourceReadiness {
    let (state, retry_after_ms, reason) = match source.condition() {
        SourceCondition::Ok => (SourceState::Ok, None, None),
        SourceCondition::Paused { retry_after_ms, reason } => {
            (SourceState::Paused, Some(retry_after_ms), Some(reason))
        }
        SourceCondition::Probing { reason } => (SourceState::Probing, None, Some(reason)),
    };
    let warning = none_has_pages.then(|| NO_PAGES.to_owned());
    SourceReadiness { name: source.name().to_owned(), state, retry_after_ms, reason, warning }
}

/// `GET /openapi.json`.
pub(crate) async fn openapi(headers: &HeaderMap) -> Result<HttpResponse, ApiError> {
    OPENAPI.reply("application/json", headers).await
}

/// `GET /`: the dashboard for browsers, a word for everybody else.
pub(crate) fn root(headers: &HeaderMap) -> HttpResponse {
    if headers
        .get(ACCEPT)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.contains("text/html"))
    {
        return dashboard::page();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_that_is_served_is_that_of_the_types() {
        let current = websvc_types::openapi::text();
        assert!(*OPENAPI.plain == current, "docs/openapi.json is out of date: run `cargo xtask schema`");
    }
}
