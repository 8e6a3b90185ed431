//! Compresses the manual into the program and sets the linker options.

use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::OsStr;
use std::io::Write;
use std::path::PathBuf;
use std::{env, fs};

use flate2::Compression;
use flate2::write::GzEncoder;

/// The directory of the manual, relative to this crate.
const MANUAL: &str = "../../docs";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    pack_relocations();
    compress_manual()
}

/// Compresses every page of the manual (150 kB in the program instead of 430), and writes the table of the pages.
fn compress_manual() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={MANUAL}");
    let directory = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?).join("manual");
    fs::create_dir_all(&directory)?;
    let mut pages = BTreeMap::new();
    for entry in fs::read_dir(MANUAL).map_err(|error| format!("{MANUAL}: {error}"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let name = path.file_stem().and_then(OsStr::to_str).ok_or("a page has a plain name")?.to_owned();
            pages.insert(name, fs::read_to_string(&path)?);
        }
    }
    let mut table = String::new();
    for name in reading_order(&pages) {
        let file = directory.join(format!("{name}.md.gz"));
        let mut gzip = GzEncoder::new(fs::File::create(&file)?, Compression::best());
        gzip.write_all(pages[name].as_bytes())?;
        gzip.finish()?;
        table.push_str(&format!("({name:?}, include_bytes!({file:?})),\n"));
    }
    Ok(fs::write(directory.join("pages.rs"), format!("&[\n{table}]\n"))?)
}

/// Returns the names of the pages in the order in which the start page links to them. It is the first one itself.
fn reading_order(pages: &BTreeMap<String, String>) -> Vec<&str> {
    let start = pages.get("index").map(String::as_str).unwrap_or_default();
    let links = start.split("](").skip(1).filter_map(|rest| rest.split_once(".md").map(|(name, _)| name));
    let mut names = Vec::new();
    for name in std::iter::once("index").chain(links).chain(pages.keys().map(String::as_str)) {
        if pages.contains_key(name) && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn pack_relocations() {
    // At startup the loader reads a table of all addresses in the program's constants. Packed, the table takes a few
    // kilobytes instead of two megabytes in the file and in the memory of every process. A linker that does not know
    // the option prints a warning and continues.
    if is_env("CARGO_CFG_TARGET_OS", "linux") && is_env("CARGO_CFG_TARGET_ENV", "gnu") {
        for target in ["bins", "examples"] {
            println!("cargo::rustc-link-arg-{target}=-Wl,-z,pack-relative-relocs");
        }
    }
}

fn is_env(variable: &str, value: &str) -> bool {
    env::var(variable).is_ok_and(|current| current == value)
}
