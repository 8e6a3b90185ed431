//! Stage 2, route: finds the operation of a method and a path, in one table.

mod body;
mod entry;
mod group;
mod path;
mod rights;

use http::Method;
use websvc_store::{ApiVersion, JobKind, LinkAction};
use websvc_types::ErrorCode;

use crate::adapter;
use crate::dashboard::{self, SCRIPTS, STYLE};
use crate::handler::docs::{self, DocsFile};
use crate::handler::{
    AgentOperation, BrowserOperation, ExtractOperation, JobOperation, MonitorEmailOperation,
    MonitorOperation, TeamOperation, WebhookOperation,
};
use crate::not_offered;
use crate::response::ApiError;
pub(crate) use body::RequestBody;
use entry::{
    adapter, agent, batch, batch_v1, browser, crawl, crawl_v1, dashboard, email, extract, file, monitor,
    route, session_url, team, webhook,
};
pub(crate) use group::OperationGroup;
use path::normalize;

/// An operation of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Search,
    Map,
    MapV1,
    Scrape,
    ScrapeResult,
    Parse,
    ParseFormats,
    UploadUrl,
    Upload,
    Job(JobKind, JobOperation),
    Monitor(MonitorOperation),
    MonitorEmail(MonitorEmailOperation),
    Browser(BrowserOperation),
    Agent(AgentOperation),
    Extract(ExtractOperation),
    Webhook(WebhookOperation),
    Team(TeamOperation),
    AddDocuments,
    CrawlProgress,
    IndexStats,
    CreditUsage,
    CreditHistory,
    TokenUsage,
    TokenHistory,
    QueueStatus,
    ConcurrencyCheck,
    TeamActivity,
    SearchFeedback,
    Feedback,
    Health,
    Ready,
    Metrics,
    OpenApi,
    Docs(DocsFile),
    Adapter(adapter::Operation),
    Artifact,
    Root,
    Dashboard(dashboard::Operation),
    Mcp,
}

impl Operation {
    /// Returns the group of the operation.
    pub(crate) fn group(self) -> OperationGroup {
        match self {
            Self::Search => OperationGroup::Search,
            Self::Scrape | Self::ScrapeResult => OperationGroup::Scrape,
            Self::Parse | Self::ParseFormats | Self::UploadUrl | Self::Upload => OperationGroup::Parse,
            Self::Map | Self::MapV1 => OperationGroup::Map,
            Self::Adapter(operation) => operation.group(),
            Self::Job(JobKind::Batch, _) => OperationGroup::Batch,
            Self::Job(JobKind::Crawl, _) => OperationGroup::Crawl,
            Self::Monitor(_) | Self::MonitorEmail(_) => OperationGroup::Monitor,
            Self::Browser(_) => OperationGroup::Sessions,
            Self::Agent(_) | Self::Extract(_) => OperationGroup::Agent,
            Self::Webhook(_) => OperationGroup::Webhooks,
            Self::AddDocuments | Self::CrawlProgress | Self::IndexStats => OperationGroup::Index,
            Self::Team(_)
            | Self::CreditUsage
            | Self::CreditHistory
            | Self::TokenUsage
            | Self::TokenHistory
            | Self::QueueStatus
            | Self::ConcurrencyCheck
            | Self::TeamActivity
            | Self::SearchFeedback
            | Self::Feedback => OperationGroup::Team,
            Self::Health | Self::Ready | Self::Metrics => OperationGroup::Status,
            Self::OpenApi | Self::Docs(_) => OperationGroup::Docs,
            Self::Artifact => OperationGroup::Artifacts,
            Self::Root | Self::Dashboard(_) => OperationGroup::Dashboard,
            Self::Mcp => OperationGroup::Mcp,
        }
    }

