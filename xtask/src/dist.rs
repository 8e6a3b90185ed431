//! `cargo xtask dist`: makes the packages of the program in `target/dist-packages`: a tarball, a Debian package, images
//! for containers with and without a browser, a list of its components (SBOM), and their checksums.
//!
//! The packages of one commit have the same bytes whenever they are made: files are sorted, belong to root, and have the
//! time of the commit. Only the browser of the image is the newest that Debian has.

mod browser;
mod components;
mod deb;
mod image;
mod program;
mod tarball;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo::cargo;
use crate::debian::run as run_command;
use crate::{Result, root};
use program::Program;

/// The input of all packages.
struct Release {
    version: String,
    /// Architecture as Rust names it, such as `x86_64`.
    arch: &'static str,
    /// Time of the commit, in seconds since the Unix epoch.
    time: String,
    /// The directory of the packages.
    target: PathBuf,
    program: Program,
}

/// Makes the packages. With `--program FILE`, packs that program instead of building one.
pub(crate) fn run(options: &[&str]) -> Result {
    let given = match options {
        [] => None,
        ["--program", file] => Some(PathBuf::from(file)),
        other => return Err(format!("unknown options \"{}\": use --program FILE", other.join(" ")).into()),
    };
    let (commit, day, time) = commit()?;
    let program = match given {
        Some(file) => file,
        None => build(&commit, &day)?,
    };
    let target = root().join("target/dist-packages");
    let browser = browser::unpack();
    if let Err(error) = &browser {
        println!("warning: no image with Chromium is made: {error}");
    }
    for path in make(&program, &target, time, browser.ok().as_deref())? {
        let size = fs::metadata(&path)?.len();
        println!("{:>9.1} kB  {}", size as f64 / 1e3, path.display());
    }
    Ok(())
}

/// Makes all packages of a program in an empty directory, and returns their paths. With the files of a browser, there is a
/// second image.
fn make(program: &Path, target: &Path, time: String, browser: Option<&Path>) -> Result<Vec<PathBuf>> {
    if target.exists() {
        fs::remove_dir_all(target)?;
    }
    fs::create_dir_all(target)?;
    let release = Release {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        arch: std::env::consts::ARCH,
        time,
        target: target.to_owned(),
        program: Program::prepare(program, &target.join("stage"))?,
    };
    if let Some(glibc) = &release.program.glibc {
        println!("the program needs glibc {glibc} or newer");
    }
    let mut made = vec![
        tarball::make(&release)?,
        image::make(&release, None)?,
        components::write(&release, &cargo_metadata()?)?,
    ];
    if browser.is_some() {
        made.push(image::make(&release, browser)?);
    }
    match deb::make(&release) {
        Ok(package) => made.push(package),
        Err(error) => println!("warning: no Debian package was made: {error}"),
    }
    fs::remove_dir_all(target.join("stage"))?;
    made.push(checksums(target, &made)?);
    Ok(made)
}

/// Builds the program with the profile `dist`, whose `--version` names the commit.
fn build(commit: &str, day: &str) -> Result<PathBuf> {
    println!("building the program with the profile dist; this takes about 20 minutes on two processors");
    let version = format!("{} ({commit} {day})", env!("CARGO_PKG_VERSION"));
    let build = ["build", "--locked", "--profile", "dist", "--package", "websvc-cli", "--bin", "websvc"];
    let status = cargo().args(build).env("WEBSVC_BUILD", version).current_dir(root()).status()?;
    if !status.success() {
        return Err(format!("the build failed: {status}").into());
    }
    Ok(root().join("target/dist/websvc"))
}

/// Returns the short hash of the commit, its day, and its time.
fn commit() -> Result<(String, String, String)> {
    let format = ["log", "-1", "--format=%h %cs %ct"];
    let output = run_command(Command::new("git").args(format).current_dir(root()))?;
    let text = String::from_utf8(output.stdout)?;
    match &text.split_whitespace().collect::<Vec<_>>()[..] {
        [hash, day, time] => Ok(((*hash).to_owned(), (*day).to_owned(), (*time).to_owned())),
        _ => Err(format!("git log printed {text:?}").into()),
    }
}

