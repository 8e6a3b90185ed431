//! Arguments about the sources of search results.

use clap::{Args, Subcommand};

/// Presets in addition to the configured sources.
#[derive(Debug, Default, Args)]
pub(crate) struct PresetArgs {
    /// Search these ready-made sources too: open for the public APIs that need no key, or names of `websvc sources list`
    #[arg(long = "sources", value_name = "NAME", value_delimiter = ',')]
    pub(crate) names: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SourcesCommand {
    /// List the configured sources and the presets
    List {
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the definition of a preset, as a section of a configuration file
    Show {
        /// Name of the preset
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Search for a common word with these presets, or with all remote sources of the configuration
    Test {
        /// Names of presets, or open
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// Print the findings as JSON
        #[arg(long)]
        json: bool,
    },
}
