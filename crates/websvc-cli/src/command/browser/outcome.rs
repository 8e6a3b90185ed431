//! The outcome of code: its outputs on the terminal and the exit code of the command.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use anyhow::Result;
use websvc::types::interact::{ExecuteResponse, InteractLanguage};

use crate::output::{self, printable};

/// The failure of code whose outputs are printed already.
#[derive(Debug, thiserror::Error)]
#[error("the code failed with the exit code {0}")]
pub(crate) struct FailedCode(u8);

impl FailedCode {
    /// Returns the exit code of the command.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.0)
    }
}

/// Prints the outputs of code, and the value of its last expression.
pub(super) fn print(response: &ExecuteResponse, language: InteractLanguage, json: bool) -> Result<()> {
    if json {
        return output::json(response);
    }
    let ExecuteResponse { stdout, stderr, result, truncated, warning, .. } = response;
    write_text(stdout)?;
    // Without a value, the result is the standard output again.
    let value =
        result.as_deref().filter(|value| language == InteractLanguage::Node && *value != stdout.trim());
    if let Some(value) = value {
        write_text(value)?;
    }
    if !stderr.is_empty() {
        let lines: Vec<String> = stderr.trim_end().lines().map(printable).collect();
        output::note(&lines.join("\n"));
    }
    warning.iter().for_each(|warning| output::warn(warning));
    if *truncated == Some(true) {
        output::warn("an output was cut at 1 MiB");
    }
    Ok(())
}

/// Checks that code has succeeded.
///
/// # Errors
/// [`FailedCode`] with the exit code; 1 for one that processes cannot have.
pub(super) fn check(response: &ExecuteResponse) -> Result<()> {
    match u8::try_from(response.exit_code) {
        Ok(0) if !response.killed => Ok(()),
        Ok(0) | Err(_) => Err(FailedCode(1).into()),
        Ok(code) => Err(FailedCode(code).into()),
    }
}

/// Writes a text to stdout, with a line break at its end. On a terminal, a page must not control it.
fn write_text(text: &str) -> Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    output::on_stdout(|out| {
        if out.is_terminal() {
            for line in text.lines() {
                writeln!(out, "{}", printable(line))?;
            }
            return Ok(());
        }
        out.write_all(text.as_bytes())?;
        if text.ends_with('\n') { Ok(()) } else { out.write_all(b"\n") }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_code_is_that_of_the_code() {
        let check = |exit_code, killed, expected: Option<u8>| {
            let response = ExecuteResponse { exit_code, killed, ..ExecuteResponse::default() };
            let failed = check(&response).err().map(|error| error.downcast::<FailedCode>().unwrap().0);
            assert_eq!(failed, expected, "{exit_code}");
        };
        check(0, false, None);
        check(0, true, Some(1));
        check(7, false, Some(7));
        check(124, true, Some(124));
        check(-9, false, Some(1));
        check(1000, false, Some(1));
    }
}
