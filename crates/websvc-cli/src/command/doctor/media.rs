//! Checks of the tools that download media.

use super::finding::Finding;
use crate::app;
use crate::args::Common;
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::output;

const MEDIA: &str = "media";

/// Advice for tools that cannot be used.
const INSTALL: &str = "install yt-dlp from PyPI (pipx install yt-dlp) and set `media.yt_dlp`; Debian, Ubuntu: apt install \
    ffmpeg bubblewrap; the system must allow user namespaces, or websvc runs as root. See the page \"Audio and video\" of \
    the manual";

/// Runs the tools once in their sandbox, as the service does at its start. Without configured tools, there is no finding.
pub(super) async fn check(common: &Common, config: &Config) -> Option<Finding> {
    // A directory that cannot be located is a finding of its own.
    let data_dir = DataDir::locate(common.data_dir.as_deref()).unwrap_or_default();
    Some(match app::downloader(config, &data_dir).await {
        Ok(None) => return None,
        Ok(Some(Ok(downloader))) => Finding::ok(MEDIA, downloader.versions()),
        Ok(Some(Err(error))) => Finding::problem(
            MEDIA,
            format!(
                "audio and video are off, their tools cannot run in the sandbox: {}",
                output::causes(&error)
            ),
            INSTALL,
        ),
        Err(error) => Finding::problem(MEDIA, output::causes(error.as_ref()), "lower `media.max_bytes`"),
    })
}
