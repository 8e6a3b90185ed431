//! Compresses the OpenAPI document, and extracts Swagger UI, which renders the API reference, from the crate that contains
//! it.
//!
//! The files in the archive of Swagger UI are deflated already. They are copied into gzip members without compressing them
//! again, so the service can send them to browsers without further work.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use flate2::Compression;
use flate2::write::GzEncoder;

use rawzip::{CompressionMethod, ZipArchive};
use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;

/// The files of the archive that the page needs or the license requires, with the names of the extracted files.
const FILES: [(&str, &str); 4] = [
    ("dist/swagger-ui-bundle.js", "swagger-ui-bundle.js.gz"),
    ("dist/swagger-ui.css", "swagger-ui.css.gz"),
    ("LICENSE", "LICENSE.gz"),
    ("NOTICE", "NOTICE"),
];

/// The document that `cargo xtask schema` writes into `docs`. A link in the folder of this crate, so that a package has it.
const OPENAPI: &str = "openapi.json";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let out_dir = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    compress_openapi(&out_dir)?;
    extract_swagger_ui(&out_dir)
}

fn compress_openapi(out_dir: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={OPENAPI}");
    let document = fs::read(OPENAPI)
        .map_err(|error| format!("{OPENAPI}: {error}; run cargo xtask schema to write it"))?;
    let mut gzip = GzEncoder::new(fs::File::create(out_dir.join("openapi.json.gz"))?, Compression::best());
    gzip.write_all(&document)?;
    gzip.finish()?;
    Ok(())
}

fn extract_swagger_ui(out_dir: &Path) -> Result<(), Box<dyn Error>> {
    let archive = ZipArchive::from_slice(SWAGGER_UI_VENDORED)?;
    let mut entries = archive.entries();
    let mut missing = FILES.to_vec();
    let mut version = String::new();
    while let Some(entry) = entries.next_entry()? {
        let path = entry.file_path().try_normalize()?;
        let Some((folder, file)) = path.as_ref().split_once('/') else { continue };
        let Some(index) = missing.iter().position(|(name, _)| *name == file) else { continue };
        let (_, target) = missing.swap_remove(index);
        let data = archive.get_entry(entry.wayfinder())?.data();
        let content = match entry.compression_method() {
            CompressionMethod::DEFLATE if target.ends_with(".gz") => {
                gzip_member(data, entry.crc32(), u32::try_from(entry.uncompressed_size_hint())?)
            }
            CompressionMethod::STORE if !target.ends_with(".gz") => data.to_vec(),
            other => return Err(format!("{file} has the unexpected compression {other:?}").into()),
        };
        fs::write(out_dir.join(target), content)?;
        folder.strip_prefix("swagger-ui-").ok_or("not an archive of Swagger UI")?.clone_into(&mut version);
    }
    if !missing.is_empty() {
        return Err(format!("the archive does not contain {missing:?}").into());
    }
    println!("cargo::rustc-env=SWAGGER_UI_VERSION={version}");
    Ok(())
}

/// Returns deflated data as a gzip member (RFC 1952).
fn gzip_member(deflated: &[u8], crc32: u32, size: u32) -> Vec<u8> {
    // Magic number, deflate, no flags, no time, no extra flags, unknown system.
    let mut member = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    member.extend(deflated);
    member.extend(crc32.to_le_bytes());
    member.extend(size.to_le_bytes());
    member
}
