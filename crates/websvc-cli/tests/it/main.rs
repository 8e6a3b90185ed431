//! The program as its users drive it: processes, HTTP, official clients, real pages.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests fail by panicking, and say what they skip"
)]

mod archives;
mod bad_input;
mod cache;
mod corpus;
mod crash;
mod demo;
mod doctor;
mod documentation;
mod documents;
mod elastic;
mod exporting;
mod harness;
mod indexing;
mod keys;
mod maintenance;
mod reference;
mod scraping;
mod sdk;
mod serving;
mod sources;
mod verticals;
