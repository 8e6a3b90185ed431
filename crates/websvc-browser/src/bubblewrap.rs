//! Chromium in bubblewrap: it sees the programs of the system and its own directory, and no other file.
//!
//! Chromium's own sandbox keeps pages from the system. This one holds for Chromium itself, also where its own sandbox is
//! off because the service is root: a page that takes Chromium over, or a client of the DevTools protocol that opens a
//! page of the browser itself, finds no file of the service.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::sandbox::users_can_create_namespaces;

/// The usual path of bubblewrap.
pub(crate) const USUAL_PATH: &str = "/usr/bin/bwrap";

/// The file of the policies in the directory of a Chromium.
const POLICY_FILE: &str = "websvc-policies.json";

/// The policies of Chromium: no page shows a local file, whatever opens it. The headless shell has no policies. The pages
/// of Chromium itself, `chrome:`, are not among them: Chromium crashes if it needs one of them and may not open it.
const POLICIES: &str = r#"{"URLBlocklist":["file://*","devtools://*","view-source:*"]}"#;

/// The directories in which Chromium and Google Chrome look for policies.
const POLICY_DIRECTORIES: &[&str] = &["/etc/chromium/policies/managed", "/etc/opt/chrome/policies/managed"];

/// Directories of the system with programs and libraries. Most are links into the first.
const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Files of `/etc` that Chromium reads: libraries, fonts, certificates, the time zone.
const SETTINGS: &[&str] = &[
    "/etc/ld.so.cache",
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/ssl",
    "/etc/pki",
    "/etc/ca-certificates",
    "/etc/localtime",
    "/etc/nsswitch.conf",
];

/// The maximum size of `/tmp`, in bytes. Chromium has a directory of its own for temporary files.
const MAX_TEMPORARY_BYTES: &str = "67108864";

/// The use of bubblewrap for local Chromiums.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum BubblewrapMode {
    /// In `/usr/bin/bwrap`, if it is installed and works.
    #[default]
    IfAvailable,
    /// In this program. Without it, no Chromium starts.
    Required(PathBuf),
    /// Without it.
    Off,
}

/// An installed bubblewrap.
#[derive(Debug, Clone)]
pub(crate) struct Bubblewrap(PathBuf);

impl Bubblewrap {
    /// Returns the program to try; `None` if there is none or this user cannot use it.
    pub(crate) fn find(mode: &BubblewrapMode) -> Option<Self> {
        match mode {
            BubblewrapMode::Off => None,
            BubblewrapMode::Required(program) => Some(Self(program.clone())),
            BubblewrapMode::IfAvailable => {
                // Chromium's own sandbox needs namespaces, too, and is worth more where only one of them works.
                let can_nest = rustix::process::geteuid().is_root()
                    || users_can_create_namespaces(|path| std::fs::read_to_string(path).ok());
                let program = Path::new(USUAL_PATH);
                (can_nest && program.is_file()).then(|| Self(program.to_owned()))
            }
        }
    }

    /// Writes the policies into the directory of a Chromium.
    pub(crate) fn write_policies(directory: &Path) -> std::io::Result<()> {
        std::fs::write(directory.join(POLICY_FILE), POLICIES)
    }

    /// Returns the command that starts an executable, whose arguments are added to it. The executable may write to
    /// `directory` alone, which has the [policies](Self::write_policies).
    ///
    /// The processes have PIDs of their own, so that none is left when bubblewrap is killed. They share the network,
    /// because the proxies of pages listen on loopback.
    pub(crate) fn command(&self, executable: &Path, directory: Option<&Path>) -> Command {
        let mut command = Command::new(&self.0);
        command.args(["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]);
        command.args(["--cap-drop", "ALL", "--hostname", "chromium"]);
        if !rustix::process::geteuid().is_root() {
            command.arg("--unshare-user");
        }
        command.args(["--proc", "/proc", "--dev", "/dev", "--size", MAX_TEMPORARY_BYTES, "--tmpfs", "/tmp"]);
        for path in SYSTEM.iter().map(Path::new) {
            match std::fs::read_link(path) {
                Ok(target) => command.arg("--symlink").arg(target).arg(path),
                Err(_) => command.arg("--ro-bind-try").arg(path).arg(path),
            };
        }
        for settings in SETTINGS {
            command.args(["--ro-bind-try", settings, settings]);
        }
        if let Some(folder) = executable.parent().filter(|folder| !folder.starts_with("/usr")) {
            command.arg("--ro-bind").arg(folder).arg(folder);
        }
        if let Some(directory) = directory {
            command.arg("--bind").arg(directory).arg(directory).arg("--chdir").arg(directory);
            for policies in POLICY_DIRECTORIES {
                let (source, target) = (directory.join(POLICY_FILE), Path::new(policies).join(POLICY_FILE));
                command.arg("--ro-bind").arg(source).arg(target);
            }
        }
        command.args(["--remount-ro", "/", "--"]).arg(executable);
        command
    }
}

#[cfg(test)]
mod tests;
