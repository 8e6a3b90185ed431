//! The endpoints of the sign-in by an identity provider.

use super::sign_in;
use crate::route::OperationGroup::Dashboard;
use crate::route::{Endpoint, handler};

/// Both respond with 404 unless the sign-in is on. They check the access themselves.
pub(crate) const ENDPOINTS: &[Endpoint] = &[
    Endpoint::get("/dashboard/oidc/start", Dashboard, handler!(|context, _| sign_in::start(&context).await))
        .public(),
    Endpoint::get(
        "/dashboard/oidc/callback",
        Dashboard,
        handler!(|context, request| sign_in::callback(&context, request).await),
    )
    .public()
    .name("sign-in"),
];
