//! Compresses the manual into the program and sets the linker options.

use std::error::Error;
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

/// Compresses every page of the manual: 150 kB in the program instead of 430.
fn compress_manual() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={MANUAL}");
    let directory = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?).join("manual");
    fs::create_dir_all(&directory)?;
    for entry in fs::read_dir(MANUAL).map_err(|error| format!("{MANUAL}: {error}"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let name =
                path.file_name().ok_or("a file has a name")?.to_str().ok_or("a page has a plain name")?;
            let mut gzip =
                GzEncoder::new(fs::File::create(directory.join(format!("{name}.gz")))?, Compression::best());
            gzip.write_all(&fs::read(&path)?)?;
            gzip.finish()?;
        }
    }
    Ok(())
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
