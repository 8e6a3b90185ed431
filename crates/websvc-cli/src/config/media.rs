//! `[media]`: the tools that download the sound and the videos of pages.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

use serde::Deserialize;

/// `[media]`: the tools for the formats `audio` and `video`. Without `yt_dlp` there are none.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Media {
    /// Program yt-dlp.
    pub(crate) yt_dlp: Option<PathBuf>,
    /// Program ffmpeg; ffprobe is in the same directory.
    pub(crate) ffmpeg: PathBuf,
    /// Program that runs them in a sandbox; without it, that of `[interact]`.
    pub(crate) bubblewrap: Option<PathBuf>,
    /// Maximum size of a file.
    pub(crate) max_bytes: NonZeroU64,
    /// Maximum duration of a medium that states it, in seconds.
    pub(crate) max_duration_s: NonZeroU64,
    /// Maximum time of a download, in seconds.
    pub(crate) timeout_s: NonZeroU64,
    /// Maximum number of downloads at the same time; one team has at most one.
    pub(crate) max_downloads: NonZeroUsize,
    /// Maximum memory of the processes of a download together.
    pub(crate) max_memory_bytes: NonZeroU64,
}

impl Media {
    /// The names of the keys.
    pub(super) const KEYS: &'static [&'static str] = &[
        "yt_dlp",
        "ffmpeg",
        "bubblewrap",
        "max_bytes",
        "max_duration_s",
        "timeout_s",
        "max_downloads",
        "max_memory_bytes",
    ];
}

impl Default for Media {
    fn default() -> Self {
        let number = |value| NonZeroU64::new(value).unwrap_or(NonZeroU64::MIN);
        Self {
            yt_dlp: None,
            ffmpeg: "/usr/bin/ffmpeg".into(),
            bubblewrap: None,
            max_bytes: number(100 * 1024 * 1024),
            max_duration_s: number(3_600),
            timeout_s: number(240),
            max_downloads: NonZeroUsize::new(2).unwrap_or(NonZeroUsize::MIN),
            max_memory_bytes: number(1024 * 1024 * 1024),
        }
    }
}
