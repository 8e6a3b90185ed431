//! The dashboard: a page for people at `/`, and what it asks of the service.
//!
//! The page is made of files of this program and nothing else. What it asks for is for administrators: whoever signs in
//! with an admin key gets a session ([`session`]), whose cookie then stands for the key, here and for the operations of
//! the interface, so that the playground sends what any client sends.

mod file;
mod keys;
mod markdown;
pub(crate) mod session;
mod sign_in;
mod sign_in_limiter;
mod system;
mod teams;
mod usage;

use bytes::Bytes;
use http::{Request, StatusCode};
use serde::de::DeserializeOwned;
use websvc_transport::ServerBody;
use websvc_types::ErrorCode;

use crate::handler::read_body;
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;

pub(crate) use file::{File, SCRIPTS, STYLE, page};
pub(crate) use sign_in::{administrator, admit_without_key};
pub(crate) use sign_in_limiter::SignInLimiter;

/// What the page asks for.
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
    SetTeam,
    System,
    Render,
}

impl Operation {
    /// Returns what audit events call it: only what changes something leaves one.
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
            | Self::System
            | Self::Render => None,
        }
    }
}

/// Answers what the page asks for.
pub(crate) async fn perform(
    operation: Operation,
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    match operation {
        Operation::File(file) => Ok(file::reply(file)),
        Operation::Session => sign_in::session(&context, &request),
        Operation::SignIn => sign_in::sign_in(&context, request).await,
        Operation::SignOut => Ok(sign_in::sign_out(&context, &request)),
        Operation::Keys => keys::list(&context).await,
        Operation::CreateKey => keys::create(&context, request).await,
        Operation::RevokeKey => keys::revoke(&context, &request).await,
        Operation::Usage => usage::usage(&context, &request).await,
        Operation::Requests => usage::requests(&context, &request).await,
        Operation::Teams => teams::list(&context).await,
        Operation::SetTeam => teams::set(&context, request).await,
        Operation::System => system::system(&context).await,
        Operation::Render => markdown::render(request).await,
    }
}

/// Reads the body of a request of the page.
///
/// # Errors
/// As [`read_body`]; 400 when it is not what it has to be.
async fn read<T: DeserializeOwned>(request: Request<ServerBody>) -> Result<T, ApiError> {
    parse(&read_body(request).await?)
}

fn parse<T: DeserializeOwned>(body: &Bytes) -> Result<T, ApiError> {
    serde_json::from_slice(body)
        .map_err(|error| ApiError::new(ErrorCode::BadRequest, format!("Bad request: {error}")))
}

/// Runs what waits for the database where it holds nobody up.
async fn stored<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, websvc_store::StoreError> + Send + 'static,
) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| ApiError::internal(&error, "the work on the database was broken off"))?;
    done.map_err(refusal)
}

/// Returns what the person at the page is told: what it can mend by its own words, everything else as our failure.
fn refusal(error: websvc_store::StoreError) -> ApiError {
    use websvc_store::StoreError;
    match error {
        StoreError::InvalidName { .. } | StoreError::AlreadyRevoked { .. } => {
            ApiError::new(ErrorCode::BadRequest, error.to_string())
        }
        StoreError::UnknownKey { .. } => ApiError::new(ErrorCode::NotFound, error.to_string()),
        other => ApiError::internal(&other, "the database could not be used"),
    }
}

fn done() -> HttpResponse {
    json(StatusCode::OK, &serde_json::json!({ "success": true }))
}
