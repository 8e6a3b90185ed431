//! Installs bubblewrap, in whose sandbox the tests run interpreters.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::cache::Cache;
use crate::debian::{self, run};

/// Environment variable with the path of bubblewrap, set only where its sandbox works.
pub(crate) const BUBBLEWRAP_VARIABLE: &str = "WEBSVC_TEST_BUBBLEWRAP";

/// Environment variable with the path of a Python that has the package playwright.
pub(crate) const PYTHON_VARIABLE: &str = "WEBSVC_TEST_PLAYWRIGHT_PYTHON";

const PACKAGE: &str = "bubblewrap";
const INSTALLED: &str = "/usr/bin/bwrap";

/// A program in a sandbox with the namespaces that the service uses.
const PROBE: &[&str] = &[
    "--ro-bind",
    "/",
    "/",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-ipc",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--size",
    "1048576",
    "--tmpfs",
    "/tmp",
    "true",
];

/// Returns the path of bubblewrap. Unpacks it into the cache folder if it is missing.
///
/// Some containers and hardened systems do not let programs create namespaces. Then this fails, and the tests are skipped.
pub(crate) fn prepare_bubblewrap() -> Result<PathBuf> {
    let program = find_or_unpack()?;
    run(Command::new(&program).args(PROBE))
        .map_err(|error| format!("this system does not allow its sandbox: {error}"))?;
    Ok(program)
}

fn find_or_unpack() -> Result<PathBuf> {
    let installed = Path::new(INSTALLED);
    if installed.is_file() {
        return Ok(installed.to_owned());
    }
    let cache = Cache::open()?;
    let unpacked = cache.dir().join(PACKAGE).join("usr/bin/bwrap");
    if !unpacked.is_file() {
        println!("{PACKAGE}: unpacking into {}", cache.dir().display());
        let folder = cache.create_empty_dir(PACKAGE)?;
        debian::unpack(&cache, PACKAGE, &folder)?;
    }
    Ok(unpacked)
}
