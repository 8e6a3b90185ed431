//! Builds programs that use third-party crates, to compare their speed with websvc.
//!
//! They are built in the cache folder. As dependencies, these crates would add a second HTML parser to the lock file.

use std::fs;
use std::path::PathBuf;

use crate::Result;
use crate::cache::Cache;
use crate::cargo::cargo;
use crate::debian::run;

/// Manifest of a program without its dependencies. The profile equals the profile `dist` of the workspace.
const MANIFEST: &str = r#"[package]
name = "peer"
version = "0.1.0"
edition = "2024"

[profile.release]
lto = "fat"
codegen-units = 1

[workspace]

[dependencies]
"#;

/// Builds a program in a folder with this name. `dependencies` are lines of TOML for the manifest. Returns the folder
/// and the path of the program.
pub(crate) fn build(name: &str, dependencies: &str, source: &str) -> Result<(PathBuf, PathBuf)> {
    let cache = Cache::open()?;
    let folder = cache.dir().join("peers").join(name);
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("Cargo.toml"), format!("{MANIFEST}{dependencies}\n"))?;
    fs::write(folder.join("src/main.rs"), source)?;
    let mut build = cargo();
    build.args(["build", "--release", "--target-dir", "target"]).current_dir(&folder);
    run(&mut build)?;
    let program = folder.join("target/release/peer");
    Ok((folder, program))
}
