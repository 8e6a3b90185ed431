//! Tests of the rules, by part of a design. Each builds the report of a small page.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue should panic")]

mod buttons;
mod canvas;
mod colors;
mod corpus;
mod distances;
mod logo;
mod report;
