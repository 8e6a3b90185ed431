//! `websvc completions` and `websvc man`: files for shells and for `man`.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::output;

/// Prints the completions of a shell.
pub(crate) fn completions(mut program: Command, shell: Shell) -> Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut program, "websvc", &mut text);
    output::on_stdout(|out| out.write_all(&text))
}

/// Prints the manual page of the program, or writes the pages of all commands into a directory.
pub(crate) fn man(program: Command, directory: Option<&Path>) -> Result<()> {
    let Some(directory) = directory else {
        let mut text = Vec::new();
        Man::new(program).render(&mut text)?;
        return output::on_stdout(|out| out.write_all(&text));
    };
    std::fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    clap_mangen::generate_to(program, directory)
        .with_context(|| format!("cannot write the manual pages into {}", directory.display()))
}
