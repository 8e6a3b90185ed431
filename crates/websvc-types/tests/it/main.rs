//! Tests of the wire models at the boundary of the crate: JSON in, JSON out, and the published schemas.

mod errors;
mod properties;
mod read;
mod schema;
mod write;
