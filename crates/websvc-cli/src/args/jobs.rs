//! The arguments of `websvc crawl` and `websvc batch`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use websvc_types::format::Markdown;
use websvc_types::job::SitemapMode;
use websvc_types::{Format, ScrapeOptions};

use super::Remote;
use super::common::wire_name;
use super::map::SITEMAP_USES;
use crate::render_args::PageArgs;

#[derive(Debug, Args)]
pub(crate) struct CrawlSite {
    /// Start URL; the crawl stays below its directory
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    pub(crate) url: Option<String>,
    /// Maximum number of pages
    #[arg(long, value_name = "NUMBER", default_value_t = websvc_types::limits::CRAWL_LIMIT_DEFAULT)]
    pub(crate) limit: u64,
    /// Maximum number of links between the start URL and a page [default: unlimited]
    #[arg(long, value_name = "LINKS")]
    pub(crate) depth: Option<u32>,
    #[command(flatten)]
    pub(crate) patterns: Patterns,
    /// Include pages outside the directory of the start URL
    #[arg(long)]
    pub(crate) entire_domain: bool,
    /// Include pages of subdomains
    #[arg(long)]
    pub(crate) subdomains: bool,
    /// Include pages of other hosts
    #[arg(long)]
    pub(crate) external: bool,
    /// Use of sitemaps: include their URLs, use only their URLs, or skip them [default: include]
    #[arg(long, value_name = "USE", value_parser = wire_name::<SitemapMode>(SITEMAP_USES))]
    pub(crate) sitemap: Option<SitemapMode>,
    /// Ignore the query of URLs
    #[arg(long)]
    pub(crate) ignore_query: bool,
    /// Treat similar spellings of a URL as different pages
    #[arg(long)]
    pub(crate) keep_similar: bool,
    /// Delay between two pages in seconds, at most 60
    #[arg(long, value_name = "SECONDS")]
    pub(crate) delay: Option<f64>,
    #[command(flatten)]
    pub(crate) job: JobArguments,
}

/// The path patterns of `crawl` and `index crawl`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Patterns {
    /// Include only pages whose path matches this regular expression, such as ^/docs/; repeat for several
    #[arg(long, value_name = "REGEX")]
    pub(crate) include: Vec<String>,
    /// Exclude pages whose path matches this regular expression; repeat for several
    #[arg(long, value_name = "REGEX")]
    pub(crate) exclude: Vec<String>,
    /// Match the regular expressions against the whole URL
    #[arg(long)]
    pub(crate) regex_on_full_url: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Batch {
    /// URLs to scrape
    #[arg(value_name = "URL", required_unless_present_any = ["resume", "list"], conflicts_with = "resume")]
    pub(crate) urls: Vec<String>,
    /// Read more URLs from FILE, or from stdin with -; one per line; empty lines and lines starting with # are ignored
    #[arg(long = "urls", id = "list", value_name = "FILE", conflicts_with = "resume")]
    pub(crate) list: Option<PathBuf>,
    /// Accept pages that responded with a status of 400 or above instead of failing
    #[arg(long)]
    pub(crate) allow_errors: bool,
    #[command(flatten)]
    pub(crate) job: JobArguments,
}

/// Arguments of crawls and batches.
#[derive(Debug, Args)]
pub(crate) struct JobArguments {
    /// Maximum number of concurrent pages [default: the limit of the service]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) concurrency: Option<u32>,
    /// Resume the job with this id and write all its pages from the first
    #[arg(long, value_name = "ID")]
    pub(crate) resume: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) pages: PageArgs,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// Output of the pages. Without any of these arguments, their Markdown is printed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Write each page as a Markdown file into this directory, with other formats next to it
    #[arg(long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Replace existing files, including those not written by this command
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Write one line of JSON per page into FILE, or to stdout with -
    #[arg(long, value_name = "FILE")]
    pub(crate) jsonl: Option<PathBuf>,
    /// Print the final status of the job as JSON, and no pages
    #[arg(long)]
    pub(crate) json: bool,
    /// List all failed pages, not only the first ones
    #[arg(long)]
    pub(crate) errors: bool,
}

impl JobArguments {
    /// Returns the scrape options of each page, which include Markdown if pages are written to files.
    pub(crate) fn scrape_options(&self) -> Result<ScrapeOptions> {
        let mut options = self.pages.options()?;
        let formats = options.formats.get_or_insert_default();
        let is_markdown = |format: &Format| matches!(format, Format::Markdown(_));
        if self.output.output.is_some() && !formats.iter().any(is_markdown) {
            formats.push(Format::Markdown(Markdown::default()));
        }
        Ok(options)
    }
}
