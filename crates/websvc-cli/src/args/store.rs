//! The arguments of `websvc store`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Copy the database of a data directory to a PostgreSQL server; continues after an interruption
    Migrate(MigrateStore),
}

#[derive(Debug, Args)]
pub(crate) struct MigrateStore {
    /// Data directory with the database; stop the service that uses it
    #[arg(long, value_name = "DIR")]
    pub(crate) from: PathBuf,
    /// URL of the database on the server, without rows [default: store.url of the configuration]
    // A text, because clap would show a URL that cannot be parsed, with its password.
    #[arg(long, value_name = "URL")]
    pub(crate) to: Option<String>,
    /// Delete the rows that an unfinished migration has copied to the server, and begin again
    #[arg(long)]
    pub(crate) restart: bool,
    /// Print the summary as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
