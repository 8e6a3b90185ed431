//! Tests of extraction, by topic.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue should panic")]

mod about;
mod attributes;
mod brand;
mod corpus;
mod described;
mod fuzz_corpus;
mod hidden;
mod hostile;
mod hostile_data;
mod images;
mod kinds;
mod lists;
mod main_content;
mod markdown;
mod media;
mod metadata;
mod news;
mod offers;
mod page;
mod properties;
mod rendered;
mod round_trip;
mod scoring;
mod scripted;
mod selection;
mod structure;
mod videos;
