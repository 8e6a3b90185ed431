//! The configuration of a browser.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

use url::Host;
use websvc_transport::{Client, IpNetwork};

use crate::bubblewrap::BubblewrapMode;
use crate::endpoint::RemoteEndpoint;

/// The configuration of a browser. None of it comes from a request.
#[derive(Debug, Clone)]
pub struct BrowserConfig {
    /// The executable. Without it, the usual locations are searched.
    pub path: Option<PathBuf>,
    /// The use of bubblewrap for local processes. Linux only.
    pub bubblewrap: BubblewrapMode,
    /// A remote browser, to use in place of a local process.
    pub remote: Option<Remote>,
    /// PEM certificates to trust in addition to those of the system. A remote browser does not get them.
    pub ca_file: Option<PathBuf>,
    /// The maximum number of open pages. Further requests wait; the next free page is for the team with the fewest.
    pub concurrency: usize,
    /// The number of pages after which a process is retired. It ends with the last of them.
    pub pages_per_process: u64,
    /// The memory of all processes of one Chromium, in bytes, above which it is retired. Linux only.
    pub memory_bytes: u64,
    /// The memory of the process of a page, in bytes, above which the page is stopped. Linux only.
    pub page_memory_bytes: u64,
    /// The memory of all processes of all Chromiums, in bytes, above which the largest page is stopped. Linux only.
    pub max_memory_bytes: u64,
    /// The time after which a Chromium without pages is stopped.
    pub idle_shutdown: Duration,
    /// The maximum time in which Chromium reports its version, and in which it starts. If it ends during the start, it is
    /// started once more.
    pub start_timeout: Duration,
    /// The timeout for connections to hosts.
    pub connect_timeout: Duration,
    /// The maximum number of concurrent connections of one page.
    pub connections_per_page: usize,
    /// The maximum number of bytes that one page sends and receives.
    pub traffic_bytes_per_page: u64,
    /// The maximum length of the HTML, in UTF-16 code units. The rest is cut with a warning.
    pub max_html_chars: usize,
    /// The maximum number of pixels of a screenshot. A longer page is cut with a warning. A side has at most 65,535 pixels.
    pub max_screenshot_pixels: u64,
    /// The maximum size of a screenshot or PDF, in bytes.
    pub max_file_bytes: usize,
}

/// A remote browser, and how it reaches the proxies of its pages.
#[derive(Debug, Clone)]
pub struct Remote {
    /// Its address.
    pub endpoint: RemoteEndpoint,
    /// The client that connects to it. Its address guard is open, because the operator configured the address.
    pub client: Client,
    /// The address on which the proxies of pages listen, each on a random port.
    pub egress_listen: IpAddr,
    /// The host under which the browser reaches that address. The default is the address itself or, if it is unspecified,
    /// the local address of the connection to the browser.
    pub egress_host: Option<Host>,
    /// The networks that may use the proxies. If empty, only the address at which the browser was reached.
    pub egress_from: Vec<IpNetwork>,
}

impl Remote {
    /// Returns the settings for a browser on this machine.
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
            bubblewrap: BubblewrapMode::default(),
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
            max_html_chars: 16 * 1024 * 1024,
            max_screenshot_pixels: 100_000_000,
            max_file_bytes: 32 * 1024 * 1024,
        }
    }
}
