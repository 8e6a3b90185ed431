//! Builds single-page applications with common frameworks, for the browser tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache::Cache;
use crate::debian::run;
use crate::{Result, npm, root};

/// Environment variable with the folder of the built applications, one subfolder each.
pub(crate) const VARIABLE: &str = "WEBSVC_TEST_APPS";

const APPS: [&str; 3] = ["react", "vue", "svelte"];
const CONFIG: &str = "vite.config.js";

/// Returns the folder of the built applications. Builds them if their sources have changed.
pub(crate) fn prepare() -> Result<PathBuf> {
    let cache = Cache::open()?;
    let sources = root().join("xtask/apps");
    let folder = npm::install(&cache, "apps", &sources)?;
    let built = folder.join("built");
    // The sources of the last complete build. Written last.
    let marker = folder.join("built-sources.txt");
    let inputs = build_inputs(&sources)?;
    if fs::read_to_string(&marker).ok().as_ref() == Some(&inputs) {
        return Ok(built);
    }
    fs::copy(sources.join(CONFIG), folder.join(CONFIG))?;
    for app in APPS {
        println!("apps: building the {app} application");
        let app_folder = folder.join(app);
        fs::create_dir_all(&app_folder)?;
        for file in fs::read_dir(sources.join(app))? {
            let file = file?;
            fs::copy(file.path(), app_folder.join(file.file_name()))?;
        }
        let vite = folder.join("node_modules/vite/bin/vite.js");
        let mut command = Command::new("node");
        command.arg(vite).arg("build").current_dir(&folder);
        run(command.env("APP", app).env("OUT", built.join(app)))?;
    }
    fs::write(marker, inputs)?;
    Ok(built)
}

/// Returns the text of every file that the build depends on.
fn build_inputs(sources: &Path) -> Result<String> {
    let mut files = vec![sources.join(CONFIG), sources.join("package-lock.json")];
    for app in APPS {
        for file in fs::read_dir(sources.join(app))? {
            files.push(file?.path());
        }
    }
    files.sort();
    let texts: std::io::Result<Vec<String>> = files.iter().map(fs::read_to_string).collect();
    Ok(texts?.join("\n"))
}
