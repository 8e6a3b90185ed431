//! Tests of runs with a scripted model and a web in memory, on a virtual clock.

#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]

mod bounds;
mod chat;
mod data;
mod early;
mod fixture;
mod garbage;
mod hostile;
mod memory;
mod merge;
mod notes;
mod offers;
mod pages;
mod tasks;
