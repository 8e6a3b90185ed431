//! Finds a Chromium for the browser tests, or installs the Debian package (which needs root).

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::debian::run;

/// Environment variable with the path of the Chromium program.
pub(crate) const VARIABLE: &str = "WEBSVC_TEST_CHROMIUM";

/// Paths of the programs. The files in /usr/bin are only shell scripts that start them.
pub(crate) const PROGRAMS: [&str; 2] =
    ["/usr/lib/chromium/chromium-headless-shell", "/usr/lib/chromium/chromium"];

/// Debian packages with Chromium, preferred one first: it is a third of the size of the other.
pub(crate) const PACKAGES: [&str; 2] = ["chromium-headless-shell", "chromium"];

/// Program that imports certificate authorities for Chromium, and its Debian package.
const CERTUTIL: (&str, &str) = ("/usr/bin/certutil", "libnss3-tools");

/// Returns the path of Chromium. Installs Chromium and `certutil` if they are missing.
pub(crate) fn prepare() -> Result<PathBuf> {
    let program = prepare_program()?;
    let (tool, package) = CERTUTIL;
    if !Path::new(tool).is_file()
        && let Err(error) = install(package)
    {
        eprintln!(
            "warning: cannot install {package}, tests of certificate authorities will be skipped: {error}"
        );
    }
    Ok(program)
}

fn prepare_program() -> Result<PathBuf> {
    if let Some(program) = find_installed() {
        return Ok(program);
    }
    let mut failures = Vec::new();
    for package in PACKAGES {
        eprintln!("chromium: installing the Debian package {package}");
        if let Err(error) = install(package) {
            failures.push(error.to_string());
        } else if let Some(program) = find_installed() {
            return Ok(program);
        }
    }
    let failures = failures.join("; ");
    Err(format!("Chromium not found and not installable: {failures}; run: apt-get install {}", PACKAGES[0])
        .into())
}

fn find_installed() -> Option<PathBuf> {
    PROGRAMS.iter().map(Path::new).find(|program| program.is_file()).map(Path::to_owned)
}

/// Installs a Debian package (which needs root).
pub(crate) fn install(package: &str) -> Result {
    if apt_get(&["install", "-y", "--no-install-recommends", package]).is_ok() {
        return Ok(());
    }
    // On a new machine the package lists may be missing or out of date.
    apt_get(&["update"])?;
    apt_get(&["install", "-y", "--no-install-recommends", package])
}

/// Runs apt-get as root, or with `sudo -n`, which fails instead of prompting for a password.
fn apt_get(arguments: &[&str]) -> Result {
    let is_root = String::from_utf8(run(Command::new("id").arg("-u"))?.stdout)?.trim() == "0";
    let mut command = Command::new(if is_root { "apt-get" } else { "sudo" });
    if !is_root {
        command.args(["-n", "apt-get"]);
    }
    run(command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive")).map(drop)
}
