//! The data sets of pages with known main content, in a folder named by an environment variable.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::cache::Cache;
use crate::debian::run;

/// Environment variable with the folder, which has each set as a folder or as `SET.tar.xz`.
pub(crate) const VARIABLE: &str = "WEBSVC_EXTRACTION_DATA";

/// The sets, most representative of current pages first.
pub(crate) const SETS: &[&str] = &["wcxb-test", "wcxb-dev", "aeb", "readability", "defuddle"];

/// Returns the folder with the sets. Unpacks archives into the cache folder. The pages belong to their publishers, so
/// they are not in the repository and never downloaded.
pub(crate) fn prepare() -> Result<PathBuf> {
    let configured = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty());
    let folder = configured.map(PathBuf::from).ok_or_else(|| format!("{VARIABLE} is not set"))?;
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
