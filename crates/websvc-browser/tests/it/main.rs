//! Tests of a real Chromium on the loopback web; each says so and passes where none is installed.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test, too")]

mod actions;
mod egress;
mod emulation;
mod life;
mod pictures;
mod rendering;
mod support;
