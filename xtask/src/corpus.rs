//! `cargo xtask corpus`: downloads the Python manual, about 500 real pages, as a corpus to crawl and search.
//!
//! The manual comes from Debian's package `python3-doc` and is stored outside the repository. Without apt, the tests
//! that need it are skipped.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cache::Cache;
use crate::{Result, debian};

/// Environment variable with the folder of the pages, which contains `index.html`.
pub(crate) const VARIABLE: &str = "WEBSVC_CORPUS_DIR";
const PACKAGE: &str = "python3-doc";
const MARKER: &str = "corpus/ready";

pub(crate) fn run() -> Result {
    match prepare() {
        Ok(pages) => println!("corpus: {VARIABLE}={}", pages.display()),
        Err(error) => println!(
            "corpus: not available, tests on real pages will be skipped (Debian package {PACKAGE}: {error})"
        ),
    }
    Ok(())
}

/// Returns the folder of the pages. Downloads them if they are missing.
pub(crate) fn prepare() -> Result<PathBuf> {
    let cache = Cache::open()?;
    let marker = cache.dir().join(MARKER);
    if let Ok(recorded) = fs::read_to_string(&marker) {
        let pages = PathBuf::from(recorded);
        if pages.join("index.html").is_file() {
            return Ok(pages);
        }
    }
    let unpacked = cache.create_empty_dir("corpus")?;
    debian::unpack(&cache, &manual_package(&cache)?, &unpacked)?;
    let pages = html_folder(&unpacked.join("usr/share/doc"))?;
    let recorded = pages.to_str().ok_or("the path of the cache folder is not UTF-8")?;
    fs::write(marker, recorded)?;
    Ok(pages)
}

/// Returns the package with the manual. `python3-doc` itself is empty and depends on the package of the Python version.
fn manual_package(cache: &Cache) -> Result<String> {
    let dependencies = debian::dependencies(cache, PACKAGE)?;
    let manual = dependencies.into_iter().find(|name| name.starts_with("python3") && name.ends_with("-doc"));
    manual.ok_or_else(|| format!("{PACKAGE} does not depend on a package with the manual").into())
}

/// Finds the folder `*/html` that contains `index.html`. Other `html` entries may be broken links.
fn html_folder(documents: &Path) -> Result<PathBuf> {
    for entry in fs::read_dir(documents)? {
        let html = entry?.path().join("html");
        if html.join("index.html").is_file() {
            return Ok(html);
        }
    }
    Err(format!("no html/index.html under {}", documents.display()).into())
}