    /// Returns the name in audit events. Public operations, and those that only read for the dashboard, write none.
    pub(crate) fn name(self) -> Option<&'static str> {
        match self {
            Self::Search => Some("search"),
            Self::Scrape => Some("scrape"),
            Self::ScrapeResult => Some("scrape-result"),
            Self::Parse => Some("parse"),
            Self::ParseFormats => Some("parse-formats"),
            Self::UploadUrl => Some("upload-url"),
            Self::Map | Self::MapV1 => Some("map"),
            Self::Adapter(operation) => Some(operation.name()),
            Self::Job(kind, operation) => Some(operation.name(kind)),
            Self::Monitor(operation) => Some(operation.name()),
            Self::MonitorEmail(operation) => Some(operation.name()),
            Self::Browser(operation) => Some(operation.name()),
            Self::Agent(operation) => Some(operation.name()),
            Self::Extract(operation) => Some(operation.name()),
            Self::Webhook(operation) => Some(operation.name()),
            Self::Team(operation) => Some(operation.name()),
            Self::AddDocuments => Some("index-documents"),
            Self::IndexStats => Some("index-stats"),
            Self::CreditUsage => Some("credit-usage"),
            Self::CreditHistory => Some("credit-history"),
            Self::TokenUsage => Some("token-usage"),
            Self::TokenHistory => Some("token-history"),
            Self::QueueStatus => Some("queue-status"),
            Self::ConcurrencyCheck => Some("concurrency-check"),
            Self::TeamActivity => Some("team-activity"),
            Self::SearchFeedback => Some("search-feedback"),
            Self::Feedback => Some("feedback"),
            Self::Artifact => Some("artifact"),
            Self::Mcp => Some("mcp"),
            Self::Dashboard(operation) => operation.name(),
            // Crawls report their progress every few seconds. Who sends a file to an upload URL needs no key.
            Self::CrawlProgress | Self::Upload => None,
            Self::Health | Self::Ready | Self::Metrics | Self::OpenApi | Self::Docs(_) | Self::Root => None,
        }
    }

    /// Returns whether replicas pass requests for this operation on to each other.
    pub(crate) fn is_forwarded(self) -> bool {
        match self {
            Self::Browser(operation) => operation.is_forwarded(),
            operation => matches!(operation, Self::Parse | Self::Upload),
        }
    }
}

/// The credential that an operation needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessLevel {
    Key,
    /// An admin key, or a session of the dashboard with one.
    Admin,
    Public,
}

/// One row of the table.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) method: Method,
    /// The path; a segment in braces matches any segment.
    pub(crate) path: &'static str,
    pub(crate) operation: Operation,
    pub(crate) access: AccessLevel,
}

impl Route {
    /// Returns the version of the API in the path; the current one for a path without a version.
    pub(crate) fn api_version(&self) -> ApiVersion {
        if self.path.starts_with("/v1/") { ApiVersion::V1 } else { ApiVersion::V2 }
    }
}

/// The paths of the links in emails about monitors.
const CONFIRM: &str = "/v2/monitor/email/confirm";
const UNSUBSCRIBE: &str = "/v2/monitor/email/unsubscribe";

