//! Pages through a browser: which need one, what it is asked for, and what its answer is as a page.

mod ads;
mod answer;
mod ask;
mod drawer;
mod need;
mod places;

pub(crate) use answer::shortened;
pub(crate) use ask::variant;
pub(crate) use drawer::{Drawer, Source};
pub(crate) use need::{Need, wants_picture};
pub(crate) use places::Place;

use websvc_browser::{Picture, Returned, Scraped};

/// What came of a page beside its content: files, and what its actions gave.
#[derive(Debug, Clone, Default)]
pub struct Takings {
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

impl Takings {
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
