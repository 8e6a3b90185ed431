//! Tests of threat protection with a scanner on a loopback web.

#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]

mod checking;
mod scanning;
mod support;
