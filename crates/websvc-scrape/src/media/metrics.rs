//! The metrics of downloads.

use websvc_stage::{Counter, CountersBy};

use crate::media::arguments::MediaKind;
use crate::media::failure::MediaError;
use crate::media::file::MediaFile;

/// The outcomes of downloads.
const OUTCOMES: [&str; 6] = ["done", "unsupported", "denied", "too_large", "timeout", "failed"];

/// The metrics of downloads since the start of the process.
#[derive(Debug)]
pub struct MediaMetrics {
    /// Downloads by kind and outcome.
    pub downloads: CountersBy<(MediaKind, &'static str)>,
    /// The size of all downloaded files.
    pub bytes: Counter,
}

impl Default for MediaMetrics {
    fn default() -> Self {
        let kinds = MediaKind::ALL.into_iter().flat_map(|kind| OUTCOMES.map(|outcome| (kind, outcome)));
        Self { downloads: CountersBy::new(kinds), bytes: Counter::default() }
    }
}

impl MediaMetrics {
    /// Counts a download.
    pub(crate) fn record(&self, kind: MediaKind, result: &Result<MediaFile, MediaError>) {
        let outcome = match result {
            Ok(file) => {
                self.bytes.add(file.bytes.len() as u64);
                "done"
            }
            Err(MediaError::Unsupported) => "unsupported",
            Err(MediaError::Denied(_)) => "denied",
            Err(MediaError::TooLarge(_)) => "too_large",
            Err(MediaError::Timeout) => "timeout",
            Err(MediaError::Failed(_)) => "failed",
        };
        self.downloads.add((kind, outcome), 1);
    }
}
