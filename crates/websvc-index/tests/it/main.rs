//! Tests of the index through its public API.

mod anchors;
mod crash;
mod filters;
mod highlights;
mod images;
mod languages;
mod news;
mod operators;
mod ranking;
mod related;
mod snapshots;
mod suggestions;
mod support;
mod table;
mod whole;
mod writing;
