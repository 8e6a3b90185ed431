//! Why a page could not be had.

use std::sync::Arc;

use websvc_browser::{BrowserError, NavigationErrorKind, StateError};
use websvc_extract::ExtractError;
use websvc_store::StoreError;
use websvc_transport::{FetchError, FetchPhase};
use websvc_types::ErrorCode;

use crate::documents::ReadError;

/// Why a page could not be had.
///
/// The message is what the caller may see: it names the rule, never an internal address.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScrapeError {
    /// The page was not done within its time.
    #[error("the page was not done within its time")]
    Timeout,
    /// `minAge` was set and the cache holds nothing of that age.
    #[error("no cached data of the asked age is available for this URL")]
    NoCachedData,
    /// Lockdown was set and the cache holds nothing fresh enough.
    #[error("lockdown is set and the page is not in the cache")]
    LockdownMiss,
    /// What should be scraped is no URL.
    #[error("{url:?} is not a URL")]
    BadUrl {
        /// What was given.
        url: String,
    },
    /// The file that the caller brought is of no kind that can be read.
    #[error(
        "Unsupported file type: {name} is not a document, web page or text that can be read (detected type: {detected})"
    )]
    UnsupportedFile {
        /// Its name.
        name: String,
        /// A short name of what its bytes are: `png`, `binary`, `unknown`.
        detected: &'static str,
    },
    /// Threat protection blocks the URL, or where it leads (specification, section 2.3).
    #[error("{reason}")]
    Unsafe {
        /// Which URL is blocked by which rule.
        reason: String,
    },
    /// A wall stands in place of the page: a captcha, a check of the browser, a block.
    #[error("the site answered {status} with a challenge or block page of {by} instead of the page")]
    Blocked {
        /// Whose wall it is.
        by: &'static str,
        /// The status it came with.
        status: http::StatusCode,
    },
    /// What somebody else met who asked for the same page at the same time.
    #[error("{0}")]
    Shared(Arc<ScrapeError>),
    /// The page could not be fetched.
    #[error("{0}")]
    Fetch(#[source] FetchError),
    /// The page's content or a selector could not be read.
    #[error("{0}")]
    Extract(#[source] ExtractError),
    /// The page is a document, and it gave no text.
    #[error("{0}")]
    Document(#[source] ReadError),
    /// The browser could not draw the page or do what was asked on it.
    #[error("{0}")]
    Browser(#[source] BrowserError),
    /// Somebody else is about to save the profile.
    #[error(
        "another request is about to save the profile {name:?}: try again later, or with saveChanges false"
    )]
    ProfileLocked {
        /// Its name.
        name: String,
    },
    /// The team may have no more profiles.
    #[error("the team has {most} profiles, the most there may be; delete one that is no longer needed")]
    TooManyProfiles {
        /// How many it may have.
        most: u64,
    },
    /// What was saved under the name is no state of a browser.
    #[error("the profile {name:?} cannot be read")]
    ProfileUnreadable {
        /// Its name.
        name: String,
        /// What is wrong with it.
        source: StateError,
    },
    /// The plan has a profile that nobody has opened.
    #[error("the profile of the page was not opened")]
    ProfileNotOpened,
    /// The page cache failed.
    #[error("the page cache failed")]
    Store(#[source] StoreError),
    /// The service is stopping.
    #[error("the service is stopping")]
    Stopping,
}

impl ScrapeError {
    /// Returns whether threat protection is the reason.
    pub(crate) fn is_unsafe(&self) -> bool {
        self.code() == ErrorCode::UnsafeDomainBlocked
    }

    /// Returns whether any request of the host would fail by this: it may not be asked, has no name, or no certificate
    /// that can be verified.
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

    /// Returns whether the host could not be reached, or broke off: what a host does that went down.
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
                    | FetchError::Timeout { stage: FetchPhase::Connect, .. }
            ) | ScrapeError::Browser(BrowserError::Navigation {
                kind: NavigationErrorKind::Dns | NavigationErrorKind::Connect,
                ..
            })
        )
    }

    /// Returns whether the host took longer than it had. That there was no time for it is not meant.
    #[must_use]
    pub fn is_late(&self) -> bool {
        match self {
            ScrapeError::Shared(error) => error.is_late(),
            error => {
                matches!(error, ScrapeError::Fetch(FetchError::Timeout { .. })) && !error.is_unreachable()
            }
        }
    }

    /// Returns the stable code of this condition.
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
        // As the same failure without a browser.
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
