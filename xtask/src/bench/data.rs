//! The pages whose main content is known: a folder that is named in the environment, unpacked where it is packed.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::cache::Cache;
use crate::debian::run;

/// Names the folder: either sets as folders, or sets as `SET.tar.xz`.
pub(crate) const VARIABLE: &str = "WEBSVC_EXTRACTION_DATA";

/// The sets, by how much they say about pages of today.
pub(crate) const SETS: &[&str] = &["wcxb-test", "wcxb-dev", "aeb", "readability", "defuddle"];

/// Returns the folder with the unpacked sets. The pages belong to their publishers: they are no part of the sources and
/// nothing fetches them.
pub(crate) fn prepare() -> Result<PathBuf> {
    let named = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty());
    let folder = named.map(PathBuf::from).ok_or_else(|| format!("{VARIABLE} names no folder"))?;
    if SETS.iter().all(|set| is_set(&folder.join(set))) {
        return Ok(folder);
    }
    let cache = Cache::open()?;
    let unpacked = cache.dir().join("extraction");
    std::fs::create_dir_all(&unpacked)?;
    for set in SETS {
        let archive = folder.join(format!("{set}.tar.xz"));
        if !is_set(&unpacked.join(set)) {
            run(Command::new("tar").arg("xJf").arg(&archive).arg("-C").arg(&unpacked))
                .map_err(|error| format!("cannot unpack {}: {error}", archive.display()))?;
        }
    }
    Ok(unpacked)
}

fn is_set(folder: &Path) -> bool {
    folder.join("truth.jsonl").is_file() && folder.join("html").is_dir()
}
