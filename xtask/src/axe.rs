//! The rules of accessibility that the tests of the dashboard run in its page.

use std::path::PathBuf;

use crate::cache::Cache;
use crate::{Result, npm, root};

/// Tells the tests where the script with the rules is.
pub(crate) const VARIABLE: &str = "WEBSVC_TEST_AXE";

/// Returns the script, installing it from npm when it is not there.
pub(crate) fn prepare() -> Result<PathBuf> {
    let folder = npm::install(&Cache::open()?, "dashboard", &root().join("xtask/dashboard"))?;
    Ok(folder.join("node_modules/axe-core/axe.min.js"))
}
