//! `cargo xtask schema`: writes the JSON Schemas and the OpenAPI document, or checks that they are up to date.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use websvc_types::schema;

use crate::{Result, openapi, root};

/// Folder of the schemas, relative to the root of the repository.
const SCHEMA_FOLDER: &str = "docs/schema/v2";

/// Path of the OpenAPI document, relative to the root of the repository.
const OPENAPI: &str = "docs/openapi.json";

/// Mode of the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Writes the files.
    Write,
    /// Fails if a file is out of date.
    Check,
}

pub(crate) fn run(mode: Mode) -> Result {
    let stale = stale_files()?;
    match mode {
        Mode::Write => {
            write(&stale)?;
            println!("schema: {} files written", stale.len());
            Ok(())
        }
        Mode::Check if stale.is_empty() => {
            println!("schema: ok");
            Ok(())
        }
        Mode::Check => Err(outdated_error(&stale).into()),
    }
}

/// A file whose content is out of date.
struct StaleFile {
    /// Path relative to the root of the repository.
    path: String,
    /// Expected content; `None` if the file must not exist.
    expected: Option<String>,
}

/// Returns the files that are missing or outdated, and the files without a schema in the code.
fn stale_files() -> Result<Vec<StaleFile>> {
    let expected_files = expected_files()?;
    let mut stale = Vec::new();
    for (path, text) in &expected_files {
        let current = match fs::read_to_string(root().join(path)) {
            Ok(current) => Some(current),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(format!("{path}: {error}").into()),
        };
        if current.as_ref() != Some(text) {
            stale.push(StaleFile { path: path.clone(), expected: Some(text.clone()) });
        }
    }
    for path in existing_schemas()? {
        if expected_files.iter().all(|(expected, _)| *expected != path) {
            stale.push(StaleFile { path, expected: None });
        }
    }
    Ok(stale)
}

/// Returns the path and the expected text of every file.
fn expected_files() -> Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    for (name, schema) in schema::roots() {
        files.push((format!("{SCHEMA_FOLDER}/{name}.json"), schema::text(schema.to_value())));
    }
    files.push((OPENAPI.to_owned(), openapi::text()?));
    Ok(files)
}

/// Returns the paths of the files in the schema folder.
fn existing_schemas() -> Result<Vec<String>> {
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

fn write(stale: &[StaleFile]) -> Result {
    for StaleFile { path, expected } in stale {
        let file: PathBuf = root().join(path);
        match expected {
            Some(text) => {
                fs::create_dir_all(file.parent().expect("a file of the repository has a parent directory"))?;
                fs::write(file, text)?;
            }
            None => fs::remove_file(file)?,
        }
        println!("{path}");
    }
    Ok(())
}

fn outdated_error(stale: &[StaleFile]) -> String {
    let paths: Vec<&str> = stale.iter().map(|stale| stale.path.as_str()).collect();
    format!(
        "{}\nschema: files are out of date; run `cargo xtask schema` and commit the changes",
        paths.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_schemas_are_up_to_date() {
        let stale = stale_files().unwrap();
        assert!(stale.is_empty(), "{}", outdated_error(&stale));
    }
}
