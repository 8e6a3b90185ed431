//! Tests of the index through its public API.

mod anchors;
mod combinations;
mod crash;
mod depth;
mod filters;
mod images;
mod languages;
mod news;
mod notations;
mod operators;
mod ranking;
mod related;
mod round_trip;
mod semantic;
mod snapshots;
mod snippets;
mod spellings;
mod suggestions;
mod support;
mod tables;
mod writing;
