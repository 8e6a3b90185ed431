//! The official clients that are npm packages, for `cargo xtask conformance`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache::Cache;
use crate::debian::run;
use crate::{Result, root};

/// Names the packages and pins everything they need, with the hash of each.
const MANIFESTS: [&str; 2] = ["package.json", "package-lock.json"];

/// Returns a folder with the clients in its `node_modules` and the scripts of `scripts` beside it, where Node finds the
/// one from the other.
pub(crate) fn prepare(scripts: &Path) -> Result<PathBuf> {
    let cache = Cache::open()?;
    let manifests = root().join("xtask/conformance");
    let folder = cache.dir().join("npm/conformance");
    let lock = fs::read(manifests.join("package-lock.json"))?;
    // Written last: a copy of the lock file of what was installed to its end.
    let marker = folder.join("installed-lock.json");
    if fs::read(&marker).ok().as_ref() != Some(&lock) {
        run(Command::new("node").arg("--version"))?;
        println!("npm: installing the official clients into {}", folder.display());
        cache.fresh("npm/conformance")?;
        for name in MANIFESTS {
            fs::copy(manifests.join(name), folder.join(name))?;
        }
        let options = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
        run(Command::new("npm").args(options).current_dir(&folder))?;
        fs::write(marker, lock)?;
    }
    for script in fs::read_dir(scripts)? {
        let script = script?;
        fs::copy(script.path(), folder.join(script.file_name()))?;
    }
    Ok(folder)
}
