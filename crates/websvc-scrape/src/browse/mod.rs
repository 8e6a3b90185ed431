//! Pages through a browser: which need one, what it is asked for, and what its answer is as a page.

mod ads;
mod country_profile;
mod render_mode;
mod render_request;
mod renderer;
mod to_raw_page;

pub(crate) use country_profile::CountryProfile;
pub(crate) use render_mode::{RenderMode, wants_screenshot};
pub(crate) use render_request::cache_variant;
pub(crate) use renderer::{FetchContext, PageRenderer};
pub(crate) use to_raw_page::shortened;

use websvc_browser::{Picture, Returned, Scraped};

/// What came of a page beside its content: files, and what its actions gave.
#[derive(Debug, Clone, Default)]
pub struct RenderArtifacts {
    /// The picture of the format `screenshot`.
    pub screenshot: Option<Picture>,
    /// Of the actions `screenshot`, in their order.
    pub screenshots: Vec<Picture>,
    /// Of the actions `scrape`.
    pub scrapes: Vec<Scraped>,
    /// Of the actions `executeJavascript`.
    pub returns: Vec<Returned>,
    /// Of the actions `pdf`.
    pub pdfs: Vec<bytes::Bytes>,
}

impl RenderArtifacts {
    /// Returns whether there is nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { screenshot, screenshots, scrapes, returns, pdfs } = self;
        screenshot.is_none()
            && screenshots.is_empty()
            && scrapes.is_empty()
            && returns.is_empty()
            && pdfs.is_empty()
    }
}
