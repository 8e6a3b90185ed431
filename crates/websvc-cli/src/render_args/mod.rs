//! The options of the shell about pages that a browser draws, by the names of the official command line where it has
//! them.

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

/// The quality of a picture whose file is to be a JPEG, when none was asked for.
const JPEG_QUALITY: u8 = 90;

/// Arguments for scraping a page.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Pages in a browser")]
pub(crate) struct RenderArgs {
    /// Waits this long before the content is taken, in milliseconds.
    #[arg(long, value_name = "MS")]
    wait_for: Option<u64>,
    /// Looks at the page as a telephone does.
    #[arg(long)]
    mobile: bool,
    /// Does this on the page first: a JSON list of actions, such as [{"type": "click", "selector": "#more"}].
    #[arg(long, value_name = "JSON", conflicts_with = "actions_file")]
    actions: Option<String>,
    /// Does first what this file says, a JSON list of actions.
    #[arg(long, value_name = "FILE")]
    actions_file: Option<PathBuf>,
    /// Quality of pictures, 1 to 100; below 100 they are JPEG, else PNG.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u8).range(1..=100))]
    quality: Option<u8>,
    /// Size of the window for pictures, in pixels: 1280x800.
    #[arg(long, value_name = "WIDTHxHEIGHT")]
    viewport: Option<WindowSize>,
}

/// Location that a page is visited from.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Pages in a browser")]
pub(crate) struct LocationArgs {
    /// Visits the page from this country, two upper-case letters: its language, time zone, place, and proxies.
    #[arg(long, visible_alias = "location", value_name = "CODE")]
    country: Option<String>,
    /// Prefers these languages instead of the country's: fr,en.
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    languages: Vec<String>,
}

/// The files that are made of one page.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Pages in a browser")]
pub(crate) struct CaptureArgs {
    /// Takes a picture of what the window shows, into FILE or one named after the page. An older file is replaced.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    screenshot: Option<Option<PathBuf>>,
    /// The same of the whole page.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, conflicts_with = "screenshot")]
    full_page_screenshot: Option<Option<PathBuf>>,
    /// Prints the page, into FILE or one named after the page.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pdf: Option<Option<PathBuf>>,
}

/// The pictures that are taken of many pages.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Pages in a browser")]
pub(crate) struct PageCaptureArgs {
    /// Takes a picture of each page, into a file named after it.
    #[arg(long)]
    screenshot: bool,
    /// The same of the whole pages.
    #[arg(long, conflicts_with = "screenshot")]
    full_page_screenshot: bool,
}

/// The pictures that are taken of results.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Pages in a browser")]
pub(crate) struct ResultCaptureArgs {
    #[command(flatten)]
    pub(crate) pages: PageCaptureArgs,
    /// Output directory of the files.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) output_dir: PathBuf,
}

/// The size of a window as people write it.
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
        sides.ok_or_else(|| "a size is written as 1280x800".to_owned())
    }
}

impl RenderArgs {
    /// Fills in what was asked for; what the values may be is checked with the whole request.
    pub(crate) fn fill(&self, options: &mut ScrapeOptions) -> Result<()> {
        options.wait_for = self.wait_for;
        options.mobile = self.mobile.then_some(true);
        options.actions = self.read_actions()?;
        Ok(())
    }

    fn read_actions(&self) -> Result<Option<Vec<Action>>> {
        let (text, what) = match (&self.actions, &self.actions_file) {
            (Some(text), _) => (text.clone(), "--actions".to_owned()),
            (None, Some(file)) => {
                let what = file.display().to_string();
                (std::fs::read_to_string(file).with_context(|| what.clone())?, what)
            }
            (None, None) => return Ok(None),
        };
        let actions = serde_json::from_str(&text);
        Ok(Some(actions.with_context(|| format!("{what} is no JSON list of actions"))?))
    }

