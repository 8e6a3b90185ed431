//! Programs around crates of others, to be measured beside ours.
//!
//! They are built in the cache folder, not as dependencies: they would bring a second HTML parser into the lock file.

use std::fs;
use std::path::PathBuf;

use crate::Result;
use crate::cache::Cache;
use crate::cargo::cargo;
use crate::debian::run;

/// The manifest of a program, but for its dependencies. The profile is `dist` of the workspace, which ours is built
/// with.
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

/// Builds a program in a folder of this name, with the lines of `dependencies`, and returns the folder and the program.
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
