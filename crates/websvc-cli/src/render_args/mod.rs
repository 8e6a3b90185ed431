//! Arguments for pages that a browser renders. They have the names of the official command line where it has them.

mod files;
mod pages;

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result, ensure};
use clap::Args;
use websvc_types::action::Pdf;
use websvc_types::{Action, Format, Location, ScrapeOptions, Viewport, format};

pub(crate) use files::{FileNames, decode_file};
pub(crate) use pages::{FormatArgs, PageArgs};

/// Default quality of a screenshot whose file name is that of a JPEG.
const JPEG_QUALITY: u8 = 90;

/// Arguments for rendering a page.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Browser")]
pub(crate) struct RenderArgs {
    /// Wait this long before the content is read, in milliseconds
    #[arg(long, value_name = "MS")]
    wait_for: Option<u64>,
    /// Emulate a mobile device
    #[arg(long)]
    mobile: bool,
    /// Run these actions first: a JSON array, such as [{"type": "click", "selector": "#more"}]
    #[arg(long, value_name = "JSON", conflicts_with = "actions_file")]
    actions: Option<String>,
    /// Run the actions of this file first, which contains a JSON array
    #[arg(long, value_name = "FILE")]
    actions_file: Option<PathBuf>,
    /// Quality of screenshots, 1 to 100; below 100 they are JPEG, else PNG
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u8).range(1..=100))]
    quality: Option<u8>,
    /// Window size of screenshots in pixels, such as 1280x800
    #[arg(long, value_name = "WIDTHxHEIGHT")]
    viewport: Option<WindowSize>,
}

/// Arguments for the location of the browser.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Browser")]
pub(crate) struct LocationArgs {
    /// Country (two upper-case letters) whose language, time zone, position and proxies are used
    #[arg(long, visible_alias = "location", value_name = "CODE")]
    country: Option<String>,
    /// Preferred languages instead of the country's, such as fr,en
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    languages: Vec<String>,
}

/// Arguments for screenshots and PDFs of one page.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Browser")]
pub(crate) struct CaptureArgs {
    /// Take a screenshot of the window, into FILE or a file named after the page; an existing file is replaced
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    screenshot: Option<Option<PathBuf>>,
    /// Take a screenshot of the whole page
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, conflicts_with = "screenshot")]
    full_page_screenshot: Option<Option<PathBuf>>,
    /// Print the page to PDF, into FILE or a file named after the page
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pdf: Option<Option<PathBuf>>,
}

/// Arguments for screenshots of many pages.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Browser")]
pub(crate) struct PageCaptureArgs {
    /// Take a screenshot of each page, into a file named after it
    #[arg(long)]
    screenshot: bool,
    /// Take a screenshot of each whole page
    #[arg(long, conflicts_with = "screenshot")]
    full_page_screenshot: bool,
}

/// Arguments for screenshots of search results.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Browser")]
pub(crate) struct ResultCaptureArgs {
    #[command(flatten)]
    pub(crate) pages: PageCaptureArgs,
    /// Output directory of the screenshots
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) output_dir: PathBuf,
}

/// The size of a window, such as `1280x800`.
#[derive(Debug, Clone, Copy)]
struct WindowSize {
    width: u32,
    height: u32,
}

impl FromStr for WindowSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let sides = text.split_once('x').and_then(|(width, height)| {
            Some(Self { width: width.parse().ok()?, height: height.parse().ok()? })
        });
        sides.ok_or_else(|| "not a size such as 1280x800".to_owned())
    }
}

impl RenderArgs {
    /// Sets the options. The values are validated with the whole request.
    pub(crate) fn fill(&self, options: &mut ScrapeOptions) -> Result<()> {
        options.wait_for = self.wait_for;
        options.mobile = self.mobile.then_some(true);
        options.actions = self.read_actions()?;
        Ok(())
    }

    fn read_actions(&self) -> Result<Option<Vec<Action>>> {
        let (text, origin) = match (&self.actions, &self.actions_file) {
            (Some(text), _) => (text.clone(), "--actions".to_owned()),
            (None, Some(file)) => {
                let origin = file.display().to_string();
                (std::fs::read_to_string(file).with_context(|| origin.clone())?, origin)
            }
            (None, None) => return Ok(None),
        };
        let actions = serde_json::from_str(&text);
        Ok(Some(actions.with_context(|| format!("{origin} is not a JSON array of actions"))?))
    }

