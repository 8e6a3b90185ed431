//! Tests of a real Chromium on a loopback web. Without Chromium, they are skipped and report that.

#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]

mod actions;
mod ca_certificates;
mod child_targets;
mod downloads;
mod egress;
mod emulation;
mod endurance;
mod interactive;
mod isolation;
mod lifecycle;
mod memory;
mod navigation_rule;
mod remote;
mod rendering;
mod screenshots;
mod state;
mod support;
mod wait_idle;
