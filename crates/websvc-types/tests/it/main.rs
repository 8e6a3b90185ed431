//! Tests of the public types: JSON in, JSON out, and the published schemas.

mod errors;
mod monitor;
mod properties;
mod read;
mod schema;
mod write;
