//! The OpenAPI document of the service, with which tests compare what else describes its interface.

use serde_json::Value;

/// Returns the document of `docs/openapi.json`, which `cargo xtask schema` writes.
///
/// # Panics
/// If the file cannot be read.
#[must_use]
pub fn openapi_document() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");
    let text = std::fs::read(path).expect("cargo xtask schema has written docs/openapi.json");
    serde_json::from_slice(&text).expect("the document is JSON")
}
