//! The endpoints of OAuth, and those of its page on the dashboard.

use super::error::issuer;
use super::{authorize, metadata, register, token};
use crate::route::OperationGroup::{Dashboard, Mcp};
use crate::route::{Endpoint, RequestBody, handler};

/// All of these respond with 404 unless OAuth is on.
pub(crate) const ENDPOINTS: &[Endpoint] = &[
    Endpoint::get(
        "/.well-known/oauth-protected-resource",
        Mcp,
        handler!(|context, _| metadata::protected_resource(issuer(&context)?)),
    )
    .public(),
    Endpoint::get(
        "/.well-known/oauth-protected-resource/mcp",
        Mcp,
        handler!(|context, _| metadata::protected_resource(issuer(&context)?)),
    )
    .public(),
    Endpoint::get(
        "/.well-known/oauth-authorization-server",
        Mcp,
        handler!(|context, _| metadata::authorization_server(issuer(&context)?)),
    )
    .public(),
    Endpoint::post(
        "/oauth/register",
        Mcp,
        handler!(|context, request| register::register(&context, request).await),
    )
    .public()
    .body(RequestBody::TOKEN),
    Endpoint::get(
        "/oauth/authorize",
        Mcp,
        handler!(|context, request| authorize::open_consent(&context, &request)),
    )
    .public(),
    Endpoint::post("/oauth/token", Mcp, handler!(|context, request| token::token(&context, request).await))
        .name("oauth-token")
        .public()
        .body(RequestBody::TOKEN),
    Endpoint::post("/oauth/revoke", Mcp, handler!(|context, request| token::revoke(&context, request).await))
        .public()
        .body(RequestBody::TOKEN),
    Endpoint::post(
        "/dashboard/oauth/request",
        Dashboard,
        handler!(|context, request| authorize::show(&context, request).await),
    )
    .admin()
    .body(RequestBody::SHORT),
    Endpoint::post(
        "/dashboard/oauth/authorize",
        Dashboard,
        handler!(|context, request| authorize::authorize(&context, request).await),
    )
    .admin()
    .name("authorize-client")
    .body(RequestBody::SHORT),
];
