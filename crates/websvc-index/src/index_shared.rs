//! The settings and the state that the threads of an index share.

use std::path::PathBuf;
use std::time::Duration;

use websvc_stage::StageTimes;

use crate::error::IndexError;
use crate::journal::Journal;
use crate::semantic::{Semantic, SemanticConfig};
use crate::sub_index::SubIndex;

/// Settings of an [`Index`](crate::Index).
#[derive(Debug, Clone)]
pub struct IndexConfig {
    /// Memory in bytes for new pages before they are written to disk; at least 15 MB. Images take up to 15 MB more.
    pub writer_heap: usize,
    /// Maximum time from adding a document to the commit that makes it searchable.
    pub commit_after: Duration,
    /// Time after the last write until the writer and its memory are freed.
    pub writer_idle: Duration,
    /// Metrics of the durations of the stages of a search.
    pub stages: StageTimes,
    /// The search by meaning, in addition to words; `None` for words alone.
    pub semantic: Option<SemanticConfig>,
}

impl Default for IndexConfig {
    fn default() -> Self {
        Self {
            writer_heap: 32_000_000,
            commit_after: Duration::from_secs(1),
            writer_idle: Duration::from_secs(10),
            stages: StageTimes::default(),
            semantic: None,
        }
    }
}

/// State that the searching threads and the writer thread share.
pub(crate) struct IndexShared {
    pub(crate) dir: PathBuf,
    pub(crate) pages: SubIndex,
    pub(crate) images: SubIndex,
    pub(crate) config: IndexConfig,
    pub(crate) journal: Journal,
    pub(crate) semantic: Option<Semantic>,
}

impl std::fmt::Debug for IndexShared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IndexShared").field("dir", &self.dir).finish_non_exhaustive()
    }
}

impl IndexShared {
    pub(crate) fn engine(&self, source: tantivy::TantivyError) -> IndexError {
        IndexError::Engine { dir: self.dir.clone(), source }
    }

    pub(crate) fn io(&self, source: std::io::Error) -> IndexError {
        IndexError::Directory { dir: self.dir.clone(), source }
    }

    /// Makes the latest commits visible to new searches.
    pub(crate) fn reload(&self) -> Result<(), IndexError> {
        self.images.reload()?;
        self.pages.reload()
    }
}
