//! Arguments of `websvc init`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// File to write
    #[arg(long, value_name = "FILE", default_value = "websvc.toml")]
    pub(crate) output: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
    /// Take the default answers instead of asking
    #[arg(long)]
    pub(crate) yes: bool,
}
