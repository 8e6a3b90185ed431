//! The dashboard: a page for people at `/`, and what it asks of the service.
//!
//! The page is made of files of this program and nothing else. What it asks for is for administrators: whoever signs in
//! with an admin key gets a session ([`session`]), whose cookie then stands for the key, here and for the operations of
//! the interface, so that the playground sends what any client sends.

mod attempts;
mod file;
mod keys;
mod markdown;
pub(crate) mod session;
mod sign_in;
mod system;
mod teams;
mod usage;

use bytes::Bytes;
use http::{Request, StatusCode};
use serde::de::DeserializeOwned;
use websvc_transport::ServerBody;
use websvc_types::ErrorCode;

use crate::handler::read_body;
use crate::reply::{Failure, Reply, json};
use crate::service::Context;

pub(crate) use attempts::Attempts;
pub(crate) use file::{File, SCRIPTS, STYLE, page};
pub(crate) use sign_in::{administrator, admit_without_key};

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
    context: Context<'_>,
    request: Request<ServerBody>,
) -> Result<Reply, Failure> {
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
async fn read<T: DeserializeOwned>(request: Request<ServerBody>) -> Result<T, Failure> {
    parse(&read_body(request).await?)
}

fn parse<T: DeserializeOwned>(body: &Bytes) -> Result<T, Failure> {
    serde_json::from_slice(body)
        .map_err(|error| Failure::new(ErrorCode::BadRequest, format!("Bad request: {error}")))
}

/// Runs what waits for the database where it holds nobody up.
async fn stored<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, websvc_store::StoreError> + Send + 'static,
) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| Failure::internal(&error, "the work on the database was broken off"))?;
    done.map_err(refusal)
}

/// Returns what the person at the page is told: what it can mend by its own words, everything else as our failure.
fn refusal(error: websvc_store::StoreError) -> Failure {
    use websvc_store::StoreError;
    match error {
        StoreError::InvalidName { .. } | StoreError::AlreadyRevoked { .. } => {
            Failure::new(ErrorCode::BadRequest, error.to_string())
        }
        StoreError::UnknownKey { .. } => Failure::new(ErrorCode::NotFound, error.to_string()),
        other => Failure::internal(&other, "the database could not be used"),
    }
}

fn done() -> Reply {
    json(StatusCode::OK, &serde_json::json!({ "success": true }))
}
