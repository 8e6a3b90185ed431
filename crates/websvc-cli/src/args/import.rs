//! The arguments of `websvc index import`.

use std::path::PathBuf;

use clap::Args;
use url::Url;

use super::Remote;

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Files and directories
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// URL that each given directory corresponds to [default: file://...]
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<Url>,
    #[command(flatten)]
    pub(crate) filters: ImportFilters,
    /// File that keeps the position in the inputs; the same command continues there after an interruption
    #[arg(long, value_name = "FILE")]
    pub(crate) resume: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// The pages that an import takes.
#[derive(Debug, Default, Args)]
pub(crate) struct ImportFilters {
    /// Import only pages in these languages, such as en,de
    #[arg(long = "language", value_name = "CODES", value_delimiter = ',')]
    pub(crate) languages: Vec<String>,
    /// Import only pages of the hosts in this file, one per line, and of their subdomains
    #[arg(long, value_name = "FILE")]
    pub(crate) hosts: Option<PathBuf>,
    /// Import only pages with at least this many words
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) min_words: usize,
    /// Import only pages that consist of text: leaves out short, repeated and garbled ones
    #[arg(long)]
    pub(crate) quality: bool,
}
