//! The errors of sessions.

use thiserror::Error;
use websvc_browser::BrowserError;
use websvc_engine::EngineError;
use websvc_scrape::ScrapeError;
use websvc_store::StoreError;
use websvc_types::interact::InteractLanguage;

/// The error of a request to a session. Its text is public; the sources are for logs.
#[derive(Debug, Error)]
pub enum SessionError {
    /// The team has no such session, or the token is not that of the session.
    #[error("Browser session not found.")]
    NotFound,
    /// The session has ended.
    #[error("Browser session has been destroyed.")]
    Ended,
    /// The browser of the session runs in another process.
    #[error(
        "The browser session runs in another process of the service, and this request is not passed on to it: calls of \
         MCP tools never are, other requests only if that process has an address (replica.address). Send the requests of \
         a session to the process that created it"
    )]
    OnOtherReplica,
    /// The team has as many active sessions as it may have.
    #[error("Rate limit exceeded: limit of {max} active browser sessions per team reached")]
    TooManyOfTeam {
        /// The limit.
        max: u64,
    },
    /// This process has as many active sessions as it may have.
    #[error("Rate limit exceeded: limit of {max} active browser sessions of the service reached")]
    TooMany {
        /// The limit.
        max: usize,
    },
    /// Too many requests wait for the session.
    #[error("Rate limit exceeded: {max} requests wait for the browser session already")]
    Busy {
        /// The limit.
        max: usize,
    },
    /// Too many clients are connected to the session.
    #[error("Rate limit exceeded: {max} clients are connected to the browser session already")]
    TooManyClients {
        /// The limit.
        max: usize,
    },
    /// The language is not available.
    #[error("The language {} is not available on this installation: {reason}", language.as_str())]
    Language {
        /// The language.
        language: InteractLanguage,
        /// The reason.
        reason: &'static str,
    },
    /// No language model is configured.
    #[error("Prompts are not available: no language model is configured. Send code instead")]
    NoModel,
    /// Browser sessions are off, or no browser can be started.
    #[error("Browser sessions are not available: {reason}")]
    Unavailable {
        /// The reason.
        reason: String,
    },
    /// The page or the profile could not be opened.
    #[error("{0}")]
    Engine(#[source] EngineError),
    /// The browser of the session failed.
    #[error("{0}")]
    Browser(#[source] BrowserError),
    /// The database failed.
    #[error("the database of the browser sessions failed")]
    Store(#[source] StoreError),
    /// The system provides no random numbers.
    #[error("the system provides no random numbers")]
    Random,
    /// The service is shutting down.
    #[error("the service is shutting down")]
    Stopping,
}

/// Returns the error of a session whose page was not opened.
pub(crate) fn open_error(error: EngineError) -> SessionError {
    match error {
        EngineError::Page(ScrapeError::Browser(
            error @ (BrowserError::Missing { .. }
            | BrowserError::Start { .. }
            | BrowserError::Remote { .. }
            | BrowserError::Busy { .. }),
        )) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "a browser session did not start");
            SessionError::Unavailable { reason: error.to_string() }
        }
        other => SessionError::Engine(other),
    }
}
