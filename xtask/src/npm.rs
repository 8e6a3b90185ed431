//! Installs npm packages, pinned by a lock file, into the cache folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::cache::Cache;
use crate::debian::run;

/// Files that name the packages and pin all their dependencies, with the hash of each.
const MANIFESTS: [&str; 2] = ["package.json", "package-lock.json"];

/// Returns a cache folder whose `node_modules` has the packages of the manifests in `manifests`. Installs them if the
/// lock file has changed.
pub(crate) fn install(cache: &Cache, name: &str, manifests: &Path) -> Result<PathBuf> {
    let name = format!("npm/{name}");
    let folder = cache.dir().join(&name);
    let lock = fs::read(manifests.join("package-lock.json"))?;
    // A copy of the lock file of the last complete installation. Written last.
    let marker = folder.join("installed-lock.json");
    if fs::read(&marker).ok().as_ref() != Some(&lock) {
        run(Command::new("node").arg("--version"))?;
        println!("npm: installing into {}", folder.display());
        cache.create_empty_dir(&name)?;
        for manifest in MANIFESTS {
            fs::copy(manifests.join(manifest), folder.join(manifest))?;
        }
        let options = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
        run(Command::new("npm").args(options).current_dir(&folder))?;
        fs::write(marker, lock)?;
    }
    Ok(folder)
}
