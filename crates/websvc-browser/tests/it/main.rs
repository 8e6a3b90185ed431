//! Tests of a real Chromium on the loopback web; each says so and passes where none is installed.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test, too")]

mod actions;
mod downloads;
mod egress;
mod emulation;
mod endurance;
mod isolation;
mod late;
mod life;
mod memory;
mod parts;
mod pictures;
mod remote;
mod rendering;
mod rule;
mod state;
mod support;
mod trust;
