//! The arguments of `websvc crawl` and `websvc batch`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use websvc_types::format::Markdown;
use websvc_types::{Format, ScrapeOptions};

use super::{Remote, Sitemap};
use crate::render_args::PageArgs;

#[derive(Debug, Args)]
pub(crate) struct CrawlSite {
    /// Start URL; the crawl stays below its directory
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    pub(crate) url: Option<String>,
    /// How many pages at most.
    #[arg(long, value_name = "NUMBER", default_value_t = websvc_types::limits::CRAWL_LIMIT_DEFAULT)]
    pub(crate) limit: u64,
    /// At most so many links from the start [default: no bound].
    #[arg(long, value_name = "LINKS")]
    pub(crate) depth: Option<u32>,
    #[command(flatten)]
    pub(crate) patterns: Patterns,
    /// Takes pages outside of the directory of the start, too.
    #[arg(long)]
    pub(crate) entire_domain: bool,
    /// Takes pages of subdomains, too.
    #[arg(long)]
    pub(crate) subdomains: bool,
    /// Takes pages of other hosts, too.
    #[arg(long)]
    pub(crate) external: bool,
    /// Takes pages of sitemaps beside others, alone, or not [default: include].
    #[arg(long, value_name = "USE")]
    pub(crate) sitemap: Option<Sitemap>,
    /// Leaves out the query of addresses.
    #[arg(long)]
    pub(crate) ignore_query: bool,
    /// Takes usual spellings of one address for several pages.
    #[arg(long)]
    pub(crate) keep_similar: bool,
    /// Pauses so long between two pages, in seconds: at most 60.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) delay: Option<f64>,
    #[command(flatten)]
    pub(crate) job: JobArguments,
}

/// The pages of a site that are taken, for `crawl` and `index crawl` alike.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Patterns {
    /// Takes only pages in whose path this regular expression is found, such as ^/docs/; repeat for several.
    #[arg(long, value_name = "REGEX")]
    pub(crate) include: Vec<String>,
    /// Leaves out pages in whose path this regular expression is found; repeat for several.
    #[arg(long, value_name = "REGEX")]
    pub(crate) exclude: Vec<String>,
    /// Looks for the regular expressions in the whole address.
    #[arg(long)]
    pub(crate) regex_on_full_url: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Batch {
    /// The pages.
    #[arg(value_name = "URL", required_unless_present_any = ["resume", "list"], conflicts_with = "resume")]
    pub(crate) urls: Vec<String>,
    /// Reads further URLs from FILE, or from stdin with -: one a line; empty lines and those that begin with # are none.
    #[arg(long = "urls", id = "list", value_name = "FILE", conflicts_with = "resume")]
    pub(crate) list: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) job: JobArguments,
}

/// Arguments of crawls and batches.
#[derive(Debug, Args)]
pub(crate) struct JobArguments {
    /// At most so many pages at one time [default: as many as the service allows].
    #[arg(long, value_name = "NUMBER")]
    pub(crate) concurrency: Option<u32>,
    /// Goes on with a job that began before, by its identifier, and hands over its pages from the first.
    #[arg(long, value_name = "ID")]
    pub(crate) resume: Option<String>,
    #[command(flatten)]
    pub(crate) handing: OutputArgs,
    #[command(flatten)]
    pub(crate) pages: PageArgs,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// Output of the pages; without any of these, their Markdown is printed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Where pages go")]
pub(crate) struct OutputArgs {
    /// Writes a Markdown file for each page into this directory, with other formats beside it.
    #[arg(long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Replaces files that are in the way and are not of this command, too.
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Writes a line of JSON for each page into FILE, or prints it with -.
    #[arg(long, value_name = "FILE")]
    pub(crate) jsonl: Option<PathBuf>,
    /// Prints how the job stands at the end as JSON, and no pages.
    #[arg(long)]
    pub(crate) json: bool,
    /// Names all pages that could not be had, and not only the first.
    #[arg(long)]
    pub(crate) errors: bool,
}

impl JobArguments {
    /// Returns how each page is scraped. A file for each is a Markdown file.
    pub(crate) fn scrape_options(&self) -> Result<ScrapeOptions> {
        let mut options = self.pages.options()?;
        let formats = options.formats.get_or_insert_default();
        let is_text = |format: &Format| matches!(format, Format::Markdown(_));
        if self.handing.output.is_some() && !formats.iter().any(is_text) {
            formats.push(Format::Markdown(Markdown::default()));
        }
        Ok(options)
    }
}
