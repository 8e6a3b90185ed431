//! A headless Chromium over the DevTools protocol: pages with JavaScript, actions on them, pictures and PDFs.
//!
//! - [`Browser`] starts Chromium when a page first needs it, bounds how many pages are open, and ends the process
//!   when it is old, too large or idle. Each page has a browser context of its own, which is never used again.
//! - [`RenderRequest`] says what to open and what to do there, [`RenderedPage`] what came of it.
//!
//! The browser may also be one that somebody else runs ([`Remote`]): it is spoken to over a WebSocket, has to reach the
//! proxies of its pages, and is never ended from here.
//!
//! Chromium reaches nothing by itself. Each context has a SOCKS proxy in this process as its only way out, whose
//! connections are made by the guarded [`Client`](websvc_transport::Client): names are resolved there and addresses
//! checked there, whatever kind of request a page makes.

#![deny(missing_docs)]

mod action;
mod backoff;
mod ca_certificates;
mod chores;
mod config;
mod connection;
mod egress;
mod endpoint;
mod error;
mod executable;
mod launch;
mod local_chromium;
mod memory;
mod metrics;
mod page;
mod pool;
mod probe;
mod process;
mod profile;
mod rendered_page;
mod request;
mod sandbox;
mod screenshot;
mod state;
mod surrogates;
mod targets;
mod user_agent;
mod watchdog;

pub use config::{BrowserConfig, Remote};
pub use egress::Refusal;
pub use endpoint::RemoteEndpoint;
pub use error::{BrowserError, NavigationErrorKind, RemoteError};
pub use metrics::{BrowserMetrics, WAIT_BOUNDS_MS};
pub use pool::{Browser, BrowserHealth, BrowserStatus};
pub use rendered_page::{
    Download, DownloadCause, ImageKind, Picture, RenderedPage, Returned, Scraped, SetCookie,
};
pub use request::{
    BlockRule, Cookie, Device, Direction, Extent, Geolocation, Locale, Matches, Orientation, Paper, Print,
    RenderRequest, Screenshot, Step, StyleRule, Viewport, WaitUntil,
};
pub use state::{Changes, Session, State, StateError};
