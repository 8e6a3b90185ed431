//! The bodies that operations read, and their limits.

use websvc_store::{ApiVersion, JobKind, LinkAction};
use websvc_types::limits::{
    BODY_MAX_BYTES, BODY_OPTIONS_MAX_BYTES, BODY_SHORT_MAX_BYTES, BODY_TOKEN_MAX_BYTES,
};

use super::Operation;
use crate::handler::{
    AgentOperation, BrowserOperation, ExtractOperation, JobOperation, MonitorEmailOperation,
    MonitorOperation, TeamOperation, WebhookOperation,
};
use crate::{adapter, dashboard};

/// The body that an operation reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestBody {
    /// None. A body that a client sends nevertheless is not read.
    None,
    /// At most this many bytes, which are received before the request is admitted.
    Whole { max_bytes: usize },
    /// A form with a file, which the handler receives in parts, or JSON that names a file sent before.
    Form,
    /// A file, which the handler receives in parts.
    File,
}

/// A token or a key.
const TOKEN: RequestBody = RequestBody::Whole { max_bytes: BODY_TOKEN_MAX_BYTES };
/// A few short fields.
const SHORT: RequestBody = RequestBody::Whole { max_bytes: BODY_SHORT_MAX_BYTES };
/// The options of one piece of work, which may contain schemas and scripts.
const OPTIONS: RequestBody = RequestBody::Whole { max_bytes: BODY_OPTIONS_MAX_BYTES };
/// Thousands of URLs, or texts.
const LONG: RequestBody = RequestBody::Whole { max_bytes: BODY_MAX_BYTES };

impl Operation {
    /// Returns the body that the operation reads.
    pub(crate) fn body(self) -> RequestBody {
        match self {
            Self::Search | Self::Scrape | Self::Map | Self::MapV1 | Self::Mcp => OPTIONS,
            // Feedback may quote sources and results.
            Self::SearchFeedback | Self::Feedback => OPTIONS,
            Self::Parse => RequestBody::Form,
            Self::UploadUrl => SHORT,
            Self::Upload => RequestBody::File,
            Self::Team(operation) => team(operation),
            Self::Job(kind, operation) => job(kind, operation),
            Self::Monitor(operation) => monitor(operation),
            Self::MonitorEmail(operation) => email(operation),
            Self::Browser(operation) => browser(operation),
            Self::Agent(operation) => agent(operation),
            Self::Extract(operation) => extract(operation),
            Self::Webhook(operation) => webhook(operation),
            Self::AddDocuments => LONG,
            Self::CrawlProgress => SHORT,
            Self::Adapter(operation) => of_adapter(operation),
            Self::Dashboard(operation) => of_dashboard(operation),
            Self::ScrapeResult
            | Self::ParseFormats
            | Self::IndexStats
            | Self::CreditUsage
            | Self::CreditHistory
            | Self::TokenUsage
            | Self::TokenHistory
            | Self::QueueStatus
            | Self::ConcurrencyCheck
            | Self::TeamActivity
            | Self::Health
            | Self::Ready
            | Self::Metrics
            | Self::OpenApi
            | Self::Docs(_)
            | Self::Artifact
            | Self::Root => RequestBody::None,
        }
    }
}

fn job(kind: JobKind, operation: JobOperation) -> RequestBody {
    match (operation, kind) {
        (JobOperation::Start, JobKind::Batch) => LONG,
        (JobOperation::Start, JobKind::Crawl) | (JobOperation::Params, _) => OPTIONS,
        (JobOperation::Status | JobOperation::Cancel | JobOperation::Errors | JobOperation::Active, _) => {
            RequestBody::None
        }
    }
}

fn team(operation: TeamOperation) -> RequestBody {
    match operation {
        TeamOperation::SetThreatProtection => OPTIONS,
        TeamOperation::SetSiem => SHORT,
        TeamOperation::ThreatProtection | TeamOperation::Siem => RequestBody::None,
    }
}

fn monitor(operation: MonitorOperation) -> RequestBody {
    match operation {
        MonitorOperation::Create | MonitorOperation::Update => LONG,
        MonitorOperation::Run => SHORT,
        MonitorOperation::List
        | MonitorOperation::Get
        | MonitorOperation::Delete
        | MonitorOperation::Checks
        | MonitorOperation::Check
        | MonitorOperation::Feed => RequestBody::None,
    }
}

fn email(operation: MonitorEmailOperation) -> RequestBody {
    match operation {
        MonitorEmailOperation::Follow(LinkAction::Confirm | LinkAction::Unsubscribe) => TOKEN,
        MonitorEmailOperation::Page(_) => RequestBody::None,
    }
}

fn browser(operation: BrowserOperation) -> RequestBody {
    match operation {
        BrowserOperation::Create | BrowserOperation::Execute | BrowserOperation::Interact => OPTIONS,
        BrowserOperation::List
        | BrowserOperation::End
        | BrowserOperation::EndInteract
        | BrowserOperation::Cdp
        | BrowserOperation::Live => RequestBody::None,
    }
}

fn agent(operation: AgentOperation) -> RequestBody {
    match operation {
        AgentOperation::Start => OPTIONS,
        AgentOperation::List
        | AgentOperation::Status
        | AgentOperation::Cancel
        | AgentOperation::Thread
        | AgentOperation::Trace
        | AgentOperation::Snapshot => RequestBody::None,
    }
}

fn extract(operation: ExtractOperation) -> RequestBody {
    match operation {
        ExtractOperation::Start(ApiVersion::V1 | ApiVersion::V2) => OPTIONS,
        ExtractOperation::Status => RequestBody::None,
    }
}

fn webhook(operation: WebhookOperation) -> RequestBody {
    match operation {
        WebhookOperation::List | WebhookOperation::Retry | WebhookOperation::Delete => RequestBody::None,
    }
}

fn of_adapter(operation: adapter::Operation) -> RequestBody {
    use adapter::Operation;
    match operation {
        Operation::ScrapeV1 | Operation::SearchV1 | Operation::LlmsTxtStart => OPTIONS,
        Operation::JobV1(kind, operation) => job(kind, operation),
        Operation::SearchExternal => SHORT,
        Operation::Rerank => LONG,
        Operation::ScrapeResultV1
        | Operation::LlmsTxtStatus
        | Operation::CreditUsageV1
        | Operation::TokenUsageV1
        | Operation::SearchSearxng => RequestBody::None,
    }
}

fn of_dashboard(operation: dashboard::Operation) -> RequestBody {
    use dashboard::Operation;
    match operation {
        Operation::SignIn => TOKEN,
        Operation::CreateKey | Operation::SetTeam => SHORT,
        Operation::MonitorSchedules => OPTIONS,
        // The markdown of a page, and the request for a monitor.
        Operation::Render | Operation::MonitorPreview => LONG,
        Operation::File(_)
        | Operation::Session
        | Operation::SignOut
        | Operation::Keys
        | Operation::RevokeKey
        | Operation::Teams
        | Operation::Usage
        | Operation::Requests
        | Operation::Feedback
        | Operation::System
        | Operation::BrowserSessions => RequestBody::None,
    }
}
