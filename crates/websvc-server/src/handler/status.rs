//! What the service says of itself, to anybody.

use std::sync::LazyLock;

use http::StatusCode;
use serde_json::json;
use websvc_transport::Body;

use crate::reply::{Reply, json, with_type};
use crate::service::Context;

/// The OpenAPI document as bytes; it is the same for every request.
static OPENAPI: LazyLock<Vec<u8>> =
    LazyLock::new(|| serde_json::to_vec(&websvc_types::schema::openapi()).unwrap_or_default());

/// `GET /health`: the process answers.
pub(crate) fn health() -> Reply {
    json(StatusCode::OK, &json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") }))
}

/// `GET /ready`: the parts that a request needs answer too, and the service is not stopping.
pub(crate) async fn ready(context: &Context<'_>) -> Reply {
    let store = context.store.clone();
    let store = matches!(tokio::task::spawn_blocking(move || store.list_teams()).await, Ok(Ok(_)));
    let ready = store && !context.stopping;
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let word = |good: bool| if good { "ok" } else { "unavailable" };
    let checks = json!({ "store": word(store), "index": word(context.engine.index().is_some()) });
    let said = if context.stopping {
        "stopping"
    } else if ready {
        "ready"
    } else {
        "not ready"
    };
    json(status, &json!({ "status": said, "checks": checks }))
}

/// `GET /openapi.json`.
pub(crate) fn openapi() -> Reply {
    with_type(StatusCode::OK, "application/json", Body::from(OPENAPI.clone()))
}

/// `GET /`: a word for those who try the address in a browser.
pub(crate) fn root() -> Reply {
    json(
        StatusCode::OK,
        &json!({
            "message": "websvc is running. Send POST /v2/search with a bearer key.",
            "version": env!("CARGO_PKG_VERSION"),
            "docs": "/docs",
            "openapi": "/openapi.json",
        }),
    )
}
