//! `websvc webhooks`.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Webhooks {
    /// Lists the events that were tried as often as they may be, of all teams or of one.
    DeadLetters {
        /// Only those of this team.
        #[arg(long, value_name = "NAME")]
        team: Option<String>,
        /// Prints the events as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Has an event tried anew, or all of them; a running server begins within seconds.
    Retry {
        /// The identifier that `webhooks dead-letters` shows.
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        id: Option<String>,
        /// All of them.
        #[arg(long)]
        all: bool,
        /// With --all, only those of this team.
        #[arg(long, value_name = "NAME")]
        team: Option<String>,
        /// Prints the count as JSON.
        #[arg(long)]
        json: bool,
    },
}