/// Every route of the service.
pub(crate) static ROUTES: &[Route] = &[
    route(Method::POST, "/v2/search", Operation::Search, AccessLevel::Key),
    route(Method::POST, "/v2/map", Operation::Map, AccessLevel::Key),
    route(Method::POST, "/v1/map", Operation::MapV1, AccessLevel::Key),
    route(Method::POST, "/v2/scrape", Operation::Scrape, AccessLevel::Key),
    route(Method::GET, "/v2/scrape/{id}", Operation::ScrapeResult, AccessLevel::Key),
    route(Method::POST, "/v2/parse", Operation::Parse, AccessLevel::Key),
    route(Method::GET, "/v2/parse/formats", Operation::ParseFormats, AccessLevel::Key),
    route(Method::POST, "/v2/parse/upload-url", Operation::UploadUrl, AccessLevel::Key),
    // The handler checks the signature of the URL.
    route(Method::PUT, "/v2/parse/upload/{id}", Operation::Upload, AccessLevel::Public),
    batch(Method::POST, "/v2/batch/scrape", JobOperation::Start),
    batch(Method::GET, "/v2/batch/scrape/{id}", JobOperation::Status),
    batch(Method::DELETE, "/v2/batch/scrape/{id}", JobOperation::Cancel),
    batch(Method::GET, "/v2/batch/scrape/{id}/errors", JobOperation::Errors),
    crawl(Method::POST, "/v2/crawl", JobOperation::Start),
    crawl(Method::POST, "/v2/crawl/params-preview", JobOperation::Params),
    crawl(Method::GET, "/v2/crawl/active", JobOperation::Active),
    crawl(Method::GET, "/v2/crawl/ongoing", JobOperation::Active),
    crawl(Method::GET, "/v2/crawl/{id}", JobOperation::Status),
    crawl(Method::DELETE, "/v2/crawl/{id}", JobOperation::Cancel),
    crawl(Method::GET, "/v2/crawl/{id}/errors", JobOperation::Errors),
    monitor(Method::POST, "/v2/monitor", MonitorOperation::Create),
    monitor(Method::GET, "/v2/monitor", MonitorOperation::List),
    monitor(Method::GET, "/v2/monitor/{id}", MonitorOperation::Get),
    monitor(Method::PATCH, "/v2/monitor/{id}", MonitorOperation::Update),
    monitor(Method::DELETE, "/v2/monitor/{id}", MonitorOperation::Delete),
    monitor(Method::POST, "/v2/monitor/{id}/run", MonitorOperation::Run),
    monitor(Method::GET, "/v2/monitor/{id}/checks", MonitorOperation::Checks),
    monitor(Method::GET, "/v2/monitor/{id}/checks/{checkId}", MonitorOperation::Check),
    // The handler checks the token of the URL.
    route(
        Method::GET,
        "/v2/monitor/{id}/feed",
        Operation::Monitor(MonitorOperation::Feed),
        AccessLevel::Public,
    ),
    // The token is the permission, because people follow these links without a key.
    email(Method::GET, CONFIRM, MonitorEmailOperation::Page(LinkAction::Confirm)),
    email(Method::POST, CONFIRM, MonitorEmailOperation::Follow(LinkAction::Confirm)),
    email(Method::GET, UNSUBSCRIBE, MonitorEmailOperation::Page(LinkAction::Unsubscribe)),
    email(Method::POST, UNSUBSCRIBE, MonitorEmailOperation::Follow(LinkAction::Unsubscribe)),
    browser(Method::POST, "/v2/scrape/{id}/interact", BrowserOperation::Interact),
    browser(Method::DELETE, "/v2/scrape/{id}/interact", BrowserOperation::EndInteract),
    browser(Method::POST, "/v2/browser", BrowserOperation::Create),
    browser(Method::GET, "/v2/browser", BrowserOperation::List),
    browser(Method::POST, "/v2/browser/{id}/execute", BrowserOperation::Execute),
    browser(Method::DELETE, "/v2/browser/{id}", BrowserOperation::End),
    browser(Method::POST, "/v2/interact", BrowserOperation::Create),
    browser(Method::GET, "/v2/interact", BrowserOperation::List),
    browser(Method::POST, "/v2/interact/{id}/execute", BrowserOperation::Execute),
    browser(Method::DELETE, "/v2/interact/{id}", BrowserOperation::End),
    // The handlers check the tokens of the URLs.
    session_url("/v2/browser/{id}/cdp", BrowserOperation::Cdp),
    session_url("/v2/browser/{id}/live", BrowserOperation::Live),
    agent(Method::POST, "/v2/agent", AgentOperation::Start),
    agent(Method::GET, "/v2/agent", AgentOperation::List),
    agent(Method::GET, "/v2/agent/threads/{id}", AgentOperation::Thread),
    agent(Method::GET, "/v2/agent/{id}", AgentOperation::Status),
    agent(Method::DELETE, "/v2/agent/{id}", AgentOperation::Cancel),
    agent(Method::GET, "/v2/agent/{id}/trace", AgentOperation::Trace),
    agent(Method::GET, "/v2/agent/{id}/snapshots/{snapshotId}", AgentOperation::Snapshot),
    extract(Method::POST, "/v2/extract", ExtractOperation::Start(ApiVersion::V2)),
    extract(Method::GET, "/v2/extract/{id}", ExtractOperation::Status),
    webhook(Method::GET, "/v2/webhooks/dead-letters", WebhookOperation::List),
    webhook(Method::POST, "/v2/webhooks/dead-letters/{id}/retry", WebhookOperation::Retry),
    webhook(Method::DELETE, "/v2/webhooks/dead-letters/{id}", WebhookOperation::Delete),
    route(Method::POST, "/v2/index/documents", Operation::AddDocuments, AccessLevel::Key),
    route(Method::POST, "/v2/index/progress", Operation::CrawlProgress, AccessLevel::Key),
    route(Method::GET, "/v2/index/stats", Operation::IndexStats, AccessLevel::Key),
    route(Method::GET, "/v2/team/credit-usage", Operation::CreditUsage, AccessLevel::Key),
    route(Method::GET, "/v2/team/credit-usage/historical", Operation::CreditHistory, AccessLevel::Key),
    route(Method::GET, "/v2/team/token-usage", Operation::TokenUsage, AccessLevel::Key),
    route(Method::GET, "/v2/team/token-usage/historical", Operation::TokenHistory, AccessLevel::Key),
    route(Method::GET, "/v2/team/queue-status", Operation::QueueStatus, AccessLevel::Key),
    route(Method::GET, "/v2/concurrency-check", Operation::ConcurrencyCheck, AccessLevel::Key),
    route(Method::GET, "/v2/team/activity", Operation::TeamActivity, AccessLevel::Key),
    team(Method::GET, "/v2/team/threat-protection", TeamOperation::ThreatProtection),
    team(Method::PUT, "/v2/team/threat-protection", TeamOperation::SetThreatProtection),
    team(Method::GET, "/v2/team/siem", TeamOperation::Siem),
    team(Method::PUT, "/v2/team/siem", TeamOperation::SetSiem),
    route(Method::POST, "/v2/search/{id}/feedback", Operation::SearchFeedback, AccessLevel::Key),
    route(Method::POST, "/v2/feedback", Operation::Feedback, AccessLevel::Key),
    route(Method::GET, "/health", Operation::Health, AccessLevel::Public),
    route(Method::GET, "/ready", Operation::Ready, AccessLevel::Public),
    route(Method::GET, "/metrics", Operation::Metrics, AccessLevel::Public),
    route(Method::GET, "/openapi.json", Operation::OpenApi, AccessLevel::Public),
    route(Method::GET, docs::PAGE, Operation::Docs(DocsFile::Page), AccessLevel::Public),
    route(Method::GET, docs::PAGE_SCRIPT, Operation::Docs(DocsFile::PageScript), AccessLevel::Public),
    route(Method::GET, docs::PAGE_STYLE, Operation::Docs(DocsFile::PageStyle), AccessLevel::Public),
    route(Method::GET, docs::RENDERER, Operation::Docs(DocsFile::Renderer), AccessLevel::Public),
    route(Method::GET, docs::RENDERER_STYLE, Operation::Docs(DocsFile::RendererStyle), AccessLevel::Public),
    route(
        Method::GET,
        docs::RENDERER_LICENSE,
        Operation::Docs(DocsFile::RendererLicense),
        AccessLevel::Public,
    ),
    route(Method::GET, docs::RENDERER_NOTICE, Operation::Docs(DocsFile::RendererNotice), AccessLevel::Public),
    adapter(Method::POST, "/v1/scrape", adapter::Operation::ScrapeV1),
    adapter(Method::GET, "/v1/scrape/{id}", adapter::Operation::ScrapeResultV1),
    adapter(Method::POST, "/v1/search", adapter::Operation::SearchV1),
    batch_v1(Method::POST, "/v1/batch/scrape", JobOperation::Start),
    batch_v1(Method::GET, "/v1/batch/scrape/{id}", JobOperation::Status),
    batch_v1(Method::DELETE, "/v1/batch/scrape/{id}", JobOperation::Cancel),
    batch_v1(Method::GET, "/v1/batch/scrape/{id}/errors", JobOperation::Errors),
    crawl_v1(Method::POST, "/v1/crawl", JobOperation::Start),
    crawl_v1(Method::GET, "/v1/crawl/active", JobOperation::Active),
    crawl_v1(Method::GET, "/v1/crawl/ongoing", JobOperation::Active),
    crawl_v1(Method::GET, "/v1/crawl/{id}", JobOperation::Status),
    crawl_v1(Method::DELETE, "/v1/crawl/{id}", JobOperation::Cancel),
    crawl_v1(Method::GET, "/v1/crawl/{id}/errors", JobOperation::Errors),
    extract(Method::POST, "/v1/extract", ExtractOperation::Start(ApiVersion::V1)),
    extract(Method::GET, "/v1/extract/{id}", ExtractOperation::Status),
    adapter(Method::POST, "/v1/llmstxt", adapter::Operation::LlmsTxtStart),
    adapter(Method::GET, "/v1/llmstxt/{id}", adapter::Operation::LlmsTxtStatus),
    adapter(Method::GET, "/v1/team/credit-usage", adapter::Operation::CreditUsageV1),
    adapter(Method::GET, "/v1/team/token-usage", adapter::Operation::TokenUsageV1),
    route(Method::GET, "/v1/team/credit-usage/historical", Operation::CreditHistory, AccessLevel::Key),
    route(Method::GET, "/v1/team/token-usage/historical", Operation::TokenHistory, AccessLevel::Key),
    route(Method::GET, "/v1/team/queue-status", Operation::QueueStatus, AccessLevel::Key),
    route(Method::GET, "/v1/concurrency-check", Operation::ConcurrencyCheck, AccessLevel::Key),
    adapter(Method::POST, "/v1/rerank", adapter::Operation::Rerank),
    adapter(Method::GET, "/search", adapter::Operation::SearchSearxng),
    adapter(Method::POST, "/search", adapter::Operation::SearchExternal),
    route(Method::POST, "/mcp", Operation::Mcp, AccessLevel::Key),
    // The handler checks the signature of the URL.
    route(Method::GET, "/artifacts/{file}", Operation::Artifact, AccessLevel::Public),
    route(Method::GET, "/", Operation::Root, AccessLevel::Public),
    // These two create or read a session, so they check the access themselves.
    dashboard(Method::GET, "/dashboard/session", dashboard::Operation::Session, AccessLevel::Public),
    dashboard(Method::POST, "/dashboard/session", dashboard::Operation::SignIn, AccessLevel::Public),
    dashboard(Method::DELETE, "/dashboard/session", dashboard::Operation::SignOut, AccessLevel::Admin),
    dashboard(Method::GET, "/dashboard/keys", dashboard::Operation::Keys, AccessLevel::Admin),
    dashboard(Method::POST, "/dashboard/keys", dashboard::Operation::CreateKey, AccessLevel::Admin),
    dashboard(Method::DELETE, "/dashboard/keys/{id}", dashboard::Operation::RevokeKey, AccessLevel::Admin),
    dashboard(Method::GET, "/dashboard/teams", dashboard::Operation::Teams, AccessLevel::Admin),
    dashboard(Method::PUT, "/dashboard/teams", dashboard::Operation::SetTeam, AccessLevel::Admin),
    dashboard(Method::GET, "/dashboard/usage", dashboard::Operation::Usage, AccessLevel::Admin),
    dashboard(Method::GET, "/dashboard/requests", dashboard::Operation::Requests, AccessLevel::Admin),
    dashboard(Method::GET, "/dashboard/feedback", dashboard::Operation::Feedback, AccessLevel::Admin),
    dashboard(Method::GET, "/dashboard/system", dashboard::Operation::System, AccessLevel::Admin),
    dashboard(Method::POST, "/dashboard/render", dashboard::Operation::Render, AccessLevel::Admin),
    dashboard(
        Method::POST,
        "/dashboard/monitor/preview",
        dashboard::Operation::MonitorPreview,
        AccessLevel::Admin,
    ),
    dashboard(
        Method::POST,
        "/dashboard/monitor/schedules",
        dashboard::Operation::MonitorSchedules,
        AccessLevel::Admin,
    ),
    dashboard(
        Method::GET,
        "/dashboard/browser-sessions",
        dashboard::Operation::BrowserSessions,
        AccessLevel::Admin,
    ),
    file(STYLE),
    file(SCRIPTS[0]),
    file(SCRIPTS[1]),
    file(SCRIPTS[2]),
    file(SCRIPTS[3]),
    file(SCRIPTS[4]),
    file(SCRIPTS[5]),
    file(SCRIPTS[6]),
    file(SCRIPTS[7]),
    file(SCRIPTS[8]),
    file(SCRIPTS[9]),
    file(SCRIPTS[10]),
    file(SCRIPTS[11]),
    file(SCRIPTS[12]),
    file(SCRIPTS[13]),
    file(SCRIPTS[14]),
    file(SCRIPTS[15]),
    file(SCRIPTS[16]),
    file(SCRIPTS[17]),
    file(SCRIPTS[18]),
    file(SCRIPTS[19]),
    file(SCRIPTS[20]),
    file(SCRIPTS[21]),
    file(SCRIPTS[22]),
    file(SCRIPTS[23]),
    file(SCRIPTS[24]),
    file(SCRIPTS[25]),
    file(SCRIPTS[26]),
    file(SCRIPTS[27]),
    file(SCRIPTS[28]),
];

