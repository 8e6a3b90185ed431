//! Tests of the query language and the time filter through the public API.

mod corpus;
mod grammar;
mod properties;
mod tbs;
mod tree;