fn cargo_metadata() -> Result<serde_json::Value> {
    let arguments = ["metadata", "--format-version", "1", "--locked"];
    let output = run_command(cargo().args(arguments).current_dir(root()))?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Writes the file that `sha256sum --check` reads.
fn checksums(target: &Path, files: &[PathBuf]) -> Result<PathBuf> {
    let names = files.iter().filter_map(|file| file.file_name());
    let output = run_command(Command::new("sha256sum").arg("--").args(names).current_dir(target))?;
    let path = target.join("SHA256SUMS");
    fs::write(&path, output.stdout)?;
    Ok(path)
}

/// Returns a `tar` command with which the same files become the same bytes.
fn reproducible_tar(time: &str) -> Command {
    let mut tar = Command::new("tar");
    tar.args(["--create", "--sort=name", "--numeric-owner", "--format=posix"]);
    tar.args(["--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime"]);
    tar.arg(format!("--mtime=@{time}"));
    tar
}

/// Copies a file, and creates the directories of the copy.
fn copy(from: &Path, to: &Path) -> Result {
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::copy(from, to).map_err(|error| format!("cannot copy {}: {error}", from.display()))?;
    Ok(())
}

fn set_mode(path: &Path, mode: u32) -> Result {
    use std::os::unix::fs::PermissionsExt;

    Ok(fs::set_permissions(path, fs::Permissions::from_mode(mode))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a directory with a program that prints its arguments, and the packages of it.
    fn packages(name: &str) -> (PathBuf, Vec<PathBuf>) {
        let dir = std::env::temp_dir().join(format!("websvc-dist-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).unwrap();
        let program = dir.join("websvc");
        let script = "#!/bin/sh\ncase \"$1\" in man) mkdir -p \"$3\"; echo page > \"$3/websvc.1\";; *) echo \"$@\";; esac\n";
        fs::write(&program, script).unwrap();
        set_mode(&program, 0o755).unwrap();
        let browser = dir.join("browser");
        fs::create_dir_all(browser.join("usr/lib/chromium")).unwrap();
        fs::write(browser.join("usr/lib/chromium/chromium-headless-shell"), "a browser").unwrap();
        let made = make(&program, &dir.join("packages"), "1700000000".to_owned(), Some(&browser)).unwrap();
        (dir, made)
    }

    fn listing(archive: &Path) -> String {
        let output = run_command(Command::new("tar").arg("-tvf").arg(archive)).unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn packages_have_their_files_and_are_the_same_each_time() {
        let (dir, made) = packages("files");
        let names: Vec<&str> = made.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert!(names.iter().any(|name| name.ends_with("-linux.tar.gz")), "{names:?}");
        let tarball = listing(&made[0]);
        for file in [
            "/websvc\n",
            "/LICENSE-MIT\n",
            "/man/websvc.1\n",
            "/completions/_websvc\n",
            "/systemd/websvc.service\n",
            "/websvc.toml\n",
        ] {
            assert!(tarball.contains(file), "{file} {tarball}");
        }
        assert!(tarball.lines().all(|line| line.contains(" 0/0 ")), "{tarball}");
        let sums = fs::read_to_string(dir.join("packages/SHA256SUMS")).unwrap();
        run_command(
            Command::new("sha256sum").args(["--check", "SHA256SUMS"]).current_dir(dir.join("packages")),
        )
        .unwrap();
        let (other, _) = packages("again");
        assert_eq!(fs::read_to_string(other.join("packages/SHA256SUMS")).unwrap(), sums);
        fs::remove_dir_all(other).unwrap();
        fs::remove_dir_all(dir).unwrap();
    }

    /// Checks that an image refers to its blobs by their digests. Returns its configuration, and the listings of its layers.
    fn check_image(dir: &Path, archive: &Path) -> (serde_json::Value, Vec<String>) {
        let unpacked = dir.join(archive.file_stem().unwrap());
        fs::create_dir(&unpacked).unwrap();
        run_command(Command::new("tar").arg("-xf").arg(archive).arg("-C").arg(&unpacked)).unwrap();
        let read = |path: &str| -> serde_json::Value {
            serde_json::from_slice(&fs::read(unpacked.join(path)).unwrap()).unwrap()
        };
        let blob = |digest: &serde_json::Value| digest.as_str().unwrap().replace("sha256:", "blobs/sha256/");
        assert_eq!(read("oci-layout")["imageLayoutVersion"], "1.0.0");
        let manifest = read(&blob(&read("index.json")["manifests"][0]["digest"]));
        let config = read(&blob(&manifest["config"]["digest"]));
        let layers = manifest["layers"].as_array().unwrap();
        assert_eq!(config["rootfs"]["diff_ids"].as_array().unwrap().len(), layers.len());
        let mut listings = Vec::new();
        for (at, described) in layers.iter().enumerate() {
            let layer = blob(&described["digest"]);
            let sum = run_command(Command::new("sha256sum").arg(unpacked.join(&layer))).unwrap();
            assert!(layer.ends_with(std::str::from_utf8(&sum.stdout[..64]).unwrap()));
            let size = described["size"].as_u64().unwrap();
            assert_eq!(fs::metadata(unpacked.join(&layer)).unwrap().len(), size);
            // `docker load` reads this file.
            assert_eq!(read("manifest.json")[0]["Layers"][at], layer.as_str());
            listings.push(listing(&unpacked.join(&layer)));
        }
        (config, listings)
    }

    #[test]
    fn images_run_the_program_as_a_user_and_one_has_a_browser() {
        let (dir, made) = packages("image");
        let is_image = |path: &&PathBuf| path.to_str().unwrap().ends_with(".oci.tar");
        let images: Vec<&PathBuf> = made.iter().filter(is_image).collect();
        let [plain, browser] = images[..] else { panic!("{images:?}") };
        assert!(browser.to_str().unwrap().ends_with("-chromium.oci.tar"));
        for (image, layers) in [(plain, 1), (browser, 2)] {
            let (config, listings) = check_image(&dir, image);
            assert_eq!(config["config"]["User"], "10001:10001");
            assert_eq!(config["config"]["Healthcheck"]["Test"][1], "/usr/bin/websvc");
            assert_eq!(listings.len(), layers);
            let files = listings.last().unwrap();
            assert!(files.contains("10001/10001") && files.contains("./var/lib/websvc/"), "{files}");
            assert!(files.contains("./usr/bin/websvc\n") && files.contains("drwxrwxrwt"), "{files}");
            let has_browser = listings[0].contains("./usr/lib/chromium/chromium-headless-shell\n");
            assert_eq!(has_browser, layers == 2, "{}", listings[0]);
        }
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn debian_package_has_a_user_a_unit_and_a_configuration_that_upgrades_keep() {
        let (dir, made) = packages("deb");
        let Some(package) = made.iter().find(|path| path.extension().is_some_and(|end| end == "deb")) else {
            println!("skipped: dpkg-deb is not installed");
            return;
        };
        let list = |option: &str| {
            let output = run_command(Command::new("dpkg-deb").arg(option).arg(package)).unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let files = list("--contents");
        for file in [
            "./usr/bin/websvc\n",
            "./usr/lib/systemd/system/websvc.service\n",
            "./etc/websvc/websvc.toml\n",
            "./usr/share/man/man1/websvc.1.gz\n",
        ] {
            assert!(files.contains(file), "{file} {files}");
        }
        assert!(list("--info").contains("conffiles"));
        let scripts = dir.join("scripts");
        run_command(Command::new("dpkg-deb").arg("--control").arg(package).arg(&scripts)).unwrap();
        for script in ["postinst", "prerm", "postrm"] {
            run_command(Command::new("sh").arg("-n").arg(scripts.join(script))).unwrap();
        }
        fs::remove_dir_all(dir).unwrap();
    }
}
