//! The rights that a key needs for each operation.

use websvc_store::{JobKind, KeyScope};

use super::Operation;

impl Operation {
    /// Returns the formats that a key must allow because all responses of the operation may contain them. The formats of
    /// single requests and of stored documents are checked by their handlers.
    pub(crate) fn formats(self) -> &'static [&'static str] {
        match self {
            // A session runs code in pages and shows them.
            Self::Browser(_) => &["rawHtml", "screenshot"],
            Self::Agent(_) | Self::Extract(_) => &["json"],
            Self::Adapter(operation) => operation.formats(),
            Self::Search
            | Self::Map
            | Self::MapV1
            | Self::Scrape
            | Self::ScrapeResult
            | Self::Parse
            | Self::ParseFormats
            | Self::UploadUrl
            | Self::Upload
            | Self::Job(..)
            | Self::Monitor(_)
            | Self::MonitorEmail(_)
            | Self::Webhook(_)
            | Self::Team(_)
            | Self::AddDocuments
            | Self::CrawlProgress
            | Self::IndexStats
            | Self::CreditUsage
            | Self::CreditHistory
            | Self::TokenUsage
            | Self::TokenHistory
            | Self::QueueStatus
            | Self::ConcurrencyCheck
            | Self::TeamActivity
            | Self::SearchFeedback
            | Self::Feedback
            | Self::Health
            | Self::Ready
            | Self::Metrics
            | Self::OpenApi
            | Self::Docs(_)
            | Self::Artifact
            | Self::Root
            | Self::Dashboard(_)
            | Self::Mcp => &[],
        }
    }

    /// Returns the scope that a key needs; `None` if every key may request the operation.
    pub(crate) fn scope(self) -> Option<KeyScope> {
        match self {
            Self::Search | Self::SearchFeedback => Some(KeyScope::Search),
            Self::Map | Self::MapV1 => Some(KeyScope::Map),
            Self::Scrape | Self::ScrapeResult | Self::Parse | Self::ParseFormats | Self::UploadUrl => {
                Some(KeyScope::Scrape)
            }
            Self::Job(JobKind::Batch, _) => Some(KeyScope::Batch),
            Self::Job(JobKind::Crawl, _) => Some(KeyScope::Crawl),
            Self::Monitor(_) | Self::MonitorEmail(_) => Some(KeyScope::Monitor),
            Self::Browser(_) => Some(KeyScope::Interact),
            Self::Agent(_) | Self::Extract(_) => Some(KeyScope::Agent),
            Self::AddDocuments | Self::CrawlProgress | Self::IndexStats => Some(KeyScope::Index),
            Self::Adapter(operation) => operation.scope(),
            // Every key may read the usage of its team. Dead letters are filtered by the kinds of jobs that it may start.
            Self::Webhook(_)
            // The handler requires an admin key.
            | Self::Team(_)
            | Self::CreditUsage
            | Self::CreditHistory
            | Self::TokenUsage
            | Self::TokenHistory
            | Self::QueueStatus
            | Self::ConcurrencyCheck
            // The signed URL is the permission.
            | Self::Upload
            // The list has only what the key may request.
            | Self::TeamActivity
            // The scope is that of the rated operation.
            | Self::Feedback
            | Self::Health
            | Self::Ready
            | Self::Metrics
            | Self::OpenApi
            | Self::Docs(_)
            | Self::Artifact
            | Self::Root
            | Self::Dashboard(_)
            // The operations that the tools use have scopes.
            | Self::Mcp => None,
        }
    }
}
