//! Where Chromium is.

use std::path::{Path, PathBuf};

use crate::error::BrowserError;

/// Where packages put it, the preferred first: the headless shell costs a third of the whole browser. The real
/// executables come before the shell scripts of the same name, which may be killed and leave the browser running.
const PLACES: &[&str] = &[
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

/// Returns the executable: the configured one, else the first that is installed.
pub(crate) fn find(configured: Option<&Path>) -> Result<PathBuf, BrowserError> {
    let missing = || BrowserError::Missing { path: configured.map(Path::to_owned) };
    match configured {
        Some(path) => path.is_file().then(|| path.to_owned()).ok_or_else(missing),
        None => PLACES.iter().map(PathBuf::from).find(|path| path.is_file()).ok_or_else(missing),
    }
}

/// Tells whether this is the headless shell, which knows no other mode.
pub(crate) fn is_headless_shell(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().replace('_', "-").contains("headless-shell"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configured_path_is_taken_or_missed_but_never_replaced() {
        let missed = find(Some(Path::new("/no/such/chromium")));
        assert!(matches!(missed, Err(BrowserError::Missing { path: Some(_) })), "{missed:?}");
    }

    #[test]
    fn the_headless_shell_is_known_by_its_name() {
        assert!(is_headless_shell(Path::new("/usr/lib/chromium/chromium-headless-shell")));
        assert!(is_headless_shell(Path::new("/x/headless_shell")));
        assert!(!is_headless_shell(Path::new("/usr/lib/chromium/chromium")));
    }
}
