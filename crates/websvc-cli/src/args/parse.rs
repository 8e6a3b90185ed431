//! The arguments of `websvc parse`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Parse {
    /// The files: documents, tables, books, web pages, text.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// markdown, html, rawHtml, links or images; repeat for several [default: markdown].
    #[arg(long = "format", value_name = "FORMAT", conflicts_with = "output", value_parser = super::format_name(),
          hide_possible_values = true)]
    pub(crate) formats: Vec<String>,
    /// Keeps headers, navigation and footers of web pages.
    #[arg(long)]
    pub(crate) full_page: bool,
    /// Writes one Markdown file for each into this directory, which is made when it does not exist.
    #[arg(long, value_name = "DIR", conflicts_with = "jsonl")]
    pub(crate) output: Option<PathBuf>,
    /// Prints one line of JSON for each.
    #[arg(long)]
    pub(crate) jsonl: bool,
}
