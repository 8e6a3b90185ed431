//! The program and the files that it makes about itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{copy, set_mode};
use crate::Result;
use crate::debian::run as run_command;

/// The program, stripped, with its completions and manual pages.
pub(super) struct Program {
    pub(super) path: PathBuf,
    /// The shared libraries that it loads, with the loader.
    pub(super) libraries: Vec<PathBuf>,
    /// The oldest glibc that has all symbols it needs; `None` if it needs none.
    pub(super) glibc: Option<String>,
    /// Completions of bash, fish and zsh, under the names that these look for.
    pub(super) completions: PathBuf,
    pub(super) manual: PathBuf,
}

impl Program {
    /// Copies the program into a directory, and lets it print its files.
    pub(super) fn prepare(program: &Path, stage: &Path) -> Result<Self> {
        let path = stage.join("websvc");
        copy(program, &path)?;
        set_mode(&path, 0o755)?;
        // A script, as in the tests, has no symbols.
        let _ = Command::new("strip").arg(&path).output();
        let (completions, manual) = (stage.join("completions"), stage.join("man"));
        fs::create_dir_all(&completions)?;
        for (shell, name) in [("bash", "websvc.bash"), ("fish", "websvc.fish"), ("zsh", "_websvc")] {
            let output = run_command(Command::new(&path).args(["completions", shell]))?;
            fs::write(completions.join(name), output.stdout)?;
        }
        run_command(Command::new(&path).args(["man", "--output"]).arg(&manual))?;
        Ok(Self { libraries: libraries(&path), glibc: glibc(&path), path, completions, manual })
    }
}

/// Returns the libraries that `ldd` lists; none for a static program.
fn libraries(program: &Path) -> Vec<PathBuf> {
    let Ok(output) = run_command(Command::new("ldd").arg(program)) else { return Vec::new() };
    parse_libraries(&String::from_utf8_lossy(&output.stdout))
}

fn parse_libraries(text: &str) -> Vec<PathBuf> {
    let path = |line: &str| line.split_whitespace().find(|word| word.starts_with('/')).map(PathBuf::from);
    text.lines().filter_map(path).collect()
}

/// Returns the newest version of glibc among the symbols of a program.
fn glibc(program: &Path) -> Option<String> {
    let output = run_command(Command::new("objdump").arg("-T").arg(program)).ok()?;
    newest_glibc(&String::from_utf8_lossy(&output.stdout))
}

fn newest_glibc(symbols: &str) -> Option<String> {
    let versions = symbols.split("GLIBC_").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let mut numbers = rest[..end].split('.').map(str::parse::<u32>);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    });
    versions.max().map(|(major, minor)| format!("{major}.{minor}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_and_the_oldest_glibc_are_read() {
        let ldd = "\tlinux-vdso.so.1 (0x7)\n\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x7)\n\t/lib64/ld-linux-x86-64.so.2 (0x7)\n";
        let expected = ["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"];
        assert_eq!(parse_libraries(ldd), expected.map(PathBuf::from));
        let symbols =
            "0 DF *UND* 0 (GLIBC_2.2.5) read\n0 DF *UND* 0 (GLIBC_2.34) x\n0 DF *UND* 0 (GLIBC_2.9) y\n";
        assert_eq!(newest_glibc(symbols).as_deref(), Some("2.34"));
        assert_eq!(newest_glibc("no symbols"), None);
    }
}
