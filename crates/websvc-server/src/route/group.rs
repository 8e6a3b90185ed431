//! Groups of operations.

/// A group of operations, which have the same label in metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OperationGroup {
    Search,
    Scrape,
    Parse,
    Map,
    Rerank,
    Batch,
    Crawl,
    Monitor,
    Sessions,
    Agent,
    Webhooks,
    Index,
    Team,
    Status,
    Docs,
    Artifacts,
    Dashboard,
    Mcp,
    /// Requests without a route.
    None,
}

impl OperationGroup {
    /// All groups, in the order of their numbers.
    pub(crate) const ALL: [Self; 19] = [
        Self::Search,
        Self::Scrape,
        Self::Parse,
        Self::Map,
        Self::Rerank,
        Self::Batch,
        Self::Crawl,
        Self::Monitor,
        Self::Sessions,
        Self::Agent,
        Self::Webhooks,
        Self::Index,
        Self::Team,
        Self::Status,
        Self::Docs,
        Self::Artifacts,
        Self::Dashboard,
        Self::Mcp,
        Self::None,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Scrape => "scrape",
            Self::Parse => "parse",
            Self::Map => "map",
            Self::Rerank => "rerank",
            Self::Batch => "batch",
            Self::Crawl => "crawl",
            Self::Monitor => "monitor",
            Self::Sessions => "sessions",
            Self::Agent => "agent",
            Self::Webhooks => "webhooks",
            Self::Index => "index",
            Self::Team => "team",
            Self::Status => "status",
            Self::Docs => "docs",
            Self::Artifacts => "artifacts",
            Self::Dashboard => "dashboard",
            Self::Mcp => "mcp",
            Self::None => "none",
        }
    }
}
