//! The arguments of `websvc webhooks`.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum WebhooksCommand {
    /// List the events that could not be delivered after the last attempt
    DeadLetters {
        /// List only the events of this team
        #[arg(long, value_name = "NAME")]
        team: Option<String>,
        /// Print the events as JSON
        #[arg(long)]
        json: bool,
    },
    /// Retry the delivery of one event or of all; a running server starts within seconds
    Retry {
        /// Id of the event, as shown by `webhooks dead-letters`
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        id: Option<String>,
        /// Retry all events
        #[arg(long)]
        all: bool,
        /// With --all, retry only the events of this team
        #[arg(long, value_name = "NAME")]
        team: Option<String>,
        /// Print the count as JSON
        #[arg(long)]
        json: bool,
    },
}
