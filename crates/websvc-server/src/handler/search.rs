//! `POST /v2/search`.

use http::{Request, StatusCode};
use websvc_store::Caller;
use websvc_transport::ServerBody;
use websvc_validate::{Checked, Policy, read_search};

use super::body;
use crate::reply::{Failure, Reply, json};
use crate::service::Context;

/// Answers a search.
pub(crate) async fn search(context: Context<'_>, request: Request<ServerBody>) -> Result<Reply, Failure> {
    let body = body::read(request).await?;
    let Checked { plan, warnings } = read_search(&body, &policy(context.caller.as_ref()))?;
    let mut outcome = context.engine.search(&plan, context.started).await?;
    outcome.warnings.splice(..0, warnings);
    Ok(json(StatusCode::OK, &outcome.into_response(context.id)))
}

/// Returns what the caller's team may ask for.
fn policy(caller: Option<&Caller>) -> Policy {
    Policy::default()
}
