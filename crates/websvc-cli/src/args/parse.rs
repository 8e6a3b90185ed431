//! The arguments of `websvc parse`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Parse {
    /// Files to convert: documents, spreadsheets, books, web pages, text
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Output format: markdown, html, rawHtml, links or images; repeat for several [default: markdown]
    #[arg(long = "format", value_name = "FORMAT", conflicts_with = "output", value_parser = super::format_name(),
          hide_possible_values = true)]
    pub(crate) formats: Vec<String>,
    /// Keep headers, navigation and footers of web pages
    #[arg(long)]
    pub(crate) full_page: bool,
    /// Write each file as Markdown into this directory; created if it does not exist
    #[arg(long, value_name = "DIR", conflicts_with = "jsonl")]
    pub(crate) output: Option<PathBuf>,
    /// Print one line of JSON per file
    #[arg(long)]
    pub(crate) jsonl: bool,
}
