//! The dependencies and settings of an engine.

use std::sync::Arc;

use websvc_model::Model;
use websvc_scrape::Scraper;
use websvc_scrape::threat::Classifier;
use websvc_store::SnapshotLimits;

use crate::media::MediaTools;
use crate::mirror::Mirror;
use crate::pricing::Pricing;
use crate::source::SearchSource;
use crate::team_indexes::TeamIndexes;

/// The use of the embedded index for new pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexMode {
    /// New pages are added to it.
    Write,
    /// New pages are added only to its mirrors. It is not searched, and would only use disk space.
    MirrorOnly,
}

/// The dependencies and settings of an engine.
#[derive(Debug)]
pub struct EngineConfig {
    /// The search sources, in order of preference.
    pub sources: Vec<Arc<dyn SearchSource>>,
    /// The scraper that fetches pages.
    pub scraper: Scraper,
    /// The embedded index for scraped pages; `None` if this process may not write to it.
    pub index: Option<Arc<websvc_index::Index>>,
    /// The use of the embedded index for new pages.
    pub index_mode: IndexMode,
    /// The indexes of teams that keep their pages private. Without it, the pages of such teams are not indexed.
    pub team_indexes: Option<Arc<TeamIndexes>>,
    /// The external indexes that new pages are written to as well.
    pub mirrors: Vec<Arc<Mirror>>,
    /// The price list.
    pub pricing: Pricing,
    /// The limits of the page snapshots that later scrapes are compared with.
    pub snapshots: SnapshotLimits,
    /// The classifier of URLs, for teams with threat protection.
    pub threat: Classifier,
    /// The model that writes summaries and answers, extracts data and reads prompts. Without it, some of this is done
    /// by rules.
    pub model: Option<Arc<dyn Model>>,
    /// The tools that download the media of pages.
    pub media: MediaTools,
}

impl EngineConfig {
    /// Returns the model that generates text.
    pub(crate) fn completion_model(&self) -> Option<&dyn Model> {
        self.model.as_deref().filter(|model| model.can_complete())
    }

    /// Returns the embedded index if new pages are added to it.
    pub(crate) fn writable_index(&self) -> Option<&Arc<websvc_index::Index>> {
        self.index.as_ref().filter(|_| self.index_mode == IndexMode::Write)
    }
}
