//! Detection of personal pages, which are returned to their caller and stored in neither cache nor index.
//!
//! [`ScrapePlan::store_in_cache`] covers the options of a request; this module covers the URLs and the fetch.

use url::Url;
use websvc_transport::{has_credentials, without_credentials};
use websvc_types::index::{IndexDocument, IndexNews};
use websvc_validate::ScrapePlan;

use crate::raw::RawPage;

/// Returns whether the response to a request is personal: the request has credentials, headers, actions or a profile of
/// its caller.
pub(crate) fn is_personal(url: &Url, plan: &ScrapePlan) -> bool {
    has_credentials(url) || !plan.headers.is_empty() || !plan.actions.is_empty() || plan.profile.is_some()
}

/// The signs from a fetch that a page is personal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Privacy {
    sent_credentials: bool,
    depends_on_cookies: bool,
}

impl RawPage {
    /// Returns whether the page is personal because credentials were used to fetch it.
    pub(crate) fn is_personal(&self) -> bool {
        self.sent_credentials || has_credentials(&self.source_url) || has_credentials(&self.url)
    }

    /// Returns the page, made at least as personal as the page that it replaces: the browser does not report what it
    /// sent on redirects.
    pub(crate) fn with_privacy(mut self, replaced: Privacy) -> Self {
        let Privacy { sent_credentials, depends_on_cookies } = replaced;
        self.sent_credentials |= sent_credentials;
        self.depends_on_cookies |= depends_on_cookies;
        self
    }

    /// Returns the signs from the fetch that the page is personal.
    pub(crate) fn privacy(&self) -> Privacy {
        Privacy { sent_credentials: self.sent_credentials, depends_on_cookies: self.depends_on_cookies }
    }

    /// Returns whether the page may be found by all users under its final URL.
    pub(crate) fn is_public(&self) -> bool {
        !self.is_personal() && !self.depends_on_cookies
    }
}

/// Removes user names and passwords from all URLs of a document for the index.
pub fn remove_credentials(document: &mut IndexDocument) {
    let images = document.images.iter_mut().map(|image| &mut image.url);
    let links = document.links.iter_mut().map(|link| &mut link.url);
    let news_image = document.news.iter_mut().filter_map(|IndexNews { image_url }| image_url.as_mut());
    for address in images.chain(links).chain(news_image).chain([&mut document.url]) {
        // Few URLs have the `@` that ends credentials, and parsing all of them would cost more than indexing some
        // pages.
        if address.contains('@')
            && let Ok(url) = Url::parse(address)
            && has_credentials(&url)
        {
            *address = without_credentials(&url).into();
        }
    }
}
