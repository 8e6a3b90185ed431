//! Signed bodies to real receivers on loopback.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test, too")]

mod post;
