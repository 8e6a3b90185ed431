//! The start of Chromium: its command line, environment and pipes.

use std::ffi::OsString;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;

use command_fds::{CommandFdExt, FdMapping};
use tokio::process::Child;

use crate::executable::is_headless_shell;
use crate::installation::{Installation, PATH};
use crate::sandbox::Sandbox;

/// The flags of every start. Only flags that remove something, or that change nothing a page can reach, belong here.
const FLAGS: &[&str] = &[
    // The DevTools protocol over the file descriptors 3 and 4: no open port, and Chromium ends with this process.
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-startup-window",
    "--hide-scrollbars",
    "--mute-audio",
    "--disable-gpu",
    // Containers have a small /dev/shm.
    "--disable-dev-shm-usage",
    // No network requests of its own.
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
        "PreconnectFromKeyedService,PreconnectToSearch,",
        // The last ones are pages of the browser itself, which could open files.
        "Prerender2,Translate,PreloadTopChromeWebUI,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup,WebUIOmniboxPopup"
    ),
    // No bypass of the proxy: no UDP, no name resolution in Chromium.
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--dns-prefetch-disable",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--proxy-bypass-list=<-loopback>",
    // Pages in the background run as in the foreground.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-hang-monitor",
    // As in the headless shell, which has no such blocker: sessions and actions open windows.
    "--disable-popup-blocking",
    "--disable-prompt-on-repost",
];

/// The parameters of a start.
pub(crate) struct Launch<'a> {
    pub(crate) installation: &'a Installation,
    pub(crate) profile: &'a Path,
    /// The proxy of all requests that belong to no page.
    pub(crate) proxy: &'a str,
    pub(crate) sandbox: Sandbox,
    pub(crate) page_memory_bytes: u64,
}

/// A started Chromium, and this end of its pipes.
pub(crate) struct LaunchedChromium {
    pub(crate) child: Child,
    pub(crate) commands: PipeWriter,
    pub(crate) messages: PipeReader,
}

impl Launch<'_> {
    /// Starts Chromium as the leader of a process group of its own.
    pub(crate) fn start(&self) -> io::Result<LaunchedChromium> {
        let (child_commands, commands) = io::pipe()?;
        let (messages, child_messages) = io::pipe()?;
        let mut command = self.installation.command(self.profile)?;
        command
            .args(self.arguments())
            // The environment of this process may contain secrets.
            .env_clear()
            .env("HOME", self.profile)
            // So that temporary files of a killed Chromium are removed with the directory.
            .env("TMPDIR", self.profile)
            .env("PATH", PATH)
            .env("LANG", "C.UTF-8")
            .current_dir(self.profile)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0);
        let inherited = [
            FdMapping { parent_fd: OwnedFd::from(child_commands), child_fd: 3 },
            FdMapping { parent_fd: OwnedFd::from(child_messages), child_fd: 4 },
        ];
        command.fd_mappings(inherited.into()).map_err(io::Error::other)?;
        let mut command = tokio::process::Command::from(command);
        let child = command.kill_on_drop(true).spawn()?;
        Ok(LaunchedChromium { child, commands, messages })
    }

    fn arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = Vec::new();
        if !is_headless_shell(&self.installation.path) {
            arguments.push("--headless".into());
        }
        arguments.extend(FLAGS.iter().map(OsString::from));
        if self.sandbox == Sandbox::Off {
            arguments.push("--no-sandbox".into());
        }
        let mut profile = OsString::from("--user-data-dir=");
        profile.push(self.profile);
        arguments.push(profile);
        arguments.push(format!("--js-flags={}", v8_flags(self.page_memory_bytes)).into());
        arguments.push(format!("--user-agent={}", self.installation.user_agent.text).into());
        arguments.push(format!("--proxy-server={}", self.proxy).into());
        arguments
    }
}

/// Returns the V8 flags that limit the heap of a page or worker, and one WebAssembly memory. Usually the watchdog stops a
/// page before. These limits apply when the machine is too busy for the watchdog to run.
fn v8_flags(page_memory_bytes: u64) -> String {
    let heap_mib = (page_memory_bytes / (4 * 1024 * 1024)).saturating_mul(5).max(64);
    // A WebAssembly memory has at most 65,536 pages of 64 KiB.
    let wasm_pages = (page_memory_bytes / (64 * 1024)).clamp(1024, 65_536);
    format!("--max-old-space-size={heap_mib},--wasm-max-mem-pages={wasm_pages}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v8_flags_follow_the_memory_limit_of_a_page() {
        let gibibyte = 1024 * 1024 * 1024;
        assert_eq!(v8_flags(gibibyte), "--max-old-space-size=1280,--wasm-max-mem-pages=16384");
        assert_eq!(v8_flags(0), "--max-old-space-size=64,--wasm-max-mem-pages=1024");
        assert!(v8_flags(u64::MAX).ends_with("--wasm-max-mem-pages=65536"));
    }
}
