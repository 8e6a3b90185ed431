//! The arguments of `websvc feedback`.

use std::path::PathBuf;

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum FeedbackCommand {
    /// List the last feedback, the newest first
    List {
        /// List only the feedback of this team
        #[arg(long, value_name = "NAME")]
        team: Option<String>,
        /// Maximum number of entries
        #[arg(long, value_name = "NUMBER", default_value_t = 50)]
        limit: u32,
        /// Print the feedback as JSON, with all its parts
        #[arg(long)]
        json: bool,
    },
    /// Write the sources that clients found valuable as relevance judgments: `qrels.txt` (TREC) and `queries.jsonl`
    Export {
        /// Directory for the files; created if it does not exist
        #[arg(value_name = "DIRECTORY")]
        directory: PathBuf,
        /// Export only the feedback of this team
        #[arg(long, value_name = "NAME")]
        team: Option<String>,
        /// Print the counts as JSON
        #[arg(long)]
        json: bool,
    },
}
