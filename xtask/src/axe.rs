//! Installs axe-core, the accessibility checker that the dashboard tests run in the page.

use std::path::PathBuf;

use crate::cache::Cache;
use crate::{Result, npm, root};

/// Environment variable with the path of the axe-core script.
pub(crate) const VARIABLE: &str = "WEBSVC_TEST_AXE";

/// Returns the path of the script. Installs it from npm if it is missing.
pub(crate) fn prepare() -> Result<PathBuf> {
    let folder = npm::install(&Cache::open()?, "dashboard", &root().join("xtask/dashboard"))?;
    Ok(folder.join("node_modules/axe-core/axe.min.js"))
}
