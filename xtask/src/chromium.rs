//! A Chromium for the tests of the browser: the machine's, else Debian's, which only root can install.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::debian::run;

/// Tells the tests which program to drive.
pub(crate) const VARIABLE: &str = "WEBSVC_TEST_CHROMIUM";

/// The programs themselves; what lies in /usr/bin are shell scripts around them.
const PROGRAMS: [&str; 2] = ["/usr/lib/chromium/chromium-headless-shell", "/usr/lib/chromium/chromium"];

/// The package that costs a third of the other, and the other.
const PACKAGES: [&str; 2] = ["chromium-headless-shell", "chromium"];

/// Program that imports certificate authorities for Chromium, and its package.
const AUTHORITIES: (&str, &str) = ("/usr/bin/certutil", "libnss3-tools");

/// Returns the program, installing it where it is missing and may be installed.
pub(crate) fn prepare() -> Result<PathBuf> {
    let program = prepare_program()?;
    let (tool, package) = AUTHORITIES;
    if !Path::new(tool).is_file()
        && let Err(error) = install(package)
    {
        println!("warning: {package} cannot be installed, the tests of authorities skip themselves: {error}");
    }
    Ok(program)
}

fn prepare_program() -> Result<PathBuf> {
    if let Some(program) = installed() {
        return Ok(program);
    }
    let mut failures = Vec::new();
    for package in PACKAGES {
        println!("chromium: installing the Debian package {package}");
        if let Err(error) = install(package) {
            failures.push(error.to_string());
        } else if let Some(program) = installed() {
            return Ok(program);
        }
    }
    let said = failures.join("; ");
    Err(format!("install it with: apt-get install {}; here that failed: {said}", PACKAGES[0]).into())
}

fn installed() -> Option<PathBuf> {
    PROGRAMS.iter().map(Path::new).find(|program| program.is_file()).map(Path::to_owned)
}

fn install(package: &str) -> Result {
    if apt_get(&["install", "-y", "--no-install-recommends", package]).is_ok() {
        return Ok(());
    }
    // A fresh machine has no list of packages, or one that is too old.
    apt_get(&["update"])?;
    apt_get(&["install", "-y", "--no-install-recommends", package])
}

/// Runs apt-get as root, or with sudo where that asks for no password.
fn apt_get(arguments: &[&str]) -> Result {
    let is_root = String::from_utf8(run(Command::new("id").arg("-u"))?.stdout)?.trim() == "0";
    let mut command = Command::new(if is_root { "apt-get" } else { "sudo" });
    if !is_root {
        command.args(["-n", "apt-get"]);
    }
    run(command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive")).map(drop)
}
