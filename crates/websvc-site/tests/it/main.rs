//! Tests of identities, of the removal of tracking parameters, and of sitemaps, as tables and as properties.

#![expect(clippy::unwrap_used, reason = "a failure fails the test")]

mod identity_properties;
mod identity_table;
mod sitemap;
