//! The files of the image with a browser: Debian's headless Chromium, its libraries and a font, from packages that `apt`
//! downloads and checks.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache::Cache;
use crate::debian;
use crate::debian::run as run_command;
use crate::{Result, chromium};

/// The packages in addition to Chromium: fonts with the metrics of those that most pages name, and `certutil`, with which
/// the browser trusts the authorities of `fetch.ca_file`.
const PACKAGES: [&str; 2] = ["fonts-liberation", "libnss3-tools"];

/// Beginnings of packages that only a graphics card needs. Chromium draws in software in the image. They take 150 MB.
const UNUSED: [&str; 4] = ["libllvm", "libz3-", "libgl1-mesa-dri", "mesa-vulkan-drivers"];

/// Directories of manuals and translations, which nothing reads in the image.
const UNREAD: [&str; 6] = ["man", "locale", "info", "lintian", "bug", "doc-base"];

/// The file with the names and versions of the packages.
const LIST: &str = "usr/share/doc/websvc/debian-packages.txt";

/// Unpacks the files into a directory of the cache, and returns it.
pub(super) fn unpack() -> Result<PathBuf> {
    let cache = Cache::open()?;
    let packages = [&[chromium::PACKAGES[0]], &PACKAGES[..]].concat();
    let downloaded = debian::download_with_dependencies(&cache, &packages)?;
    let files = cache.create_empty_dir("image-browser")?;
    let mut names = Vec::new();
    for package in downloaded.iter().filter(|package| !is_unused(&file_name(package))) {
        run_command(Command::new("dpkg").arg("-x").arg(package).arg(&files))?;
        names.push(file_name(package));
    }
    remove_unread(&files)?;
    let program = Path::new(chromium::PROGRAMS[0]).strip_prefix("/")?;
    if !files.join(program).is_file() {
        return Err(format!("the packages have no {}", program.display()).into());
    }
    names.sort_unstable();
    let list = files.join(LIST);
    fs::create_dir_all(list.parent().expect("it has a directory"))?;
    fs::write(list, names.join("\n") + "\n")?;
    Ok(files)
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn is_unused(package: &str) -> bool {
    UNUSED.iter().any(|beginning| package.starts_with(beginning))
}

/// Deletes the documentation, without the copyright files, which the licences require.
fn remove_unread(files: &Path) -> Result {
    let share = files.join("usr/share");
    for name in UNREAD {
        if share.join(name).exists() {
            fs::remove_dir_all(share.join(name))?;
        }
    }
    if share.join("doc").exists() {
        let find = ["-type", "f", "!", "-name", "copyright", "-delete"];
        run_command(Command::new("find").arg(share.join("doc")).args(find))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documentation_is_removed_and_copyright_files_stay() {
        let files = std::env::temp_dir().join(format!("websvc-image-browser-{}", std::process::id()));
        for name in ["doc/a/copyright", "doc/a/changelog.gz", "man/man1/a.1", "fonts/a.ttf"] {
            let path = files.join("usr/share").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        remove_unread(&files).unwrap();
        for (name, stays) in
            [("doc/a/copyright", true), ("fonts/a.ttf", true), ("doc/a/changelog.gz", false), ("man", false)]
        {
            assert_eq!(files.join("usr/share").join(name).exists(), stays, "{name}");
        }
        fs::remove_dir_all(files).unwrap();
    }

    #[test]
    fn packages_for_graphics_cards_are_left_out() {
        assert!(
            is_unused("libllvm15_1%3a15.0.6-4+b1_amd64.deb") && is_unused("libgl1-mesa-dri_22_amd64.deb")
        );
        assert!(!is_unused("libgl1_1.6_amd64.deb") && !is_unused("chromium-headless-shell_156_amd64.deb"));
    }
}
