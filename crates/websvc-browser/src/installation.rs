//! The installed Chromium: its executable, its user agent, and the bubblewrap in which it runs.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tokio::time::timeout;

use crate::bubblewrap::{Bubblewrap, BubblewrapMode};
use crate::config::BrowserConfig;
use crate::error::BrowserError;
use crate::user_agent::UserAgent;

/// The `PATH` of Chromium.
pub(crate) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// An executable of Chromium that has reported its version.
#[derive(Debug, Clone)]
pub(crate) struct Installation {
    pub(crate) path: PathBuf,
    pub(crate) user_agent: UserAgent,
    /// `None` if it is off, not installed, or does not work here.
    pub(crate) bubblewrap: Option<Bubblewrap>,
}

impl Installation {
    /// Runs the executable to learn its version, in bubblewrap if that works.
    pub(crate) async fn detect(path: PathBuf, config: &BrowserConfig) -> Result<Self, BrowserError> {
        let limit = config.start_timeout;
        if let Some(bubblewrap) = Bubblewrap::find(&config.bubblewrap) {
            match major_version(bubblewrap.command(&path, None), limit).await {
                Ok(major) => return Ok(Self::new(path, major, Some(bubblewrap))),
                Err(source) if matches!(config.bubblewrap, BubblewrapMode::Required(_)) => {
                    // The source is what logs and `websvc doctor` show.
                    let reason = format!("it does not run in browser.bubblewrap: {source}");
                    let source = io::Error::new(source.kind(), reason);
                    return Err(BrowserError::Start { source, log: String::new() });
                }
                Err(reason) => {
                    tracing::info!(%reason, "Chromium runs without bubblewrap, in which it does not start here");
                }
            }
        }
        let version = major_version(Command::new(&path), limit).await;
        let major = version.map_err(|source| BrowserError::Start { source, log: String::new() })?;
        Ok(Self::new(path, major, None))
    }

    fn new(path: PathBuf, major: u32, bubblewrap: Option<Bubblewrap>) -> Self {
        Self { path, user_agent: UserAgent::with_version(major), bubblewrap }
    }

    /// Returns the command that starts the executable with a directory of its own.
    pub(crate) fn command(&self, directory: &Path) -> io::Result<Command> {
        let Some(bubblewrap) = &self.bubblewrap else { return Ok(Command::new(&self.path)) };
        Bubblewrap::write_policies(directory)?;
        Ok(bubblewrap.command(&self.path, Some(directory)))
    }

    /// Returns the same executable without bubblewrap; `None` if it already runs without, or must not.
    pub(crate) fn without_bubblewrap(&self, config: &BrowserConfig) -> Option<Self> {
        let can_be_left_out = self.bubblewrap.is_some() && config.bubblewrap == BubblewrapMode::IfAvailable;
        can_be_left_out.then(|| Self { bubblewrap: None, ..self.clone() })
    }
}

/// Runs a command with `--version` and returns the major version.
async fn major_version(mut command: Command, limit: Duration) -> io::Result<u32> {
    command.arg("--version").env_clear().env("PATH", PATH).stdin(Stdio::null());
    let mut command = tokio::process::Command::from(command);
    let output = timeout(limit, command.kill_on_drop(true).output());
    let output = output.await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    let text = String::from_utf8_lossy(&output.stdout);
    parse_major_version(&text).ok_or_else(|| {
        let log = String::from_utf8_lossy(&output.stderr);
        io::Error::other(format!("no version in {text:?}: {}", log.trim()))
    })
}

fn parse_major_version(text: &str) -> Option<u32> {
    text.split_ascii_whitespace().find_map(|word| word.split_once('.')?.0.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_major_version_ignores_the_product_name() {
        assert_eq!(
            parse_major_version("Chromium 156.0.8078.79 built on Debian GNU/Linux 12 (bookworm)"),
            Some(156)
        );
        assert_eq!(parse_major_version("Google Chrome 140.0.1.2"), Some(140));
        assert_eq!(parse_major_version("nothing"), None);
    }
}
