//! Rendering of pages in the browser: which pages need it, the request to the browser, and the conversion of its
//! result.

mod ads;
mod country_profile;
mod render_mode;
mod render_request;
mod renderer;
mod to_raw_page;

pub(crate) use country_profile::CountryProfile;
pub(crate) use render_mode::{RenderMode, wants_branding, wants_screenshot};
pub(crate) use render_request::cache_variant;
pub(crate) use renderer::{FetchContext, PageRenderer};
pub(crate) use to_raw_page::shortened;

use serde_json::Value;
use websvc_browser::{Image, PageSnapshot, ScriptValue, SetCookie};

/// The results of rendering a page other than its content: files, and the results of its actions.
#[derive(Debug, Clone, Default)]
pub struct RenderArtifacts {
    /// The computed styles for the format `branding`, until it is written.
    pub styles: Option<Value>,
    /// The screenshot of the format `screenshot`.
    pub screenshot: Option<Image>,
    /// The screenshots of the actions `screenshot`, in their order.
    pub screenshots: Vec<Image>,
    /// The pages of the actions `scrape`.
    pub scrapes: Vec<PageSnapshot>,
    /// The return values of the actions `executeJavascript`.
    pub returns: Vec<ScriptValue>,
    /// The files of the actions `pdf`.
    pub pdfs: Vec<bytes::Bytes>,
    /// The cookies of the page, if its media are to be downloaded.
    pub cookies: Vec<SetCookie>,
}

impl RenderArtifacts {
    /// Returns whether there are no results.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { styles, screenshot, screenshots, scrapes, returns, pdfs, cookies } = self;
        styles.is_none()
            && screenshot.is_none()
            && screenshots.is_empty()
            && scrapes.is_empty()
            && returns.is_empty()
            && pdfs.is_empty()
            && cookies.is_empty()
    }
}
