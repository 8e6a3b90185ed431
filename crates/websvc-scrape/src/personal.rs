//! Decides which pages are personal: they are answered to their caller, and kept in neither cache nor index.
//!
//! The plan knows what its options say ([`ScrapePlan::store_in_cache`]); here is what only the addresses and the fetch
//! tell.

use http::{HeaderName, HeaderValue};
use url::Url;
use websvc_transport::{FetchResponse, has_credentials, without_credentials};
use websvc_types::index::{IndexDocument, IndexNews};
use websvc_validate::ScrapePlan;

use crate::raw::RawPage;

/// Marks a page whose host was sent cookies that redirects had set, also in the cache.
pub(crate) const SET_COOKIES: HeaderName = HeaderName::from_static("x-websvc-set-cookies");

/// Tells whether what a host answers to a request is for its caller alone: it carries something of the caller's own.
pub(crate) fn is_personal(url: &Url, plan: &ScrapePlan) -> bool {
    has_credentials(url)
        || !plan.headers().is_empty()
        || !plan.actions().is_empty()
        || plan.profile().is_some()
}

/// Tells whether the last address of a fetch may answer otherwise when it is asked for directly: redirects set cookies
/// that were sent to it. A link that signs its holder in leads so to the holder's own pages. A redirect that changes the
/// scheme or the host alone has nothing to tell who asks.
pub(crate) fn depends_on_cookies(source_url: &Url, fetched: &FetchResponse) -> bool {
    let resource = |url: &Url| (url.path().to_owned(), url.query().map(str::to_owned));
    fetched.sent_set_cookies && resource(source_url) != resource(&fetched.url)
}

/// Signs from the fetch that a page is for its caller alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Privacy {
    sent_credentials: bool,
    depends_on_cookies: bool,
}

impl RawPage {
    /// Tells whether the page is its caller's alone, because a user or a password took part in getting it.
    pub(crate) fn is_personal(&self) -> bool {
        self.sent_credentials || has_credentials(&self.source_url) || has_credentials(&self.url)
    }

    /// Makes a page as personal as the one that it stands in for: a browser does not tell how it came to its page.
    pub(crate) fn standing_in_for(mut self, first: Privacy) -> Self {
        let Privacy { sent_credentials, depends_on_cookies } = first;
        self.sent_credentials |= sent_credentials;
        if depends_on_cookies {
            self.headers.insert(SET_COOKIES, HeaderValue::from_static("1"));
        }
        self
    }

    /// Returns what the fetch of the page told of whom it is for.
    pub(crate) fn privacy(&self) -> Privacy {
        Privacy {
            sent_credentials: self.sent_credentials,
            depends_on_cookies: self.headers.contains_key(SET_COOKIES),
        }
    }

    /// Tells whether everybody may find the page under its last address.
    pub(crate) fn is_public(&self) -> bool {
        !self.is_personal() && !self.headers.contains_key(SET_COOKIES)
    }
}

/// Removes users and passwords from all addresses of a page that goes to the index.
pub fn remove_credentials(document: &mut IndexDocument) {
    let images = document.images.iter_mut().map(|image| &mut image.url);
    let links = document.links.iter_mut().map(|link| &mut link.url);
    let picture = document.news.iter_mut().filter_map(|IndexNews { image_url }| image_url.as_mut());
    for address in images.chain(links).chain(picture).chain([&mut document.url]) {
        // Few addresses have the sign that credentials end with, and parsing all would cost more than indexing some.
        if address.contains('@')
            && let Ok(url) = Url::parse(address)
            && has_credentials(&url)
        {
            *address = without_credentials(&url).into();
        }
    }
}
