//! The directories of the machine that an interpreter sees, all of them read-only.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;
use tokio::time::timeout;

use super::{CHECK_TIMEOUT, InterpreterConfig, InterpreterError, SandboxConfig, last_lines};
use crate::program::Language;

/// The directory with the programs and libraries of the system.
const USR: &str = "/usr";

/// The directories next to it, which are links into it on most systems.
const SYSTEM: &[&str] = &["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// The maximum length of the first line of a script.
const MAX_FIRST_LINE_BYTES: u64 = 512;

/// Prints the directories of Python's libraries, one per line.
const PYTHON_DIRECTORIES: &str = "import sys\n\
    for path in {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}: print(path)";

/// The directories and links that the sandbox has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Exposure {
    /// The directories, none of them inside another one.
    pub(super) directories: Vec<PathBuf>,
    /// The links, each with its target.
    pub(super) links: Vec<(PathBuf, PathBuf)>,
}

impl Exposure {
    /// Finds the directories of an interpreter. Python, which the operator trusts, runs outside of the sandbox for that.
    pub(super) async fn find(
        config: &InterpreterConfig,
        sandbox: &SandboxConfig,
    ) -> Result<Self, InterpreterError> {
        let (mut directories, links) = system();
        directories.push(installation(&config.program)?);
        if let Language::Python = config.language {
            directories.extend(python_directories(&config.program).await?);
        }
        if let Some(library) = &config.library {
            directories.push(real_path(library)?);
        }
        let exposure = Self { directories: outermost(directories), links };
        exposure.check(&sandbox.hidden)?;
        Ok(exposure)
    }

    /// Finds the directories of programs and of the interpreters of those that are scripts.
    pub(crate) async fn of_programs(
        programs: &[PathBuf],
        sandbox: &SandboxConfig,
    ) -> Result<Self, InterpreterError> {
        let (mut directories, links) = system();
        for program in programs {
            directories.push(installation(program)?);
            let Some(interpreter) = script_interpreter(program) else { continue };
            directories.push(installation(&interpreter)?);
            if is_python(&interpreter) {
                directories.extend(python_directories(&interpreter).await?);
            }
        }
        let exposure = Self { directories: outermost(directories), links };
        exposure.check(&sandbox.hidden)?;
        Ok(exposure)
    }

    /// Checks that no directory contains a hidden file.
    fn check(&self, hidden: &[PathBuf]) -> Result<(), InterpreterError> {
        if let Some(root) = self.directories.iter().find(|directory| directory.parent().is_none()) {
            return Err(InterpreterError::Exposed { hidden: "every file".into(), exposed: root.clone() });
        }
        for path in hidden {
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            for exposed in &self.directories {
                let real_exposed = exposed.canonicalize().unwrap_or_else(|_| exposed.clone());
                if real.starts_with(&real_exposed) {
                    return Err(InterpreterError::Exposed { hidden: path.clone(), exposed: exposed.clone() });
                }
            }
        }
        Ok(())
    }

    /// Returns the directories that contain the exposed ones, outer ones first.
    pub(super) fn ancestors(&self) -> Vec<PathBuf> {
        let mut ancestors: Vec<PathBuf> = self
            .directories
            .iter()
            .flat_map(|directory| directory.ancestors().skip(1))
            .filter(|ancestor| ancestor.parent().is_some())
            .map(Path::to_owned)
            .collect();
        ancestors.sort();
        ancestors.dedup();
        ancestors
    }
}

/// Returns the directories of the system, and the links among them.
fn system() -> (Vec<PathBuf>, Vec<(PathBuf, PathBuf)>) {
    let mut directories = vec![PathBuf::from(USR)];
    let mut links = Vec::new();
    for path in SYSTEM.iter().map(PathBuf::from) {
        match std::fs::read_link(&path) {
            Ok(target) => links.push((path, target)),
            Err(_) if path.is_dir() => directories.push(path),
            Err(_) => {}
        }
    }
    (directories, links)
}

/// Returns the interpreter of a script that begins with `#!` and its absolute path. `env` is a program of the system, which
/// finds others of the system only.
fn script_interpreter(program: &Path) -> Option<PathBuf> {
    let mut start = Vec::new();
    File::open(program).ok()?.take(MAX_FIRST_LINE_BYTES).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let interpreter = std::str::from_utf8(line).ok()?.split_ascii_whitespace().next()?;
    Some(PathBuf::from(interpreter)).filter(|path| path.is_absolute())
}

