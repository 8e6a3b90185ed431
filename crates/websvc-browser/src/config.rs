//! What holds for every page of a browser.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

use url::Host;
use websvc_transport::{Client, IpNetwork};

use crate::endpoint::RemoteEndpoint;

/// How Chromium is run. Nothing of this comes from a request.
#[derive(Debug, Clone)]
pub struct BrowserConfig {
    /// The executable; looked for where systems put it when there is none.
    pub path: Option<PathBuf>,
    /// A Chromium that somebody else runs, in place of one that is started.
    pub remote: Option<Remote>,
    /// PEM certificates that are trusted beside the system's. A remote Chromium does not learn of them.
    pub ca_file: Option<PathBuf>,
    /// Pages open at one time; more wait in order of arrival.
    pub concurrency: usize,
    /// Pages after which a process takes no more and ends with the last of them.
    pub pages_per_process: u64,
    /// Memory of all processes of one Chromium, in bytes, above which it takes no more pages. Linux only.
    pub memory_bytes: u64,
    /// Memory of one page's process, in bytes, above which the page is ended while it is open. Linux only.
    pub page_memory_bytes: u64,
    /// Memory of all processes of all Chromiums, in bytes, above which the largest page is ended. Linux only.
    pub max_memory_bytes: u64,
    /// How long a Chromium without pages is kept.
    pub idle_shutdown: Duration,
    /// How long Chromium may take to say its version, and to start; one that ends meanwhile is started once more.
    pub start_timeout: Duration,
    /// How long a connection to a host may take.
    pub connect_timeout: Duration,
    /// Connections of one page at one time.
    pub connections_per_page: usize,
    /// Bytes that one page may send and receive.
    pub traffic_bytes_per_page: u64,
    /// The longest HTML, in UTF-16 code units; the rest is cut with a warning.
    pub html_chars: usize,
    /// The largest picture, in pixels; a longer page is cut with a warning. No side is longer than 65,535 pixels.
    pub picture_pixels: u64,
    /// The largest picture or PDF, in bytes.
    pub file_bytes: usize,
}

/// A Chromium that somebody else runs, and how it reaches the proxies of its pages.
#[derive(Debug, Clone)]
pub struct Remote {
    /// Where it is.
    pub endpoint: RemoteEndpoint,
    /// Makes the connection to it: the operator has named the address, so its guard is open.
    pub client: Client,
    /// The address that the proxies of pages listen on, each on a random port.
    pub egress_listen: IpAddr,
    /// What the browser calls that address; without it the address itself, or, when that is unspecified, the one that
    /// the connection to the browser comes from.
    pub egress_host: Option<Host>,
    /// Who may use the proxies; without any, the address that the browser was found at.
    pub egress_from: Vec<IpNetwork>,
}

impl Remote {
    /// Returns a browser on this machine, reached by `client`.
    #[must_use]
    pub fn new(endpoint: RemoteEndpoint, client: Client) -> Self {
        let egress_listen = IpAddr::V4(Ipv4Addr::LOCALHOST);
        Self { endpoint, client, egress_listen, egress_host: None, egress_from: Vec::new() }
    }
}

impl Default for BrowserConfig {
    fn default() -> Self {
        Self {
            path: None,
            remote: None,
            ca_file: None,
            concurrency: 8,
            pages_per_process: 500,
            memory_bytes: 2 * 1024 * 1024 * 1024,
            page_memory_bytes: 1024 * 1024 * 1024,
            max_memory_bytes: 3 * 1024 * 1024 * 1024,
            idle_shutdown: Duration::from_secs(120),
            start_timeout: Duration::from_secs(20),
            connect_timeout: Duration::from_secs(10),
            connections_per_page: 128,
            traffic_bytes_per_page: 256 * 1024 * 1024,
            html_chars: 16 * 1024 * 1024,
            picture_pixels: 100_000_000,
            file_bytes: 32 * 1024 * 1024,
        }
    }
}