    fn screenshot(&self, full_page: Option<bool>, quality: Option<u8>) -> Format {
        let viewport = self.viewport.map(|WindowSize { width, height }| Viewport { width, height });
        Format::Screenshot(format::Screenshot { full_page, quality: self.quality.or(quality), viewport })
    }
}

impl LocationArgs {
    /// Sets the location, if one was given.
    pub(crate) fn fill(&self, options: &mut ScrapeOptions) {
        let Self { country, languages } = self;
        if country.is_some() || !languages.is_empty() {
            let languages = (!languages.is_empty()).then(|| languages.clone());
            options.location = Some(Location { country: country.clone(), languages, city: None });
        }
    }
}

impl CaptureArgs {
    /// Returns the format of the requested screenshot.
    pub(crate) fn format(&self, render: &RenderArgs) -> Result<Option<Format>> {
        let (file, full_page) = match (&self.screenshot, &self.full_page_screenshot) {
            (Some(file), _) => (file, None),
            (None, Some(file)) => (file, Some(true)),
            (None, None) => return Ok(None),
        };
        let quality = file.as_deref().map(|file| quality_of(file, render.quality)).transpose()?.flatten();
        Ok(Some(render.screenshot(full_page, quality)))
    }

    /// Adds the action that prints the page to PDF after all other actions.
    pub(crate) fn add_pdf_action(&self, options: &mut ScrapeOptions) {
        if self.pdf.is_some() {
            options.actions.get_or_insert_default().push(Action::Pdf(Pdf::default()));
        }
    }

    /// Returns `true` if a file is requested. It then replaces the default format.
    pub(crate) fn is_any(&self) -> bool {
        self.screenshot.is_some() || self.full_page_screenshot.is_some() || self.pdf.is_some()
    }

    /// Returns the file of the screenshot, if it was given.
    pub(crate) fn screenshot_file(&self) -> Option<&Path> {
        self.screenshot.as_ref().or(self.full_page_screenshot.as_ref())?.as_deref()
    }

    /// Returns the file of the PDF: `None` if no PDF is requested, `Some(None)` if its file was not given.
    pub(crate) fn pdf_file(&self) -> Option<Option<&Path>> {
        self.pdf.as_ref().map(Option::as_deref)
    }
}

impl PageCaptureArgs {
    /// Returns the format of the requested screenshots.
    pub(crate) fn format(&self, render: &RenderArgs) -> Option<Format> {
        let full_page = self.full_page_screenshot.then_some(true);
        (self.screenshot || self.full_page_screenshot).then(|| render.screenshot(full_page, None))
    }
}

/// Returns the quality that gives a screenshot the image type of its file name.
///
/// # Errors
/// The requested quality implies another image type than the file name.
fn quality_of(file: &Path, quality: Option<u8>) -> Result<Option<u8>> {
    let extension = file.extension().unwrap_or_default().to_ascii_lowercase();
    let is_jpeg = extension == "jpg" || extension == "jpeg";
    let name = file.display();
    match quality {
        None if is_jpeg => Ok(Some(JPEG_QUALITY)),
        Some(100) => {
            ensure!(
                !is_jpeg,
                "with a quality of 100 a screenshot is a PNG, but {name} is the name of a JPEG"
            );
            Ok(None)
        }
        Some(quality) => {
            ensure!(
                extension != "png",
                "with a quality of {quality} a screenshot is a JPEG, but {name} is the name of a PNG"
            );
            Ok(None)
        }
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn screenshot_type_follows_its_file_name() {
        let check = |file: &str, quality, expected: Option<Option<u8>>| {
            assert_eq!(quality_of(Path::new(file), quality).ok(), expected, "{file} {quality:?}");
        };
        check("a.png", None, Some(None));
        check("a.jpg", None, Some(Some(90)));
        check("a.JPEG", None, Some(Some(90)));
        check("a.jpg", Some(50), Some(None));
        check("a.jpg", Some(100), None);
        check("a.png", Some(50), None);
        check("a.png", Some(100), Some(None));
    }

    #[test]
    fn window_size_is_two_numbers() {
        let parse = |text: &str| text.parse::<WindowSize>().ok().map(|window| (window.width, window.height));
        assert_eq!(parse("1280x800"), Some((1280, 800)));
        for text in ["1280", "x800", "1280x", "axb", "1280X800", "-1x2"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
