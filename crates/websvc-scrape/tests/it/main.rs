//! The path of a page, on a loopback web.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test, too")]

mod cache;
mod full_disk;
mod leading_on;
mod proxies;
mod support;
mod walls;
