//! Extracts files from Debian packages without installing them and without root.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::Result;
use crate::cache::Cache;

/// Downloads a package and unpacks its files into `into`.
pub(crate) fn unpack(cache: &Cache, package: &str, into: &Path) -> Result {
    let apt = Apt::prepare(cache, package)?;
    let downloads = cache.create_empty_dir("apt/download")?;
    apt.run("apt-get", &["download", package], &downloads)?;
    for entry in fs::read_dir(&downloads)? {
        let file = entry?.path();
        run(Command::new("dpkg").arg("-x").arg(&file).arg(into))?;
    }
    fs::remove_dir_all(&downloads)?;
    Ok(())
}

/// Maximum size of packages that are downloaded with their dependencies, in bytes.
const MAX_DOWNLOAD_BYTES: u64 = 600 * 1024 * 1024;

/// Downloads packages and all that they depend on, as if nothing were installed. `apt` checks their signatures.
/// Returns their files, sorted, in the cache folder.
pub(crate) fn download_with_dependencies(cache: &Cache, packages: &[&str]) -> Result<Vec<PathBuf>> {
    let mut apt = Apt::prepare(cache, packages[0])?;
    let dir = cache.create_empty_dir("apt/with-dependencies")?;
    fs::create_dir_all(dir.join("archives/partial"))?;
    fs::write(dir.join("status"), "")?;
    apt.options.extend([
        option("Dir::State::status", &dir.join("status")),
        option("Dir::Cache", &dir),
        "Debug::NoLocking=1".to_owned(),
        "Acquire::http::Timeout=60".to_owned(),
        "Acquire::Retries=2".to_owned(),
    ]);
    let install = ["install", "--no-install-recommends", "--yes"];
    let listed = apt.run("apt-get", &[&install[..], &["--print-uris"], packages].concat(), cache.dir())?;
    let bytes = listed_bytes(&String::from_utf8_lossy(&listed.stdout));
    if bytes > MAX_DOWNLOAD_BYTES {
        return Err(
            format!("{} need {bytes} bytes, more than {MAX_DOWNLOAD_BYTES}", packages.join(" ")).into()
        );
    }
    apt.run("apt-get", &[&install[..], &["--download-only"], packages].concat(), cache.dir())?;
    let entries = fs::read_dir(dir.join("archives"))?.map(|entry| Ok(entry?.path()));
    let mut files: Vec<PathBuf> = entries.collect::<Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "deb"));
    files.sort_unstable();
    Ok(files)
}

/// Returns the sum of the sizes that `apt-get --print-uris` lists: `'URI' NAME SIZE HASH`.
fn listed_bytes(text: &str) -> u64 {
    let lines = text.lines().filter(|line| line.starts_with('\''));
    lines.filter_map(|line| line.split_whitespace().nth(2)?.parse::<u64>().ok()).sum()
}

/// Returns the packages that `package` depends on.
pub(crate) fn dependencies(cache: &Cache, package: &str) -> Result<Vec<String>> {
    let apt = Apt::prepare(cache, package)?;
    let output = apt.run("apt-cache", &["depends", package], cache.dir())?;
    Ok(parse_dependencies(&String::from_utf8_lossy(&output.stdout)))
}

fn parse_dependencies(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| line.trim().strip_prefix("Depends: ")).map(str::to_owned).collect()
}

/// The apt programs and the options that select the package lists: those of the machine, or a copy in the cache folder.
struct Apt {
    options: Vec<String>,
}

impl Apt {
    /// Downloads package lists into the cache folder if those of the machine do not have the package.
    fn prepare(cache: &Cache, package: &str) -> Result<Self> {
        let system = Self { options: Vec::new() };
        if system.has_package(package, cache)? {
            return Ok(system);
        }
        let lists = cache.dir().join("apt/lists");
        fs::create_dir_all(lists.join("partial"))?;
        let archives = cache.dir().join("apt/cache");
        fs::create_dir_all(archives.join("archives/partial"))?;
        let cached =
            Self { options: vec![option("Dir::State::lists", &lists), option("Dir::Cache", &archives)] };
        cached.run("apt-get", &["update"], cache.dir())?;
        Ok(cached)
    }

    fn has_package(&self, package: &str, cache: &Cache) -> Result<bool> {
        let output = self.run("apt-cache", &["policy", package], cache.dir())?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.lines().any(|line| line.trim().starts_with("Candidate:") && !line.contains("(none)")))
    }

    fn run(&self, program: &str, arguments: &[&str], dir: &Path) -> Result<Output> {
        let options = self.options.iter().map(|option| format!("-o{option}"));
        run(Command::new(program).args(options).args(arguments).current_dir(dir).env("LC_ALL", "C"))
    }
}

fn option(name: &str, path: &Path) -> String {
    format!("{name}={}", path.display())
}

/// Runs a command and waits for its end. The error of a failed command contains its standard error.
pub(crate) fn run(command: &mut Command) -> Result<Output> {
    let program = PathBuf::from(command.get_program());
    let program = program.display();
    let output = command.output().map_err(|error| format!("cannot run {program}: {error}"))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{program} failed ({}): {}", output.status, stderr.trim()).into());
    }
    Ok(output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_listed_packages_are_added() {
        let text = "Reading package lists...\n'http://deb.test/a_1_amd64.deb' a_1_amd64.deb 1200 SHA256:0a\n\
                    'http://deb.test/b_2_all.deb' b_2_all.deb 34 SHA256:0b\n";
        assert_eq!(listed_bytes(text), 1234);
    }

    #[test]
    fn parse_dependencies_ignores_suggested_packages() {
        let text =
            "python3-doc\n  Depends: python3.11-doc\n  Depends: python3\n  Suggests: python3-examples\n";
        assert_eq!(parse_dependencies(text), ["python3.11-doc", "python3"]);
    }
}
