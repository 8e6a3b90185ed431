//! Packages of npm, pinned by a lock file, in the cache folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::cache::Cache;
use crate::debian::run;

/// Names the packages and pins everything they need, with the hash of each.
const MANIFESTS: [&str; 2] = ["package.json", "package-lock.json"];

/// Returns a folder of the cache with the packages that the manifests in `manifests` name in its `node_modules`.
pub(crate) fn install(cache: &Cache, name: &str, manifests: &Path) -> Result<PathBuf> {
    let name = format!("npm/{name}");
    let folder = cache.dir().join(&name);
    let lock = fs::read(manifests.join("package-lock.json"))?;
    // Written last: a copy of the lock file of what was installed to its end.
    let marker = folder.join("installed-lock.json");
    if fs::read(&marker).ok().as_ref() != Some(&lock) {
        run(Command::new("node").arg("--version"))?;
        println!("npm: installing into {}", folder.display());
        cache.fresh(&name)?;
        for manifest in MANIFESTS {
            fs::copy(manifests.join(manifest), folder.join(manifest))?;
        }
        let options = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
        run(Command::new("npm").args(options).current_dir(&folder))?;
        fs::write(marker, lock)?;
    }
    Ok(folder)
}
