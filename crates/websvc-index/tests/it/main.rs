//! Tests of the index through its public API.

mod crash;
mod highlights;
mod languages;
mod operators;
mod ranking;
mod suggestions;
mod support;
mod writing;