impl Route {
    fn matches(&self, path: &str) -> bool {
        if !self.path.contains('{') {
            return self.path == path;
        }
        let mut segments = path.split('/');
        let is_prefix = self.path.split('/').all(|pattern| {
            segments.next().is_some_and(|segment| {
                pattern == segment || (pattern.starts_with('{') && !segment.is_empty())
            })
        });
        is_prefix && segments.next().is_none()
    }
}

/// Returns the route of a request. Double and trailing slashes are ignored: clients create them from base URLs with a
/// trailing slash.
///
/// # Errors
/// 404 for an unknown path, 405 for a known one with another method.
pub(crate) fn find(method: &Method, path: &str) -> Result<&'static Route, ApiError> {
    let path = normalize(path);
    let method_or_get = if method == Method::HEAD { &Method::GET } else { method };
    // A literal path has precedence over patterns: `/v2/crawl/active` is not the job with the id `active`.
    let is_literal = ROUTES.iter().any(|route| route.path == path);
    let mut allowed = Vec::new();
    for route in
        ROUTES.iter().filter(|route| if is_literal { route.path == path } else { route.matches(&path) })
    {
        if route.method == *method_or_get {
            return Ok(route);
        }
        allowed.push(route.method.as_str());
    }
    if allowed.is_empty() {
        if let Some(text) = not_offered::version_0(&path) {
            return Err(ApiError::new(ErrorCode::Gone, text));
        }
        let reason = match not_offered::operation(&path) {
            Some(operation) => format!(": {}", not_offered::explain(operation)),
            None => String::new(),
        };
        return Err(ApiError::new(ErrorCode::NotFound, format!("Not found: {method} {path}{reason}")));
    }
    Err(ApiError::method_not_allowed(&allowed.join(", ")))
}

/// Returns whether a path is that of extractions, or below it. Errors of the route have no operation.
pub(crate) fn is_of_extractions(path: &str) -> bool {
    let path = normalize(path);
    let starts = ROUTES
        .iter()
        .filter(|route| matches!(route.operation, Operation::Extract(ExtractOperation::Start(_))));
    let mut rests = starts.filter_map(|route| path.strip_prefix(route.path));
    rests.any(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests;