fn is_python(interpreter: &Path) -> bool {
    interpreter.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"))
}

/// Returns the directory of the installation of a program: `/opt/node` for `/opt/node/bin/node`.
fn installation(program: &Path) -> Result<PathBuf, InterpreterError> {
    let real = real_path(program)?;
    let folder = real.parent().unwrap_or(&real);
    // Of a program that is not in a folder for programs, only its own folder.
    let is_bin = folder.ends_with("bin") && folder.parent().is_some_and(|parent| parent.parent().is_some());
    Ok(folder.parent().filter(|_| is_bin).unwrap_or(folder).to_owned())
}

fn real_path(path: &Path) -> Result<PathBuf, InterpreterError> {
    path.canonicalize().map_err(|_| InterpreterError::Path { path: path.to_owned(), expected: "a file" })
}

async fn python_directories(python: &Path) -> Result<Vec<PathBuf>, InterpreterError> {
    let mut command = Command::new(python);
    command.args(["-I", "-c", PYTHON_DIRECTORIES]).env_clear().stdin(Stdio::null()).kill_on_drop(true);
    let failed = |reason| InterpreterError::Program { path: python.to_owned(), reason };
    let output = timeout(CHECK_TIMEOUT, command.output()).await;
    let output =
        output.map_err(|_| failed(format!("it did not end within {} s", CHECK_TIMEOUT.as_secs())))?;
    let output = output.map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(last_lines(&String::from_utf8_lossy(&output.stderr))));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().map(PathBuf::from).filter(|path| path.is_absolute()).collect())
}

/// Removes the directories that are inside others.
fn outermost(mut directories: Vec<PathBuf>) -> Vec<PathBuf> {
    directories.sort();
    let mut outer: Vec<PathBuf> = Vec::new();
    for directory in directories {
        if !outer.iter().any(|other| directory.starts_with(other)) {
            outer.push(directory);
        }
    }
    outer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_inside_others_are_left_out() {
        let paths = ["/usr/lib/node", "/opt/python", "/usr", "/opt/python3"].map(PathBuf::from);
        let exposure = Exposure { directories: outermost(paths.to_vec()), links: Vec::new() };
        let expected: Vec<PathBuf> = ["/opt/python", "/opt/python3", "/usr"].map(PathBuf::from).to_vec();
        assert_eq!(exposure.directories, expected);
        assert_eq!(exposure.ancestors(), [PathBuf::from("/opt")]);
    }

    #[tokio::test(start_paused = true)]
    async fn python_that_does_not_end_is_killed() {
        // The clock goes on at once while the program waits.
        let folder = tempfile::tempdir().unwrap();
        let python = folder.path().join("python");
        std::fs::write(&python, "#!/bin/sh\nexec sleep 600\n").unwrap();
        std::fs::set_permissions(&python, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let error = python_directories(&python).await.unwrap_err().to_string();
        assert!(error.ends_with("python does not run: it did not end within 30 s"), "{error}");
    }

    #[test]
    fn interpreter_of_a_script_is_in_its_first_line() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("script");
        for (text, expected) in [
            ("#!/opt/tool/bin/python3\nimport sys", Some("/opt/tool/bin/python3")),
            ("#! /bin/sh -e\n", Some("/bin/sh")),
            ("#!python3\n", None),
            ("\u{7f}ELF", None),
            ("", None),
        ] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(script_interpreter(&file), expected.map(PathBuf::from), "{text:?}");
        }
    }

    #[test]
    fn hidden_files_must_not_be_visible() {
        let exposure = Exposure { directories: vec!["/usr".into(), "/opt/python".into()], links: Vec::new() };
        for (hidden, is_hidden) in [
            ("/var/lib/websvc", true),
            ("/opt/pythonic", true),
            ("/usr/local/websvc", false),
            ("/usr", false),
        ] {
            let checked = exposure.check(&[PathBuf::from(hidden)]);
            assert_eq!(checked.is_ok(), is_hidden, "{hidden}: {checked:?}");
        }
    }
}
