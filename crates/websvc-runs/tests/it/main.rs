//! Tests of the environment of agent runs over a loopback web.

#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

mod environment;
mod injections;
mod strict;
mod support;
