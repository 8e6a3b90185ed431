//! The metrics of downloads.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::media::arguments::MediaKind;
use crate::media::failure::MediaError;
use crate::media::file::MediaFile;

/// The outcome of a download.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// There is a file.
    Done,
    /// The page has no supported medium.
    Unsupported,
    /// The site refused access.
    Denied,
    /// The medium exceeds a limit.
    TooLarge,
    /// The time was over.
    Timeout,
    /// It failed otherwise.
    Failed,
}

impl Outcome {
    /// All outcomes.
    pub const ALL: [Self; 6] =
        [Self::Done, Self::Unsupported, Self::Denied, Self::TooLarge, Self::Timeout, Self::Failed];

    /// Returns the value of the label.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Unsupported => "unsupported",
            Self::Denied => "denied",
            Self::TooLarge => "too_large",
            Self::Timeout => "timeout",
            Self::Failed => "failed",
        }
    }

    fn from_result(result: &Result<MediaFile, MediaError>) -> Self {
        match result {
            Ok(_) => Self::Done,
            Err(MediaError::Unsupported) => Self::Unsupported,
            Err(MediaError::Denied(_)) => Self::Denied,
            Err(MediaError::TooLarge(_)) => Self::TooLarge,
            Err(MediaError::Timeout) => Self::Timeout,
            Err(MediaError::Failed(_)) => Self::Failed,
        }
    }
}

/// The metrics of downloads since the start of the process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MediaMetrics {
    /// The number of downloads by kind and outcome.
    pub downloads: Vec<(MediaKind, Outcome, u64)>,
    /// The size of all downloaded files.
    pub bytes: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    downloads: [[AtomicU64; Outcome::ALL.len()]; MediaKind::ALL.len()],
    bytes: AtomicU64,
}

impl Counters {
    pub(crate) fn record(&self, kind: MediaKind, result: &Result<MediaFile, MediaError>) {
        self.downloads[kind as usize][Outcome::from_result(result) as usize].fetch_add(1, Relaxed);
        if let Ok(file) = result {
            self.bytes.fetch_add(file.bytes.len() as u64, Relaxed);
        }
    }

    pub(crate) fn read(&self) -> MediaMetrics {
        let mut downloads = Vec::new();
        for kind in MediaKind::ALL {
            for outcome in Outcome::ALL {
                let count = self.downloads[kind as usize][outcome as usize].load(Relaxed);
                downloads.push((kind, outcome, count));
            }
        }
        MediaMetrics { downloads, bytes: self.bytes.load(Relaxed) }
    }
}
