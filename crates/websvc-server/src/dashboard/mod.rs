//! The dashboard at `/`: its static files and the operations that they use.
//!
//! The operations are for administrators. Signing in with an admin key starts a session ([`session`]). Its cookie then
//! stands for the key, also in requests to the API, so that the playground sends the same requests as any client.

mod browser_sessions;
mod feedback;
mod file;
mod keys;
mod markdown;
pub(crate) mod session;
mod session_store;
mod sign_in;
mod sign_in_limiter;
mod system;
mod teams;
mod usage;

use http::{Request, StatusCode};
use serde::de::DeserializeOwned;
use websvc_store::StoreError;
use websvc_transport::ServerBody;
use websvc_types::ErrorCode;

use crate::blocking::run_blocking;
use crate::handler::{monitor_preview, monitor_schedules, parse_body, read_body};
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;

pub(crate) use file::{File, SCRIPTS, STYLE, page};
pub(crate) use sign_in::authenticate_admin;
pub(crate) use sign_in_limiter::SignInLimiter;

/// An operation of the dashboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    File(File),
    Session,
    SignIn,
    SignOut,
    Keys,
    CreateKey,
    RevokeKey,
    Teams,
    Usage,
    Requests,
    Feedback,
    SetTeam,
    System,
    Render,
    MonitorPreview,
    MonitorSchedules,
    BrowserSessions,
}

impl Operation {
    /// Returns the name in audit events; operations that change nothing write none.
    pub(crate) fn name(self) -> Option<&'static str> {
        match self {
            Self::SignIn => Some("sign-in"),
            Self::SignOut => Some("sign-out"),
            Self::CreateKey => Some("create-key"),
            Self::RevokeKey => Some("revoke-key"),
            Self::SetTeam => Some("set-team"),
            Self::File(_)
            | Self::Session
            | Self::Keys
            | Self::Teams
            | Self::Usage
            | Self::Requests
            | Self::Feedback
            | Self::System
            | Self::Render
            | Self::MonitorPreview
            | Self::MonitorSchedules
            | Self::BrowserSessions => None,
        }
    }
}

/// Handles a request of the dashboard.
pub(crate) async fn perform(
    operation: Operation,
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    match operation {
        Operation::File(file) => Ok(file::response(file)),
        Operation::Session => sign_in::session(&context, &request).await,
        Operation::SignIn => sign_in::sign_in(&context, request).await,
        Operation::SignOut => sign_in::sign_out(&context, &request).await,
        Operation::Keys => keys::list(&context).await,
        Operation::CreateKey => keys::create(&context, request).await,
        Operation::RevokeKey => keys::revoke(&context, &request).await,
        Operation::Usage => usage::usage(&context, &request).await,
        Operation::Requests => usage::requests(&context, &request).await,
        Operation::Feedback => feedback::feedback(&context, &request).await,
        Operation::Teams => teams::list(&context).await,
        Operation::SetTeam => teams::set(&context, request).await,
        Operation::System => system::system(&context).await,
        Operation::Render => markdown::render(request).await,
        Operation::MonitorPreview => monitor_preview(&context, request).await,
        Operation::MonitorSchedules => monitor_schedules(&context, request).await,
        Operation::BrowserSessions => browser_sessions::list(&context).await,
    }
}

/// Reads the JSON body of a request of the dashboard.
///
/// # Errors
/// As [`read_body`]; 400 if it does not have the type `T`.
fn read<T: DeserializeOwned>(request: Request<ServerBody>) -> Result<T, ApiError> {
    parse_body(&read_body(request)?)
}

/// Runs work on the database on the blocking pool.
async fn run_on_store<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, ApiError> {
    run_blocking(work).await?.map_err(store_error)
}

/// Returns the error for the user: 400 and 404 for errors that the user can correct, and otherwise 500.
fn store_error(error: StoreError) -> ApiError {
    match error {
        StoreError::InvalidName { .. } | StoreError::AlreadyRevoked { .. } => {
            ApiError::new(ErrorCode::BadRequest, error.to_string())
        }
        StoreError::UnknownKey { .. } => ApiError::new(ErrorCode::NotFound, error.to_string()),
        other => ApiError::internal(&other, "the database could not be used"),
    }
}

fn success() -> HttpResponse {
    json(StatusCode::OK, &serde_json::json!({ "success": true }))
}
