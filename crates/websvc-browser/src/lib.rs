//! A headless Chromium over the DevTools protocol: pages with JavaScript, actions on them, pictures and PDFs.
//!
//! - [`Browser`] starts Chromium when a page first needs it, bounds how many pages are open, and ends the process
//!   when it is old, too large or idle. Each page has a browser context of its own, which is never used again.
//! - [`PageRequest`] says what to open and what to do there, [`Rendered`] what came of it.
//!
//! The browser may also be one that somebody else runs ([`Remote`]): it is spoken to over a WebSocket, has to reach the
//! proxies of its pages, and is never ended from here.
//!
//! Chromium reaches nothing by itself. Each context has a SOCKS proxy in this process as its only way out, whose
//! connections are made by the guarded [`Client`](websvc_transport::Client): names are resolved there and addresses
//! checked there, whatever kind of request a page makes.

#![deny(missing_docs)]

mod arrivals;
mod authorities;
mod backoff;
mod chores;
mod config;
mod connection;
mod egress;
mod endpoint;
mod error;
mod executable;
mod figures;
mod launch;
mod memory;
mod own;
mod page;
mod picture;
mod pool;
mod probe;
mod process;
mod profile;
mod rendered;
mod request;
mod sandbox;
mod state;
mod step;
mod surrogates;
mod watchdog;

pub use config::{BrowserConfig, Remote};
pub use egress::Refusal;
pub use endpoint::RemoteEndpoint;
pub use error::{BrowserError, NavigationErrorKind, RemoteError};
pub use figures::{BrowserFigures, WAIT_BOUNDS_MS};
pub use pool::{Browser, BrowserHealth, BrowserStatus};
pub use rendered::{Download, DownloadCause, ImageKind, Picture, Rendered, Returned, Scraped, SetCookie};
pub use request::{
    BlockRule, Cookie, Device, Direction, Extent, Geolocation, Locale, Matches, Orientation, PageRequest,
    Paper, Print, Screenshot, Step, StyleRule, Viewport, WaitUntil,
};
pub use state::{Changes, Session, State, StateError};
