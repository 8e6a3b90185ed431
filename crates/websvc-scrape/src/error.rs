//! The error of scraping a page.

use std::sync::Arc;

use websvc_browser::{BrowserError, NavigationErrorKind, StateError};
use websvc_extract::ExtractError;
use websvc_store::StoreError;
use websvc_transport::{FetchError, FetchPhase};
use websvc_types::ErrorCode;

use crate::documents::ReadError;

/// An error of scraping a page.
///
/// The message is shown to the client: it names the rule, never an internal address.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScrapeError {
    /// The scrape did not finish before its deadline.
    #[error("the scrape did not finish within its timeout")]
    Timeout,
    /// `minAge` is set and the cache has no page of that age.
    #[error("no cached page of the requested age is available for this URL")]
    NoCachedData,
    /// Lockdown is set and the cache has no page that is fresh enough.
    #[error("lockdown is set and the page is not in the cache")]
    LockdownMiss,
    /// The URL to scrape is invalid.
    #[error("{url:?} is not a URL")]
    BadUrl {
        /// The text that is not a URL.
        url: String,
    },
    /// The uploaded file is of no readable kind.
    #[error(
        "Unsupported file type: {name} is not a document, web page or text that can be read (detected type: {detected})"
    )]
    UnsupportedFile {
        /// The file name.
        name: String,
        /// The detected type of its bytes: `png`, `binary`, `unknown`.
        detected: &'static str,
    },
    /// Threat protection blocks the URL or one of its redirects (specification, section 2.3).
    #[error("{reason}")]
    Unsafe {
        /// The blocked URL and the rule.
        reason: String,
    },
    /// The host served a challenge instead of the page: a captcha, a browser check, a block page.
    #[error("the site responded {status} with a challenge or block page of {vendor} instead of the page")]
    Blocked {
        /// The vendor of the challenge.
        vendor: &'static str,
        /// The status of the response.
        status: http::StatusCode,
    },
    /// The error of a concurrent request for the same page, shared by a coalesced fetch.
    #[error("{0}")]
    Shared(#[source] Arc<ScrapeError>),
    /// The page could not be fetched.
    #[error("{0}")]
    Fetch(#[source] FetchError),
    /// The content of the page or a selector could not be parsed.
    #[error("{0}")]
    Extract(#[source] ExtractError),
    /// The page is a document whose text could not be read.
    #[error("{0}")]
    Document(#[source] ReadError),
    /// The browser could not render the page or run an action.
    #[error("{0}")]
    Browser(#[source] BrowserError),
    /// The page has no medium whose sound could be extracted.
    #[error("no audio can be extracted from {url}: the page has no supported media file")]
    UnsupportedMedia {
        /// The page.
        url: String,
    },
    /// The site refuses access to the media file of the page.
    #[error("the site refuses access to the media file: {reason}")]
    MediaAccessDenied {
        /// The text of the downloader.
        reason: String,
    },
    /// Another request has the lease to save the profile.
    #[error("another request is saving the profile {name:?}: try again later, or set saveChanges to false")]
    ProfileLocked {
        /// The name of the profile.
        name: String,
    },
    /// The team has the maximum number of profiles.
    #[error("the team has {max} profiles, which is the maximum: delete one that is no longer needed")]
    TooManyProfiles {
        /// The maximum number of profiles.
        max: u64,
    },
    /// The saved state of the profile is invalid.
    #[error("the profile {name:?} cannot be read")]
    ProfileUnreadable {
        /// The name of the profile.
        name: String,
        /// The error in the saved state.
        source: StateError,
    },
    /// The plan names a profile that the caller has not opened.
    #[error("the profile of the page was not opened")]
    ProfileNotOpened,
    /// The page cache failed.
    #[error("the database of the page cache failed")]
    Store(#[source] StoreError),
    /// The service is stopping.
    #[error("the service is stopping")]
    Stopping,
}

impl ScrapeError {
    /// Returns whether threat protection blocked the page.
    pub(crate) fn is_unsafe(&self) -> bool {
        self.code() == ErrorCode::UnsafeDomainBlocked
    }

    /// Returns whether every request to the host would fail in this way: it is forbidden, its name does not resolve, or
    /// its certificate cannot be verified.
    #[must_use]
    pub fn is_for_every_request(&self) -> bool {
        if let ScrapeError::Shared(error) = self {
            return error.is_for_every_request();
        }
        matches!(
            self,
            ScrapeError::Unsafe { .. }
                | ScrapeError::Fetch(
                    FetchError::Forbidden
                        | FetchError::RefusedByRule { .. }
                        | FetchError::Dns { .. }
                        | FetchError::Tls { .. }
                )
                | ScrapeError::Browser(BrowserError::Navigation {
                    kind: NavigationErrorKind::Dns | NavigationErrorKind::Tls,
                    ..
                })
        )
    }

    /// Returns whether the host could not be reached or closed the connection, as a host that is down does.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        if let ScrapeError::Shared(error) = self {
            return error.is_unreachable();
        }
        matches!(
            self,
            ScrapeError::Fetch(
                FetchError::Connect { .. }
                    | FetchError::Protocol { .. }
                    | FetchError::Dns { .. }
                    | FetchError::Timeout { phase: FetchPhase::Connect, .. }
            ) | ScrapeError::Browser(BrowserError::Navigation {
                kind: NavigationErrorKind::Dns | NavigationErrorKind::Connect,
                ..
            })
        )
    }

    /// Returns whether the host did not respond within its timeout. A deadline that had passed before the fetch does
    /// not count.
    #[must_use]
    pub fn is_host_timeout(&self) -> bool {
        match self {
            ScrapeError::Shared(error) => error.is_host_timeout(),
            error => {
                matches!(error, ScrapeError::Fetch(FetchError::Timeout { .. })) && !error.is_unreachable()
            }
        }
    }

    /// Returns the stable error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            ScrapeError::Timeout
            | ScrapeError::Fetch(FetchError::Timeout { .. })
            | ScrapeError::Document(ReadError::Timeout) => ErrorCode::ScrapeTimeout,
            ScrapeError::NoCachedData => ErrorCode::ScrapeNoCachedData,
            ScrapeError::LockdownMiss => ErrorCode::ScrapeLockdownCacheMiss,
            ScrapeError::UnsupportedFile { .. } => ErrorCode::UnsupportedFileType,
            ScrapeError::Fetch(FetchError::Dns { .. }) => ErrorCode::ScrapeDnsResolutionError,
            ScrapeError::Fetch(FetchError::Tls { .. }) => ErrorCode::ScrapeSslError,
            ScrapeError::Fetch(
                FetchError::Forbidden
                | FetchError::ForbiddenScheme { .. }
                | FetchError::ForbiddenHeader { .. },
            ) => ErrorCode::ScrapeForbiddenUrl,
            ScrapeError::Unsafe { .. } | ScrapeError::Fetch(FetchError::RefusedByRule { .. }) => {
                ErrorCode::UnsafeDomainBlocked
            }
            ScrapeError::Fetch(_) | ScrapeError::BadUrl { .. } | ScrapeError::Blocked { .. } => {
                ErrorCode::ScrapeSiteError
            }
            ScrapeError::Shared(error) => error.code(),
            ScrapeError::Browser(error) => code_of(error),
            ScrapeError::Extract(_) | ScrapeError::Document(_) => ErrorCode::ScrapeUnsupportedFileError,
            ScrapeError::UnsupportedMedia { .. } => ErrorCode::ScrapeAudioUnsupportedUrl,
            ScrapeError::MediaAccessDenied { .. } => ErrorCode::ScrapeMediaAccessDenied,
            ScrapeError::ProfileLocked { .. } => ErrorCode::ProfileLocked,
            ScrapeError::TooManyProfiles { .. } => ErrorCode::Forbidden,
            ScrapeError::ProfileUnreadable { .. }
            | ScrapeError::ProfileNotOpened
            | ScrapeError::Store(_)
            | ScrapeError::Stopping => ErrorCode::UnknownError,
        }
    }
}

fn code_of(error: &BrowserError) -> ErrorCode {
    match error {
        BrowserError::Busy { .. } | BrowserError::Deadline => ErrorCode::ScrapeTimeout,
        BrowserError::ForbiddenScheme { .. } | BrowserError::Forbidden => ErrorCode::ScrapeForbiddenUrl,
        BrowserError::RefusedByRule { .. } => ErrorCode::UnsafeDomainBlocked,
        // These are the codes of the same failures without a browser.
        BrowserError::Navigation { kind, .. } => match kind {
            NavigationErrorKind::Dns => ErrorCode::ScrapeDnsResolutionError,
            NavigationErrorKind::Tls => ErrorCode::ScrapeSslError,
            NavigationErrorKind::Timeout => ErrorCode::ScrapeTimeout,
            NavigationErrorKind::Connect | NavigationErrorKind::Other => ErrorCode::ScrapeSiteError,
        },
        BrowserError::Crashed => ErrorCode::ScrapeSiteError,
        BrowserError::MemoryExceeded { .. } => ErrorCode::ScrapeMemoryExceeded,
        BrowserError::Download => ErrorCode::ScrapeUnsupportedFileError,
        BrowserError::Step { .. } => ErrorCode::ScrapeActionError,
        BrowserError::Missing { .. } => ErrorCode::ScrapeActionsNotSupported,
        BrowserError::Start { .. } | BrowserError::Remote { .. } | BrowserError::Protocol { .. } => {
            ErrorCode::UnknownError
        }
    }
}
