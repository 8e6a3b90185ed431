//! Installs libfaketime, with which the tests set the clock of a program.

use std::env::consts::ARCH;
use std::path::{Path, PathBuf};

use crate::Result;
use crate::cache::Cache;
use crate::debian;

/// Environment variable with the path of the library for programs with several threads.
pub(crate) const VARIABLE: &str = "WEBSVC_TEST_FAKETIME";

const PACKAGE: &str = "libfaketime";

/// Returns the path of the library. Unpacks it into the cache folder if it is missing.
pub(crate) fn prepare() -> Result<PathBuf> {
    let path = format!("usr/lib/{ARCH}-linux-gnu/faketime/libfaketimeMT.so.1");
    let installed = Path::new("/").join(&path);
    if installed.is_file() {
        return Ok(installed);
    }
    let cache = Cache::open()?;
    let unpacked = cache.dir().join(PACKAGE).join(path);
    if !unpacked.is_file() {
        println!("{PACKAGE}: unpacking into {}", cache.dir().display());
        let folder = cache.create_empty_dir(PACKAGE)?;
        debian::unpack(&cache, PACKAGE, &folder)?;
    }
    if unpacked.is_file() { Ok(unpacked) } else { Err(format!("{} is missing", unpacked.display()).into()) }
}
