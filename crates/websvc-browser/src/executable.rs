//! The search for the Chromium executable.

use std::path::{Path, PathBuf};

use crate::error::BrowserError;

/// The usual locations, in order of preference. The headless shell needs a third of the resources of the whole browser.
/// The real executables come before the shell scripts of the same name: if a script is killed, the browser keeps running.
const USUAL_PATHS: &[&str] = &[
    "/usr/lib/chromium/chromium-headless-shell",
    "/headless-shell/headless-shell",
    "/usr/lib64/chromium-browser/headless_shell",
    "/usr/lib/chromium/chromium",
    "/usr/lib/chromium/chrome",
    "/usr/lib/chromium-browser/chromium-browser",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/opt/homebrew/bin/chromium",
    "/usr/local/bin/chromium",
    "/usr/bin/chromium-headless-shell",
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome-stable",
    "/usr/bin/google-chrome",
];

/// Returns the configured executable, or the first one that is installed.
pub(crate) fn find(configured: Option<&Path>) -> Result<PathBuf, BrowserError> {
    let missing = || BrowserError::Missing { path: configured.map(Path::to_owned) };
    match configured {
        Some(path) => path.is_file().then(|| path.to_owned()).ok_or_else(missing),
        None => USUAL_PATHS.iter().map(PathBuf::from).find(|path| path.is_file()).ok_or_else(missing),
    }
}

/// Returns whether this is the headless shell, which supports no other mode.
pub(crate) fn is_headless_shell(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().replace('_', "-").contains("headless-shell"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn find_configured_path_that_is_missing_is_an_error() {
        let missing = find(Some(Path::new("/no/such/chromium")));
        assert!(matches!(missing, Err(BrowserError::Missing { path: Some(_) })), "{missing:?}");
    }

    #[test]
    fn is_headless_shell_by_file_name() {
        assert!(is_headless_shell(Path::new("/usr/lib/chromium/chromium-headless-shell")));
        assert!(is_headless_shell(Path::new("/x/headless_shell")));
        assert!(!is_headless_shell(Path::new("/usr/lib/chromium/chromium")));
    }
}
