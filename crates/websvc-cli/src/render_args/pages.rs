//! Arguments for the formats of pages, and all arguments for jobs with many pages.

use anyhow::Result;
use clap::Args;
use websvc_types::action::Pdf;
use websvc_types::format::Markdown;
use websvc_types::{Action, Format, ScrapeOptions};

use super::{LocationArgs, PageCaptureArgs, RenderArgs};
use crate::command::format;

/// Arguments for the formats of a page.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct FormatArgs {
    /// Output format: markdown, html, rawHtml, links or images; repeat for several [default: markdown]
    #[arg(long = "format", visible_alias = "formats", value_name = "FORMAT", value_delimiter = ',',
          value_parser = crate::args::format_name(), hide_possible_values = true)]
    formats: Vec<String>,
    /// Keep headers, navigation and footers
    #[arg(long)]
    full_page: bool,
    /// Fetch the page even if a cached copy is fresh
    #[arg(long)]
    fresh: bool,
}

impl FormatArgs {
    /// Returns the scrape options. Without formats, the list of formats is empty.
    pub(crate) fn options(&self) -> Result<ScrapeOptions> {
        let Self { formats, full_page, fresh } = self;
        let formats = formats.iter().map(|name| format(name)).collect::<Result<Vec<_>>>()?;
        Ok(ScrapeOptions {
            formats: Some(formats),
            only_main_content: Some(!full_page),
            max_age: fresh.then_some(0),
            ..ScrapeOptions::default()
        })
    }
}

/// Arguments for jobs with many pages.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct PageArgs {
    #[command(flatten)]
    format_args: FormatArgs,
    #[command(flatten)]
    captures: PageCaptureArgs,
    /// Print each page to a PDF file
    #[arg(long, help_heading = "Browser")]
    pdf: bool,
    #[command(flatten)]
    render: RenderArgs,
    #[command(flatten)]
    location: LocationArgs,
}

impl PageArgs {
    /// Returns the scrape options. Without formats, the format is Markdown.
    pub(crate) fn options(&self) -> Result<ScrapeOptions> {
        let Self { format_args, captures, pdf, render, location } = self;
        let mut options = format_args.options()?;
        let formats = options.formats.get_or_insert_default();
        formats.extend(captures.format(render));
        if formats.is_empty() {
            formats.push(Format::Markdown(Markdown::default()));
        }
        render.fill(&mut options)?;
        if *pdf {
            options.actions.get_or_insert_default().push(Action::Pdf(Pdf::default()));
        }
        location.fill(&mut options);
        Ok(options)
    }
}
