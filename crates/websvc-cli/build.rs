//! How the program is linked, and the manual that it holds.

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::{env, fs};

use flate2::Compression;
use flate2::write::GzEncoder;

/// The manual, from the folder of this crate.
const MANUAL: &str = "../../docs";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    pack_relocations();
    compress_manual()
}

/// Writes every page of the manual compressed: 150 kB in the program instead of 430.
fn compress_manual() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={MANUAL}");
    let folder = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?).join("manual");
    fs::create_dir_all(&folder)?;
    for entry in fs::read_dir(MANUAL).map_err(|error| format!("{MANUAL}: {error}"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let name =
                path.file_name().ok_or("a file has a name")?.to_str().ok_or("a page has a plain name")?;
            let mut gzip =
                GzEncoder::new(fs::File::create(folder.join(format!("{name}.gz")))?, Compression::best());
            gzip.write_all(&fs::read(&path)?)?;
            gzip.finish()?;
        }
    }
    Ok(())
}

fn pack_relocations() {
    // The loader reads a table of every address in the program's constants when it starts. Packed, the table takes some
    // kilobytes instead of two megabytes, of the file and of the memory of every process. Linkers that do not know the
    // option say so and go on.
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        for target in ["bins", "examples"] {
            println!("cargo::rustc-link-arg-{target}=-Wl,-z,pack-relative-relocs");
        }
    }
}

fn is(variable: &str, value: &str) -> bool {
    env::var(variable).is_ok_and(|found| found == value)
}
