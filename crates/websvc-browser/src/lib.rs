//! A headless Chromium over the DevTools protocol: pages with JavaScript, actions on them, pictures and PDFs.
//!
//! - [`Browser`] starts Chromium when a page first needs it, bounds how many pages are open, and ends the process
//!   when it is old, too large or idle. Each page has a browser context of its own, which is never used again.
//! - [`PageRequest`] says what to open and what to do there, [`Rendered`] what came of it.
//!
//! Chromium reaches nothing by itself. Each context has a SOCKS proxy in this process as its only way out, whose
//! connections are made by the guarded [`Client`](websvc_transport::Client): names are resolved there and addresses
//! checked there, whatever kind of request a page makes.

#![deny(missing_docs)]

mod config;
mod connection;
mod egress;
mod error;
mod executable;
mod launch;
mod memory;
mod page;
mod picture;
mod pool;
mod process;
mod rendered;
mod request;
mod step;

pub use config::BrowserConfig;
pub use egress::Refusal;
pub use error::BrowserError;
pub use pool::{Browser, BrowserStatus};
pub use rendered::{ImageKind, Picture, Rendered, Returned, Scraped, SetCookie};
pub use request::{
    BlockRule, Cookie, Device, Direction, Extent, Geolocation, Locale, Matches, Orientation, PageRequest,
    Paper, Print, Screenshot, Step, Viewport, WaitUntil,
};
