//! Tests of Chromium in bubblewrap, past the filter of sessions: as pages of the browser itself could.

use std::fs;
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::config::BrowserConfig;
use crate::error::BrowserError;
use crate::executable::is_headless_shell;
use crate::installation::Installation;
use crate::local_chromium::LocalChromium;
use crate::sandbox::Sandbox;
use crate::watchdog::{MemoryLimits, Watchdog};

/// The time in which Chromium starts.
const PATIENCE: Duration = Duration::from_secs(60);

fn arguments(executable: &str) -> Vec<String> {
    let bubblewrap = Bubblewrap::find(&BubblewrapMode::Required("/opt/bwrap".into())).unwrap();
    let command = bubblewrap.command(Path::new(executable), Some(Path::new("/profile")));
    command.get_args().map(|argument| argument.to_string_lossy().into_owned()).collect()
}

#[test]
fn only_its_own_directory_is_writable() {
    let arguments = arguments("/opt/google/chrome/chrome");
    let writable: Vec<_> = arguments.windows(2).filter(|pair| pair[0] == "--bind").collect();
    assert_eq!(writable, [["--bind", "/profile"]]);
    assert!(arguments.windows(2).any(|pair| pair == ["--ro-bind", "/opt/google/chrome"]), "{arguments:?}");
    assert_eq!(arguments.last().unwrap(), "/opt/google/chrome/chrome");
}

#[test]
fn executable_of_the_system_needs_no_directory_of_its_own() {
    let arguments = arguments("/usr/lib/chromium/chromium");
    let shown: Vec<_> = arguments.windows(2).filter(|pair| pair[0] == "--ro-bind").collect();
    assert!(shown.iter().all(|pair| pair[1].starts_with("/profile/")), "{shown:?}");
}

#[test]
fn policies_are_json() {
    let policies: serde_json::Value = serde_json::from_str(POLICIES).unwrap();
    assert!(policies["URLBlocklist"].as_array().is_some_and(|schemes| !schemes.is_empty()));
}

#[test]
fn bubblewrap_is_not_used_if_it_is_off() {
    assert!(Bubblewrap::find(&BubblewrapMode::Off).is_none());
}

/// Returns the path in an environment variable; skips the test and returns `None` without it.
fn path_or_skip(variable: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable);
    if path.is_none() {
        websvc_testkit::skip(&format!("{variable} is not set (cargo xtask test)"));
    }
    path.map(PathBuf::from)
}

#[tokio::test(flavor = "multi_thread")]
async fn chromium_in_bubblewrap_sees_its_own_directory_only() {
    let Some(path) = path_or_skip("WEBSVC_TEST_CHROMIUM") else { return };
    let Some(bubblewrap) = path_or_skip("WEBSVC_TEST_BUBBLEWRAP") else { return };
    let directory = tempfile::tempdir().unwrap();
    let secret = directory.path().join("secret.txt");
    fs::write(&secret, "secret").unwrap();
    let config = BrowserConfig {
        bubblewrap: BubblewrapMode::Required(bubblewrap),
        start_timeout: PATIENCE,
        ..BrowserConfig::default()
    };
    let installation = Installation::detect(path, &config).await.unwrap();
    assert!(installation.bubblewrap.is_some());
    let limits = MemoryLimits { page: config.page_memory_bytes, total: config.max_memory_bytes };
    let sandbox = Sandbox::expected(&installation.path);
    let started = LocalChromium::start(&installation, &config, sandbox, &Watchdog::new(limits)).await;
    let (chromium, connection) = started.unwrap();
    let cdp = connection.cdp();
    let target = cdp.call("", "Target.createTarget", json!({"url": "about:blank"})).await.unwrap();
    let attach = json!({"targetId": target["targetId"], "flatten": true});
    let attached = cdp.call("", "Target.attachToTarget", attach).await.unwrap();
    let session = attached["sessionId"].as_str().unwrap();
    let navigate = async |file: &Path| {
        let url = format!("file://{}", file.display());
        let navigated = cdp.call(session, "Page.navigate", json!({"url": url})).await.unwrap();
        navigated["errorText"].as_str().map(str::to_owned)
    };
    let (has_policies, blocked) =
        (!is_headless_shell(&installation.path), "net::ERR_BLOCKED_BY_ADMINISTRATOR");
    let missing = if has_policies { blocked } else { "net::ERR_FILE_NOT_FOUND" };
    for hidden in [&*secret, Path::new("/etc/passwd"), Path::new("/root"), Path::new("/home")] {
        assert_eq!(navigate(hidden).await.as_deref(), Some(missing), "{}", hidden.display());
    }
    // Programs and libraries are not secret, and without them Chromium could not run.
    assert_eq!(navigate(Path::new("/usr")).await.as_deref(), has_policies.then_some(blocked));
    let own = chromium.directory().to_owned();
    assert!(own.exists());
    chromium.shut_down(cdp).await;
    drop(chromium);
    assert!(!own.exists(), "no process has kept the directory");
}

#[tokio::test]
async fn bubblewrap_that_is_required_and_missing_is_an_error() {
    let Some(path) = path_or_skip("WEBSVC_TEST_CHROMIUM") else { return };
    let bubblewrap = BubblewrapMode::Required("/no/such/bwrap".into());
    let config = BrowserConfig { bubblewrap, start_timeout: PATIENCE, ..BrowserConfig::default() };
    let error = Installation::detect(path, &config).await.unwrap_err();
    let BrowserError::Start { source, log: _ } = &error else { panic!("{error:?}") };
    let reason = source.to_string();
    assert!(reason.contains("browser.bubblewrap: No such file"), "{reason}");
}
