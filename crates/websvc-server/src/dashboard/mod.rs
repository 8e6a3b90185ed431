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
mod sign_in_links;
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
use crate::route::OperationGroup::Dashboard;
use crate::route::{Endpoint, RequestBody, handler};

pub(crate) use file::page;
pub use keys::invitation_link;
pub(crate) use session_store::SESSION_TTL;
pub(crate) use sign_in::{authenticate_admin, session_cookie};
pub(crate) use sign_in_limiter::SignInLimiter;
pub(crate) use sign_in_links::SignInLinks;

/// The operations that change something write audit events.
pub(crate) const ENDPOINTS: &[Endpoint] = &[
    // These two create or read a session, so they check the access themselves.
    admin(Endpoint::get(
        SESSION,
        Dashboard,
        handler!(|context, request| sign_in::session(&context, &request).await),
    ))
    .public(),
    admin(Endpoint::post(
        SESSION,
        Dashboard,
        handler!(|context, request| sign_in::sign_in(&context, request).await),
    ))
    .name("sign-in")
    .public()
    .body(RequestBody::TOKEN),
    admin(Endpoint::delete(
        SESSION,
        Dashboard,
        handler!(|context, request| sign_in::sign_out(&context, &request).await),
    ))
    .name("sign-out"),
    admin(Endpoint::get("/dashboard/keys", Dashboard, handler!(|context, _| keys::list(&context).await))),
    admin(Endpoint::post(
        "/dashboard/keys",
        Dashboard,
        handler!(|context, request| keys::create(&context, request).await),
    ))
    .name("create-key")
    .body(RequestBody::SHORT),
    admin(Endpoint::delete(
        "/dashboard/keys/{id}",
        Dashboard,
        handler!(|context, request| keys::revoke(&context, &request).await),
    ))
    .name("revoke-key"),
    admin(Endpoint::get("/dashboard/teams", Dashboard, handler!(|context, _| teams::list(&context).await))),
    admin(Endpoint::put(
        "/dashboard/teams",
        Dashboard,
        handler!(|context, request| teams::set(&context, request).await),
    ))
    .name("set-team")
    .body(RequestBody::SHORT),
    admin(Endpoint::get(
        "/dashboard/usage",
        Dashboard,
        handler!(|context, request| usage::usage(&context, &request).await),
    )),
    admin(Endpoint::get(
        "/dashboard/requests",
        Dashboard,
        handler!(|context, request| usage::requests(&context, &request).await),
    )),
    admin(Endpoint::get(
        "/dashboard/feedback",
        Dashboard,
        handler!(|context, request| feedback::feedback(&context, &request).await),
    )),
    admin(Endpoint::get(
        "/dashboard/system",
        Dashboard,
        handler!(|context, _| system::system(&context).await),
    )),
    // The Markdown of a page.
    admin(Endpoint::post(
        "/dashboard/render",
        Dashboard,
        handler!(|_, request| markdown::render(request).await),
    ))
    .body(RequestBody::LONG),
    // The request for a monitor.
    admin(Endpoint::post(
        "/dashboard/monitor/preview",
        Dashboard,
        handler!(|context, request| monitor_preview(&context, request).await),
    ))
    .body(RequestBody::LONG),
    admin(Endpoint::post(
        "/dashboard/monitor/schedules",
        Dashboard,
        handler!(|context, request| monitor_schedules(&context, request).await),
    ))
    .body(RequestBody::OPTIONS),
    admin(Endpoint::get(
        "/dashboard/browser-sessions",
        Dashboard,
        handler!(|context, _| browser_sessions::list(&context).await),
    )),
    admin(Endpoint::get(
        "/dashboard/files/{file}",
        Dashboard,
        handler!(|_, request| file::response_at(request.uri().path())),
    ))
    .public(),
];

const SESSION: &str = "/dashboard/session";

const fn admin(endpoint: Endpoint) -> Endpoint {
    endpoint.admin()
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
        StoreError::InvalidName { .. }
        | StoreError::AlreadyRevoked { .. }
        | StoreError::InvalidInvitation { .. } => ApiError::new(ErrorCode::BadRequest, error.to_string()),
        StoreError::UnknownKey { .. } => ApiError::new(ErrorCode::NotFound, error.to_string()),
        other => ApiError::internal(&other, "the database could not be used"),
    }
}

fn success() -> HttpResponse {
    json(StatusCode::OK, &serde_json::json!({ "success": true }))
}
