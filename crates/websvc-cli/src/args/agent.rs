//! The arguments of `websvc agent`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use websvc_types::agent::AgentEffort;
use websvc_types::limits::{AGENT_CREDITS_MAX, AGENT_CREDITS_MIN, AGENT_LIST_LIMIT};

use super::common::{ServerArgs, server_help, wire_name};

#[derive(Debug, Args)]
#[command(subcommand_negates_reqs = true)]
#[command(mut_args(server_help("Server that runs the agent")))]
pub(crate) struct Agent {
    #[command(subcommand)]
    pub(crate) command: Option<AgentCommand>,
    #[command(flatten)]
    pub(crate) start: StartAgent,
    #[command(flatten)]
    pub(crate) at: ServerArgs,
    /// Print the response as JSON, and no steps
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// A run to start.
#[derive(Debug, Args)]
pub(crate) struct StartAgent {
    /// Task in words, such as "What do the teas of this shop cost?"
    #[arg(required = true)]
    pub(crate) prompt: Option<String>,
    /// JSON Schema of the data; `-` reads it from stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// Start with this page; repeat for several
    #[arg(long = "url", value_name = "URL")]
    pub(crate) urls: Vec<String>,
    /// Read only the pages given with --url
    #[arg(long, requires = "urls")]
    pub(crate) strict: bool,
    /// Maximum of credits, 1 to 1000000; a run that would need more fails and costs nothing [default: 2500]
    #[arg(
        long,
        value_name = "NUMBER",
        value_parser = clap::value_parser!(u64).range(AGENT_CREDITS_MIN..=AGENT_CREDITS_MAX)
    )]
    pub(crate) max_credits: Option<u64>,
    /// Bound on the work [default: medium]
    #[arg(long, value_name = "EFFORT", value_parser = wire_name::<AgentEffort>(&["low", "medium", "high"]))]
    pub(crate) effort: Option<AgentEffort>,
    /// Allow the run to click, type and submit on pages in a browser
    #[arg(long)]
    pub(crate) allow_interact: bool,
    /// Continue this thread of earlier runs
    #[arg(long, value_name = "ID")]
    pub(crate) thread: Option<String>,
    /// Write the data, or with --json the response, to this file instead of stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// List the runs of the team, the newest first
    List {
        /// Maximum number of runs
        #[arg(
            long,
            value_name = "NUMBER",
            default_value_t = AGENT_LIST_LIMIT,
            value_parser = clap::value_parser!(u64).range(1..)
        )]
        limit: u64,
    },
    /// Show the status of a run, and its data
    Status {
        /// ID of the run
        id: String,
    },
    /// Show the steps of a run, and the sources of its data
    Trace {
        /// ID of the run
        id: String,
    },
    /// Cancel a run
    Cancel {
        /// ID of the run
        id: String,
    },
}
