//! Tests of identities and of the removal of tracking parameters, as tables and as properties.

mod properties;
mod table;
