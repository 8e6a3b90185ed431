//! Compresses the OpenAPI document, and takes the renderer of the API reference, Swagger UI, out of the crate that carries it.
//!
//! The archive of the renderer holds its files deflated; they become gzip members as they are. Browsers get what they can
//! read without work for the service.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use flate2::Compression;
use flate2::write::GzEncoder;

use rawzip::{CompressionMethod, ZipArchive};
use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;

/// The files of the archive that the page needs and those that its licence asks for, with their names here.
const FILES: [(&str, &str); 4] = [
    ("dist/swagger-ui-bundle.js", "swagger-ui-bundle.js.gz"),
    ("dist/swagger-ui.css", "swagger-ui.css.gz"),
    ("LICENSE", "LICENSE.gz"),
    ("NOTICE", "NOTICE"),
];

/// The document as `cargo xtask schema` writes it, from the folder of this crate.
const OPENAPI: &str = "../../docs/openapi.json";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    compress_openapi(&out)?;
    take_renderer(&out)
}

fn compress_openapi(out: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={OPENAPI}");
    let document =
        fs::read(OPENAPI).map_err(|error| format!("{OPENAPI}: {error}; cargo xtask schema writes it"))?;
    let mut gzip = GzEncoder::new(fs::File::create(out.join("openapi.json.gz"))?, Compression::best());
    gzip.write_all(&document)?;
    gzip.finish()?;
    Ok(())
}

fn take_renderer(out: &Path) -> Result<(), Box<dyn Error>> {
    let archive = ZipArchive::from_slice(SWAGGER_UI_VENDORED)?;
    let mut entries = archive.entries();
    let mut missing = FILES.to_vec();
    let mut version = String::new();
    while let Some(entry) = entries.next_entry()? {
        let path = entry.file_path().try_normalize()?;
        let Some((folder, file)) = path.as_ref().split_once('/') else { continue };
        let Some(at) = missing.iter().position(|(name, _)| *name == file) else { continue };
        let (_, target) = missing.swap_remove(at);
        let data = archive.get_entry(entry.wayfinder())?.data();
        let content = match entry.compression_method() {
            CompressionMethod::DEFLATE if target.ends_with(".gz") => {
                gzip_member(data, entry.crc32(), u32::try_from(entry.uncompressed_size_hint())?)
            }
            CompressionMethod::STORE if !target.ends_with(".gz") => data.to_vec(),
            other => return Err(format!("{file} is compressed by {other:?}").into()),
        };
        fs::write(out.join(target), content)?;
        folder.strip_prefix("swagger-ui-").ok_or("not an archive of Swagger UI")?.clone_into(&mut version);
    }
    if !missing.is_empty() {
        return Err(format!("the archive lacks {missing:?}").into());
    }
    println!("cargo::rustc-env=SWAGGER_UI_VERSION={version}");
    Ok(())
}

/// Returns deflated data as a gzip member (RFC 1952).
fn gzip_member(deflated: &[u8], crc32: u32, size: u32) -> Vec<u8> {
    // Magic, deflate, no flags, no time, no word on the level, unknown system.
    let mut member = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    member.extend(deflated);
    member.extend(crc32.to_le_bytes());
    member.extend(size.to_le_bytes());
    member
}
