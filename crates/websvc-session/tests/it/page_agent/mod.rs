//! Tests of tasks with a scripted model and a page in memory, on a virtual clock.

#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]

mod bounds;
mod fixture;
mod hostile;
mod steps;
