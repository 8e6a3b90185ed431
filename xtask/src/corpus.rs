//! `cargo xtask corpus`: the manual of Python, some 500 real pages that nobody here wrote, to crawl and search.
//!
//! It comes from Debian's package `python3-doc` and is kept outside the repository. Without apt the tests that search
//! it are skipped.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cache::Cache;
use crate::{Result, debian};

/// Tells the tests where the pages are: the folder with `index.html`.
pub(crate) const VARIABLE: &str = "WEBSVC_CORPUS_DIR";
const PACKAGE: &str = "python3-doc";
const MARKER: &str = "corpus/ready";

pub(crate) fn run() -> Result {
    match prepare() {
        Ok(pages) => println!("corpus: {VARIABLE}={}", pages.display()),
        Err(error) => println!(
            "corpus: absent, so the tests that crawl and search real pages are skipped ({PACKAGE} of Debian: {error})"
        ),
    }
    Ok(())
}

/// Returns the folder of the pages, fetching them the first time.
pub(crate) fn prepare() -> Result<PathBuf> {
    let cache = Cache::open()?;
    let marker = cache.dir().join(MARKER);
    if let Ok(recorded) = fs::read_to_string(&marker) {
        let pages = PathBuf::from(recorded);
        if pages.join("index.html").is_file() {
            return Ok(pages);
        }
    }
    let unpacked = cache.fresh("corpus")?;
    debian::unpack(&cache, &real_package(&cache)?, &unpacked)?;
    let pages = html_folder(&unpacked.join("usr/share/doc"))?;
    let recorded = pages.to_str().ok_or("the path of the cache folder is not UTF-8")?;
    fs::write(marker, recorded)?;
    Ok(pages)
}

/// `python3-doc` itself is empty: it depends on the manual of the Python version of the Debian release.
fn real_package(cache: &Cache) -> Result<String> {
    let dependencies = debian::dependencies(cache, PACKAGE)?;
    let manual = dependencies.into_iter().find(|name| name.starts_with("python3") && name.ends_with("-doc"));
    manual.ok_or_else(|| format!("{PACKAGE} does not name the manual it stands for").into())
}

/// Finds `python3.*/html` with the pages: another entry of that name may be a link into nowhere.
fn html_folder(documents: &Path) -> Result<PathBuf> {
    for entry in fs::read_dir(documents)? {
        let html = entry?.path().join("html");
        if html.join("index.html").is_file() {
            return Ok(html);
        }
    }
    Err(format!("there is no html/index.html under {}", documents.display()).into())
}
