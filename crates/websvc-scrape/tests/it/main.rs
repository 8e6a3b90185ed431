//! The path of a page, on a loopback web.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test, too")]

mod banners;
mod cache;
mod drawn;
mod full_disk;
mod google;
mod inspected;
mod leading_on;
mod personal;
mod profiles;
mod proxies;
mod scopes;
mod support;
mod told;
mod walls;
