//! Single-page applications, built with the usual frameworks, for the tests of the browser.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache::Cache;
use crate::debian::run;
use crate::{Result, npm, root};

/// Tells the tests where the built applications are, one folder each.
pub(crate) const VARIABLE: &str = "WEBSVC_TEST_APPS";

const APPS: [&str; 3] = ["react", "vue", "svelte"];
const CONFIG: &str = "vite.config.js";

/// Returns the folder with the built applications, building them when their sources changed.
pub(crate) fn prepare() -> Result<PathBuf> {
    let cache = Cache::open()?;
    let sources = root().join("xtask/apps");
    let folder = npm::install(&cache, "apps", &sources)?;
    let built = folder.join("built");
    // Written last: the sources of what was built to its end.
    let marker = folder.join("built-sources.txt");
    let state = state_of(&sources)?;
    if fs::read_to_string(&marker).ok().as_ref() == Some(&state) {
        return Ok(built);
    }
    fs::copy(sources.join(CONFIG), folder.join(CONFIG))?;
    for app in APPS {
        println!("apps: building the one of {app}");
        let here = folder.join(app);
        fs::create_dir_all(&here)?;
        for file in fs::read_dir(sources.join(app))? {
            let file = file?;
            fs::copy(file.path(), here.join(file.file_name()))?;
        }
        let vite = folder.join("node_modules/vite/bin/vite.js");
        let mut command = Command::new("node");
        command.arg(vite).arg("build").current_dir(&folder);
        run(command.env("APP", app).env("OUT", built.join(app)))?;
    }
    fs::write(marker, state)?;
    Ok(built)
}

/// Returns all that decides what is built.
fn state_of(sources: &Path) -> Result<String> {
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
