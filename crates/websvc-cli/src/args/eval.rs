//! The arguments of `websvc eval`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Remote;

#[derive(Debug, Subcommand)]
pub(crate) enum EvalCommand {
    /// Print nDCG@10 and recall@100 of searches, on this machine or through a server
    Search(EvalSearch),
}

#[derive(Debug, Args)]
pub(crate) struct EvalSearch {
    /// Queries: lines of JSON with `_id` and `text`, or of an ID, a tab and a text
    #[arg(long, value_name = "FILE")]
    pub(crate) queries: PathBuf,
    /// Judgments in the format of TREC: lines of a query's ID, 0, a URL and a grade
    #[arg(long, value_name = "FILE")]
    pub(crate) qrels: PathBuf,
    /// Print the figures as JSON, also those of each query
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}
