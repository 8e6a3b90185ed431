//! Browser sessions that might connect to an internal address. The service has no browser: what code and clients of a session
//! can reach has tests of its own.

use serde_json::{Value, json};

/// Returns whether an operation on sessions has a body.
pub(super) fn is_session_request(operation: &str) -> bool {
    let is_session = ["/v2/browser", "/v2/interact", "/interact"].iter().any(|path| operation.contains(path));
    is_session && operation.starts_with("post ")
}

/// Returns requests of sessions that might connect to `internal`.
pub(super) fn session_attacks(operation: &str, internal: &str) -> Vec<Value> {
    if operation.contains("{id}") {
        return vec![
            json!({"code": format!("await page.goto('{internal}')")}),
            json!({"code": format!("open {internal}"), "language": "bash"}),
            json!({"prompt": format!("open {internal}"), "url": internal, "cdpUrl": internal}),
        ];
    }
    vec![
        json!({"url": internal, "proxy": internal, "cdpUrl": internal, "location": {"country": "US"}}),
        json!({"profile": {"name": internal}, "webhook": internal, "args": [format!("--proxy-server={internal}")]}),
    ]
}
