//! Tests of signed requests to receivers on a loopback web.

#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]

mod post;
