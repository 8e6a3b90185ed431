//! Tests of the formats `audio` and `video` (operations.md, section 9 and acceptance list 9).

mod real;
mod stub;

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::browser::path_or_skip;
use crate::harness::{Response, Service, Site};

/// The timeout of scrapes that should succeed, also on slow machines.
const TIMEOUT_MS: u32 = 120_000;

/// The programs for a service.
struct Tools<'a> {
    bubblewrap: &'a Path,
    yt_dlp: &'a Path,
    ffmpeg: &'a Path,
}

impl Tools<'_> {
    fn configure<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command
            .env("WEBSVC__MEDIA__BUBBLEWRAP", self.bubblewrap)
            .env("WEBSVC__MEDIA__YT_DLP", self.yt_dlp)
            .env("WEBSVC__MEDIA__FFMPEG", self.ffmpeg)
    }

    /// Starts a service with these programs and variables.
    fn serve(&self, site: &Site, variables: &[(&str, &str)]) -> Service {
        let mut command = site.serve_command();
        Service::start(self.configure(&mut command).envs(variables.iter().copied()))
    }
}

async fn scrape(service: &Service, url: &str, formats: &Value) -> Response {
    let body = json!({ "url": url, "formats": formats, "maxAge": 0, "timeout": TIMEOUT_MS });
    service.post("/v2/scrape", body.to_string()).await
}

/// Returns the path and query of a URL of the service.
#[track_caller]
fn path_of<'u>(service: &Service, url: &'u Value) -> &'u str {
    url.as_str().unwrap_or_default().strip_prefix(&service.address).expect("a URL of the service")
}

fn warning(response: &Response) -> &str {
    response.body["data"]["warning"].as_str().unwrap_or_default()
}

fn is_running(word: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.split(|&byte| byte == 0).any(|argument| argument == word.as_bytes())
    })
}

/// Returns the files of unfinished downloads of a service.
fn leftovers(site: &Site) -> usize {
    std::fs::read_dir(site.data_dir().join("media")).map_or(0, Iterator::count)
}
