//! How a Chromium calls itself.

use std::io;
use std::path::Path;
use std::time::Duration;

use crate::launch::major_version;

/// How this Chromium calls itself, without saying that nobody looks at it.
#[derive(Debug, Clone)]
pub(crate) struct UserAgent {
    pub(crate) text: String,
    pub(crate) major: u32,
}

impl UserAgent {
    pub(crate) async fn of(path: &Path, patience: Duration) -> io::Result<Self> {
        Ok(Self::with_version(major_version(path, patience).await?))
    }

    /// Returns how a Chromium with this first number of its version calls itself.
    pub(crate) fn with_version(major: u32) -> Self {
        // As Chrome itself writes it since it gave up to tell its exact version.
        let text = format!(
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) \
             Chrome/{major}.0.0.0 Safari/537.36"
        );
        Self { text, major }
    }
}
