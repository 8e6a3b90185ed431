//! The test programs of the workspace.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::cargo::linting_cargo;
use crate::{Result, root};

/// A program with the tests of one target of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TestProgram {
    pub(super) package: String,
    /// The options of cargo that select it in its package, such as `--test it`.
    pub(super) target: String,
    executable: PathBuf,
    /// The directory of the package, in which the program runs.
    directory: PathBuf,
}

impl TestProgram {
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.executable);
        command.current_dir(&self.directory).env("CARGO_MANIFEST_DIR", &self.directory);
        command
    }

    /// Returns the name and target, such as `websvc-cli --test it`.
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.package, self.target)
    }
}

/// Returns the programs that `cargo test --workspace --tests` would run. Builds them, if they are missing.
pub(super) fn of_workspace() -> Result<Vec<TestProgram>> {
    let arguments = ["test", "--workspace", "--tests", "--no-run", "--message-format", "json"];
    let output = linting_cargo()?.args(arguments).current_dir(root()).output()?;
    if !output.status.success() {
        return Err(
            format!("cargo built no test programs: {}", String::from_utf8_lossy(&output.stderr)).into()
        );
    }
    let programs: Vec<_> = output.stdout.split(|&byte| byte == b'\n').filter_map(read).collect();
    if programs.is_empty() {
        return Err("cargo built no test programs".into());
    }
    Ok(programs)
}

/// Reads a message of cargo; returns `None` if it is not about a test program.
fn read(line: &[u8]) -> Option<TestProgram> {
    let message: Value = serde_json::from_slice(line).ok()?;
    if message["profile"]["test"] != true {
        return None;
    }
    let executable = PathBuf::from(message["executable"].as_str()?);
    let directory = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    let package = directory.file_name()?.to_str()?.to_owned();
    let name = message["target"]["name"].as_str()?;
    let target = match message["target"]["kind"][0].as_str()? {
        "lib" => "--lib".to_owned(),
        kind => format!("--{kind} {name}"),
    };
    Some(TestProgram { package, target, executable, directory })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_about_test_programs_are_read() {
        let message = r#"{"reason":"compiler-artifact","manifest_path":"/w/crates/tea/Cargo.toml",
            "target":{"kind":["test"],"name":"it"},"profile":{"test":true},"executable":"/w/target/it-1"}"#;
        let program = read(message.as_bytes()).unwrap();
        assert_eq!(
            (program.name().as_str(), program.directory.to_str()),
            ("tea --test it", Some("/w/crates/tea"))
        );
        for other in [
            message.replace("true", "false"),
            message.replace(r#""/w/target/it-1""#, "null"),
            "warning".into(),
        ] {
            assert_eq!(read(other.as_bytes()), None, "{other}");
        }
    }
}