    fn screenshot(&self, full_page: Option<bool>, quality: Option<u8>) -> Format {
        let viewport = self.viewport.map(|WindowSize { width, height }| Viewport { width, height });
        Format::Screenshot(format::Screenshot { full_page, quality: self.quality.or(quality), viewport })
    }
}

impl LocationArgs {
    /// Fills in what was asked for.
    pub(crate) fn fill(&self, options: &mut ScrapeOptions) {
        let Self { country, languages } = self;
        if country.is_some() || !languages.is_empty() {
            let languages = (!languages.is_empty()).then(|| languages.clone());
            options.location = Some(Location { country: country.clone(), languages, city: None });
        }
    }
}

impl CaptureArgs {
    /// Returns the format of the picture that was asked for.
    pub(crate) fn format(&self, drawing: &RenderArgs) -> Result<Option<Format>> {
        let (file, full_page) = match (&self.screenshot, &self.full_page_screenshot) {
            (Some(file), _) => (file, None),
            (None, Some(file)) => (file, Some(true)),
            (None, None) => return Ok(None),
        };
        let quality = file.as_deref().map(|file| quality_of(file, drawing.quality)).transpose()?.flatten();
        Ok(Some(drawing.screenshot(full_page, quality)))
    }

    /// Adds the action that prints the page, after all others.
    pub(crate) fn print(&self, options: &mut ScrapeOptions) {
        if self.pdf.is_some() {
            options.actions.get_or_insert_default().push(Action::Pdf(Pdf::default()));
        }
    }

    /// Tells whether a file is asked for, which is instead of the text then.
    pub(crate) fn are_wanted(&self) -> bool {
        self.screenshot.is_some() || self.full_page_screenshot.is_some() || self.pdf.is_some()
    }

    /// Returns the file for the picture, if it was named.
    pub(crate) fn picture_file(&self) -> Option<&Path> {
        self.screenshot.as_ref().or(self.full_page_screenshot.as_ref())?.as_deref()
    }

    /// Returns the file for the printed page: `None` without one, `Some(None)` when it was not named.
    pub(crate) fn pdf_file(&self) -> Option<Option<&Path>> {
        self.pdf.as_ref().map(Option::as_deref)
    }
}

impl PageCaptureArgs {
    /// Returns the format of the pictures that were asked for.
    pub(crate) fn format(&self, drawing: &RenderArgs) -> Option<Format> {
        let full_page = self.full_page_screenshot.then_some(true);
        (self.screenshot || self.full_page_screenshot).then(|| drawing.screenshot(full_page, None))
    }
}

/// Returns the quality that makes a picture what the name of its file says.
///
/// # Errors
/// The name says another kind of picture than the quality that was asked for.
fn quality_of(file: &Path, asked: Option<u8>) -> Result<Option<u8>> {
    let extension = file.extension().unwrap_or_default().to_ascii_lowercase();
    let is_jpeg = extension == "jpg" || extension == "jpeg";
    let name = file.display();
    match asked {
        None if is_jpeg => Ok(Some(JPEG_QUALITY)),
        Some(100) => {
            ensure!(!is_jpeg, "with a quality of 100 a picture is a PNG, and {name} is the name of a JPEG");
            Ok(None)
        }
        Some(quality) => {
            ensure!(
                extension != "png",
                "with a quality of {quality} a picture is a JPEG, and {name} is the name of a PNG"
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
    fn a_picture_is_what_the_name_of_its_file_says() {
        let check = |file: &str, asked, expected: Option<Option<u8>>| {
            assert_eq!(quality_of(Path::new(file), asked).ok(), expected, "{file} {asked:?}");
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
    fn a_size_is_two_numbers() {
        let read = |text: &str| text.parse::<WindowSize>().ok().map(|window| (window.width, window.height));
        assert_eq!(read("1280x800"), Some((1280, 800)));
        for text in ["1280", "x800", "1280x", "axb", "1280X800", "-1x2"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
