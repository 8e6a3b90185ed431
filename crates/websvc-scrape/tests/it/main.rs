//! The path of a page, on a loopback web.

mod cache;
mod leading_on;
mod proxies;
mod support;
mod walls;
