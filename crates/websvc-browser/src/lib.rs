//! Headless Chromium over the DevTools protocol (CDP): pages with JavaScript, actions, screenshots and PDFs.
//!
//! - [`Browser`] starts Chromium when a page first needs it, limits the number of open pages, and stops the process when it
//!   is old, too large or idle. Each page has a browser context of its own, which is never reused.
//! - [`RenderRequest`] is the page to open with its settings and actions, [`RenderedPage`] the result.
//!
//! The browser can also be a remote one ([`Remote`]). It is connected over a WebSocket, must be able to reach the proxies of
//! its pages, and is never stopped by this crate.
//!
//! Chromium has no network access of its own. Each context has a SOCKS proxy in this process, whose connections the guarded
//! [`Client`](websvc_transport::Client) makes: it resolves the names and checks the addresses, for all kinds of requests.

#![deny(missing_docs)]

mod action;
mod background_tasks;
mod backoff;
mod bubblewrap;
mod ca_certificates;
mod config;
mod connection;
mod document_url;
mod egress;
mod endpoint;
mod error;
mod executable;
mod installation;
mod interactive;
mod launch;
mod local_chromium;
mod members;
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

pub use bubblewrap::BubblewrapMode;
pub use config::{BrowserConfig, Remote};
pub use egress::Refusal;
pub use endpoint::RemoteEndpoint;
pub use error::{BrowserError, NavigationErrorKind, RemoteError};
pub use interactive::{
    CdpChannel, ChannelClosed, ClientRole, Connector, DownloadError, DownloadLimits, DownloadedFile,
    InteractiveBrowser, InteractiveRequest, PageTarget, StartPage,
};
pub use metrics::BrowserMetrics;
pub use pool::{Browser, BrowserHealth, BrowserStatus};
pub use rendered_page::{
    Download, DownloadCause, Image, ImageKind, PageSnapshot, RenderedPage, ScriptValue, SetCookie,
};
pub use request::{
    BlockRule, CharsetRule, Cookie, Device, Direction, Extent, Geolocation, HostRule, Locale, Matches,
    Orientation, Paper, Print, RenderRequest, Screenshot, Step, StyleRule, Viewport, WaitUntil,
};
pub use state::{Changes, Session, State, StateError};
