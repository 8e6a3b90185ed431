//! What holds for every page of a browser.

use std::path::PathBuf;
use std::time::Duration;

/// How Chromium is run. Nothing of this comes from a request.
#[derive(Debug, Clone)]
pub struct BrowserConfig {
    /// The executable; looked for where systems put it when there is none.
    pub path: Option<PathBuf>,
    /// Pages open at one time; more wait in order of arrival.
    pub concurrency: usize,
    /// Pages after which a process takes no more and ends with the last of them.
    pub pages_per_process: u64,
    /// Memory of all processes of one Chromium, in bytes, above which it takes no more pages. Linux only.
    pub memory_bytes: u64,
    /// How long a Chromium without pages is kept.
    pub idle_shutdown: Duration,
    /// How long Chromium may take to start.
    pub start_timeout: Duration,
    /// How long a connection to a host may take.
    pub connect_timeout: Duration,
    /// Connections of one page at one time.
    pub connections_per_page: usize,
    /// Bytes that one page may send and receive.
    pub traffic_bytes_per_page: u64,
    /// The longest HTML, in UTF-16 code units; the rest is cut with a warning.
    pub html_chars: usize,
    /// The largest picture, in pixels; a longer page is cut with a warning.
    pub picture_pixels: u64,
    /// The largest picture or PDF, in bytes.
    pub file_bytes: usize,
}

impl Default for BrowserConfig {
    fn default() -> Self {
        Self {
            path: None,
            concurrency: 8,
            pages_per_process: 500,
            memory_bytes: 2 * 1024 * 1024 * 1024,
            idle_shutdown: Duration::from_secs(120),
            start_timeout: Duration::from_secs(20),
            connect_timeout: Duration::from_secs(10),
            connections_per_page: 128,
            traffic_bytes_per_page: 256 * 1024 * 1024,
            html_chars: 16 * 1024 * 1024,
            picture_pixels: 40_000_000,
            file_bytes: 32 * 1024 * 1024,
        }
    }
}
