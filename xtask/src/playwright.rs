//! Installs playwright-core, with which the sandbox and the browser are compared, and puppeteer-core, another client.

use std::path::PathBuf;

use crate::cache::Cache;
use crate::{Result, npm, root};

/// Environment variable with the folder of the package playwright-core.
pub(crate) const VARIABLE: &str = "WEBSVC_TEST_PLAYWRIGHT";

/// Environment variable with the folder of the package puppeteer-core.
pub(crate) const PUPPETEER_VARIABLE: &str = "WEBSVC_TEST_PUPPETEER";

/// Returns the cache folder with the package in its `node_modules`. Installs it from npm if it is missing.
pub(crate) fn install() -> Result<PathBuf> {
    npm::install(&Cache::open()?, "playwright", &root().join("xtask/bench/playwright"))
}

/// Returns the folder of the package.
pub(crate) fn prepare() -> Result<PathBuf> {
    Ok(install()?.join("node_modules/playwright-core"))
}

/// Returns the folder of puppeteer-core.
pub(crate) fn prepare_puppeteer() -> Result<PathBuf> {
    let folder = npm::install(&Cache::open()?, "puppeteer", &root().join("xtask/bench/puppeteer"))?;
    Ok(folder.join("node_modules/puppeteer-core"))
}
