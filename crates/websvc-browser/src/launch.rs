//! How Chromium is started: the flags, and what each is for.

use std::ffi::OsString;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};
use tokio::process::Child;
use tokio::time::timeout;

use crate::executable::is_headless_shell;
use crate::sandbox::Sandbox;

/// The same for every start. A flag may stand here only if it takes something away, or changes nothing that a page
/// can reach.
const FLAGS: &[&str] = &[
    // The protocol over the descriptors 3 and 4: no port that others could find, and an end with this process.
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-startup-window",
    "--hide-scrollbars",
    "--mute-audio",
    "--disable-gpu",
    // Containers have a small /dev/shm.
    "--disable-dev-shm-usage",
    // Nothing that calls out by itself.
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-crash-reporter",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-field-trial-config",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-pings",
    "--no-service-autorun",
    "--password-store=basic",
    "--use-mock-keychain",
    concat!(
        "--disable-features=AutofillServerCommunication,CertificateTransparencyComponentUpdater,",
        "DialMediaRouteProvider,HttpsFirstBalancedModeAutoEnable,HttpsUpgrades,MediaRouter,OptimizationHints,",
        "Prerender2,Translate"
    ),
    // No way around the proxy: no UDP, no names resolved here.
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--dns-prefetch-disable",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--proxy-bypass-list=<-loopback>",
    // Pages that nobody looks at run as if somebody did.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-hang-monitor",
    "--disable-prompt-on-repost",
];

/// What one start is told.
pub(crate) struct Launch<'a> {
    pub(crate) path: &'a Path,
    pub(crate) profile: &'a Path,
    pub(crate) user_agent: &'a str,
    /// The proxy of whatever belongs to no page.
    pub(crate) proxy: &'a str,
    pub(crate) sandbox: Sandbox,
    pub(crate) page_memory_bytes: u64,
}

/// A started Chromium and our ends of its pipes.
pub(crate) struct Launched {
    pub(crate) child: Child,
    pub(crate) commands: PipeWriter,
    pub(crate) messages: PipeReader,
}

impl Launch<'_> {
    /// Starts Chromium as the leader of a process group of its own.
    pub(crate) fn start(&self) -> io::Result<Launched> {
        let (their_commands, commands) = io::pipe()?;
        let (messages, their_messages) = io::pipe()?;
        let mut command = Command::new(self.path);
        command
            .args(self.arguments())
            // Secrets of this process are none of the browser's business.
            .env_clear()
            .env("HOME", self.profile)
            // What it leaves when it is killed goes away with the folder.
            .env("TMPDIR", self.profile)
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .current_dir(self.profile)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0);
        let inherited = [
            FdMapping { parent_fd: OwnedFd::from(their_commands), child_fd: 3 },
            FdMapping { parent_fd: OwnedFd::from(their_messages), child_fd: 4 },
        ];
        command.fd_mappings(inherited.into()).map_err(io::Error::other)?;
        let mut command = tokio::process::Command::from(command);
        let child = command.kill_on_drop(true).spawn()?;
        Ok(Launched { child, commands, messages })
    }

    fn arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = Vec::new();
        if !is_headless_shell(self.path) {
            arguments.push("--headless".into());
        }
        arguments.extend(FLAGS.iter().map(OsString::from));
        if self.sandbox == Sandbox::Off {
            arguments.push("--no-sandbox".into());
        }
        let mut profile = OsString::from("--user-data-dir=");
        profile.push(self.profile);
        arguments.push(profile);
        arguments.push(format!("--js-flags={}", script_limits(self.page_memory_bytes)).into());
        arguments.push(format!("--user-agent={}", self.user_agent).into());
        arguments.push(format!("--proxy-server={}", self.proxy).into());
        arguments
    }
}

/// Returns V8's own bounds: of the heap of a page or worker, and of one memory of WebAssembly. The watchdog ends a page
/// before it comes to that; these hold when a busy machine keeps it waiting.
fn script_limits(page_memory_bytes: u64) -> String {
    let heap_mib = (page_memory_bytes / (4 * 1024 * 1024)).saturating_mul(5).max(64);
    // A memory of WebAssembly has 65,536 pages of 64 KiB at most.
    let wasm_pages = (page_memory_bytes / (64 * 1024)).clamp(1024, 65_536);
    format!("--max-old-space-size={heap_mib},--wasm-max-mem-pages={wasm_pages}")
}

/// Asks the program for the first number of its version.
pub(crate) async fn major_version(path: &Path, patience: Duration) -> io::Result<u32> {
    let mut command = tokio::process::Command::new(path);
    command.arg("--version").env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").stdin(Stdio::null());
    let output = timeout(patience, command.kill_on_drop(true).output());
    let output = output.await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    let text = String::from_utf8_lossy(&output.stdout);
    first_number(&text).ok_or_else(|| io::Error::other(format!("no version in {text:?}")))
}

fn first_number(text: &str) -> Option<u32> {
    text.split_ascii_whitespace().find_map(|word| word.split_once('.')?.0.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_scripts_follow_that_of_a_page() {
        let gibibyte = 1024 * 1024 * 1024;
        assert_eq!(script_limits(gibibyte), "--max-old-space-size=1280,--wasm-max-mem-pages=16384");
        assert_eq!(script_limits(0), "--max-old-space-size=64,--wasm-max-mem-pages=1024");
        assert!(script_limits(u64::MAX).ends_with("--wasm-max-mem-pages=65536"));
    }

    #[test]
    fn the_version_is_read_from_any_name() {
        assert_eq!(first_number("Chromium 156.0.8078.79 built on Debian GNU/Linux 12 (bookworm)"), Some(156));
        assert_eq!(first_number("Google Chrome 140.0.1.2"), Some(140));
        assert_eq!(first_number("nothing"), None);
    }
}
