//! Arguments for pages: their formats, and for many pages their files.

use anyhow::Result;
use clap::Args;
use websvc_types::action::Pdf;
use websvc_types::format::Markdown;
use websvc_types::{Action, Format, ScrapeOptions};

use super::{LocationArgs, PageCaptureArgs, RenderArgs};
use crate::command::format;

/// Formats of a page.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct FormatArgs {
    /// markdown, html, rawHtml, links or images; repeat for several [default: markdown, nothing with files alone].
    #[arg(long = "format", visible_alias = "formats", value_name = "FORMAT", value_delimiter = ',',
          value_parser = crate::args::format_name(), hide_possible_values = true)]
    formats: Vec<String>,
    /// Keeps headers, navigation and footers.
    #[arg(long)]
    full_page: bool,
    /// Fetches the page even when a cached copy is fresh.
    #[arg(long)]
    fresh: bool,
}

impl FormatArgs {
    /// Returns what was asked for; no formats are an empty list.
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

/// Arguments for many pages.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct PageArgs {
    #[command(flatten)]
    reading: FormatArgs,
    #[command(flatten)]
    pictures: PageCaptureArgs,
    /// Prints each page into a PDF file, too.
    #[arg(long, help_heading = "Pages in a browser")]
    pdf: bool,
    #[command(flatten)]
    drawing: RenderArgs,
    #[command(flatten)]
    place: LocationArgs,
}

impl PageArgs {
    /// Returns what was asked for; pages of which nothing is said are Markdown.
    pub(crate) fn options(&self) -> Result<ScrapeOptions> {
        let Self { reading, pictures, pdf, drawing, place } = self;
        let mut options = reading.options()?;
        let formats = options.formats.get_or_insert_default();
        formats.extend(pictures.format(drawing));
        if formats.is_empty() {
            formats.push(Format::Markdown(Markdown::default()));
        }
        drawing.fill(&mut options)?;
        if *pdf {
            options.actions.get_or_insert_default().push(Action::Pdf(Pdf::default()));
        }
        place.fill(&mut options);
        Ok(options)
    }
}
