//! What the service promises in its OpenAPI document.

mod openapi;
