//! The configured tools that download media.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, ensure};
use websvc_engine::MediaTools;
use websvc_sandbox::{InterpreterError, SandboxConfig};
use websvc_scrape::media::{Downloader, MediaConfig};

use super::sessions::{hidden, this_program};
use crate::args::RUN_INTERPRETER;
use crate::config::Config;

/// The directory of unfinished downloads, in the data directory.
const DIRECTORY: &str = "media";
/// The path of bubblewrap on most systems.
const BUBBLEWRAP: &str = "/usr/bin/bwrap";

/// Returns the tools for the service. Tools that cannot run in their sandbox are never used: the service starts without
/// them, and says so in its log and in the warnings of responses.
///
/// # Errors
/// The configuration has an invalid value.
pub(crate) async fn media_tools(config: &Config, data_dir: &Path) -> Result<MediaTools> {
    let Some(prepared) = downloader(config, data_dir).await? else { return Ok(MediaTools::Off) };
    match prepared {
        Ok(downloader) => {
            tracing::info!(versions = downloader.versions(), "media of pages can be downloaded");
            if let Err(error) = downloader.remove_abandoned() {
                tracing::warn!(%error, "unfinished downloads of an earlier process cannot be removed");
            }
            Ok(MediaTools::Ready(downloader))
        }
        Err(error) => {
            let error = &error as &dyn std::error::Error;
            tracing::error!(
                error,
                "the formats audio and video are off: their tools cannot run in the sandbox"
            );
            Ok(MediaTools::Unusable)
        }
    }
}

/// Prepares the configured tools; `None` if there are none.
///
/// # Errors
/// The configuration has an invalid value.
pub(crate) async fn downloader(
    config: &Config,
    data_dir: &Path,
) -> Result<Option<Result<Downloader, InterpreterError>>> {
    let settings = &config.media;
    let Some(yt_dlp) = settings.yt_dlp.clone() else { return Ok(None) };
    let (max_bytes, largest) = (settings.max_bytes.get(), config.artifacts.max_bytes);
    ensure!(
        max_bytes <= largest,
        "media.max_bytes is {max_bytes}: the maximum is artifacts.max_bytes, {largest}"
    );
    let bubblewrap = settings.bubblewrap.clone().or_else(|| config.interact.bubblewrap.clone());
    let sandbox = SandboxConfig {
        bubblewrap: bubblewrap.unwrap_or_else(|| PathBuf::from(BUBBLEWRAP)),
        program: this_program()?,
        guest_arguments: vec![RUN_INTERPRETER.to_owned()],
        worker_arguments: Vec::new(),
        memory_bytes: settings.max_memory_bytes.get(),
        hidden: hidden(config, data_dir),
    };
    let media = MediaConfig {
        yt_dlp,
        ffmpeg: settings.ffmpeg.clone(),
        sandbox,
        directory: data_dir.join(DIRECTORY),
        max_bytes,
        max_duration: Duration::from_secs(settings.max_duration_s.get()),
        timeout: Duration::from_secs(settings.timeout_s.get()),
        max_downloads: settings.max_downloads.get(),
    };
    Ok(Some(Downloader::prepare(media).await))
}
