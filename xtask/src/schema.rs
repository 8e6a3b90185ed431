//! `cargo xtask schema`: writes the JSON Schema of every body and the OpenAPI document, or compares them.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use websvc_types::{openapi, schema};

use crate::{Result, root};

/// The folder of the schemas, below the root of the repository.
const SCHEMA_FOLDER: &str = "docs/schema/v2";

/// The OpenAPI document, below the root of the repository.
const OPENAPI: &str = "docs/openapi.json";

/// Action on the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// They are written.
    Write,
    /// They are compared: it is an error when they are not what would be written.
    Check,
}

pub(crate) fn run(mode: Mode) -> Result {
    let stale = stale()?;
    match mode {
        Mode::Write => {
            write(&stale)?;
            println!("schema: {} written", stale.len());
            Ok(())
        }
        Mode::Check if stale.is_empty() => {
            println!("schema: ok");
            Ok(())
        }
        Mode::Check => Err(complaint(&stale).into()),
    }
}

/// A file that is not as it should be.
struct Stale {
    /// Below the root of the repository.
    path: String,
    /// Expected content; `None` if the file must not exist.
    wanted: Option<String>,
}

/// Returns the files that are missing, outdated, or no schema any more.
fn stale() -> Result<Vec<Stale>> {
    let wanted = wanted();
    let mut stale = Vec::new();
    for (path, text) in &wanted {
        let written = match fs::read_to_string(root().join(path)) {
            Ok(written) => Some(written),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(format!("{path}: {error}").into()),
        };
        if written.as_ref() != Some(text) {
            stale.push(Stale { path: path.clone(), wanted: Some(text.clone()) });
        }
    }
    for path in written()? {
        if wanted.iter().all(|(known, _)| *known != path) {
            stale.push(Stale { path, wanted: None });
        }
    }
    Ok(stale)
}

/// Returns the files with their texts.
fn wanted() -> Vec<(String, String)> {
    let mut files = Vec::new();
    for (name, schema) in schema::roots() {
        files.push((format!("{SCHEMA_FOLDER}/{name}.json"), schema::text(schema.to_value())));
    }
    files.push((OPENAPI.to_owned(), openapi::text()));
    files
}

/// Returns the schemas that are there.
fn written() -> Result<Vec<String>> {
    let folder = match fs::read_dir(root().join(SCHEMA_FOLDER)) {
        Ok(folder) => folder,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(format!("{SCHEMA_FOLDER}: {error}").into()),
    };
    let mut names = Vec::new();
    for entry in folder {
        names.push(format!("{SCHEMA_FOLDER}/{}", entry?.file_name().to_string_lossy()));
    }
    names.sort_unstable();
    Ok(names)
}

fn write(stale: &[Stale]) -> Result {
    for Stale { path, wanted } in stale {
        let file: PathBuf = root().join(path);
        match wanted {
            Some(text) => {
                fs::create_dir_all(file.parent().expect("a file of the repository lies in a folder"))?;
                fs::write(file, text)?;
            }
            None => fs::remove_file(file)?,
        }
        println!("{path}");
    }
    Ok(())
}

fn complaint(stale: &[Stale]) -> String {
    let paths: Vec<&str> = stale.iter().map(|stale| stale.path.as_str()).collect();
    format!("{}\nschema: outdated; run `cargo xtask schema` and commit what it writes", paths.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_schemas_are_up_to_date() {
        let stale = stale().unwrap();
        assert!(stale.is_empty(), "{}", complaint(&stale));
    }
}
