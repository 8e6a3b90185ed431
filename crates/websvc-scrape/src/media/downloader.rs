//! The downloader: one run of yt-dlp for each medium, within its limits.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use url::Url;
use websvc_sandbox::{InterpreterError, SandboxConfig, Tool, ToolRun};
use websvc_transport::{Client, Proxy};

use crate::media::arguments::{ArgumentValues, COOKIES, MediaKind, TlsCheck, arguments};
use crate::media::cookies::{self, Cookie};
use crate::media::directory::DownloadDirectory;
use crate::media::failure::{MediaError, classify, clean};
use crate::media::file::{self, FileError, MediaFile};
use crate::media::metrics::MediaMetrics;
use crate::media::proxy::{DownloadProxy, HostRule, Route};
use crate::media::slots::Slots;

/// The indexes of the programs of the sandbox.
const YT_DLP: usize = 0;
const FFMPEG: usize = 1;

/// The socket of the proxy, in the directory of a download.
const SOCKET: &str = "proxy";
/// The maximum time in which a program prints its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(30);
/// The traffic of a download, as a multiple of the maximum size of its file: video and sound, of which each may be as large
/// before they are joined, and the pages of the site.
const TRAFFIC_FACTOR: u64 = 2;
const TRAFFIC_OF_PAGES: u64 = 32 * 1024 * 1024;

/// The configuration of a downloader.
#[derive(Debug, Clone)]
pub struct MediaConfig {
    /// The program yt-dlp.
    pub yt_dlp: PathBuf,
    /// The program ffmpeg. `ffprobe` is in the same directory.
    pub ffmpeg: PathBuf,
    /// The sandbox of the programs.
    pub sandbox: SandboxConfig,
    /// The directory of unfinished downloads. Only one process may use it.
    pub directory: PathBuf,
    /// The maximum size of a file.
    pub max_bytes: u64,
    /// The maximum duration of a medium that states it.
    pub max_duration: Duration,
    /// The maximum time of a download.
    pub timeout: Duration,
    /// The maximum number of downloads at the same time. Each team has at most one.
    pub max_downloads: usize,
}

/// A medium to download.
#[derive(Debug, Clone)]
pub struct MediaRequest<'a> {
    /// The medium that is wanted.
    pub kind: MediaKind,
    /// The page.
    pub url: &'a Url,
    /// The team that asks.
    pub team: &'a str,
    /// The cookies of the page.
    pub cookies: &'a [Cookie],
    /// The check of certificates.
    pub tls: TlsCheck,
    /// The client whose guard decides about addresses.
    pub client: Client,
    /// The proxy that the client uses.
    pub proxy: Option<Proxy>,
    /// A rule for hosts.
    pub rule: Option<HostRule>,
    /// The time until which the file is of use.
    pub deadline: Instant,
}

/// Downloads media. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Downloader(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    tool: Tool,
    versions: String,
    config: MediaConfig,
    slots: Slots,
    metrics: MediaMetrics,
}

impl Downloader {
    /// Finds the programs and runs them once in the sandbox. Changes no file.
    ///
    /// # Errors
    /// [`InterpreterError`] if they cannot run in a sandbox. They never run without one.
    pub async fn prepare(config: MediaConfig) -> Result<Self, InterpreterError> {
        let programs = [config.yt_dlp.clone(), config.ffmpeg.clone()];
        let tool = Tool::prepare(&programs, config.sandbox.clone()).await?;
        let yt_dlp = tool.first_line(YT_DLP, "--version", VERSION_TIMEOUT).await?;
        let ffmpeg = tool.first_line(FFMPEG, "-version", VERSION_TIMEOUT).await?;
        // "ffmpeg version 5.1.6-0+deb12u1 Copyright ..."
        let ffmpeg = ffmpeg.split(" Copyright").next().unwrap_or_default().to_owned();
        let versions = format!("yt-dlp {}, {}", clean(&yt_dlp), clean(&ffmpeg));
        let slots = Slots::new(config.max_downloads);
        Ok(Self(Arc::new(Shared { tool, versions, config, slots, metrics: MediaMetrics::default() })))
    }

    /// Returns the versions of the programs.
    #[must_use]
    pub fn versions(&self) -> &str {
        &self.0.versions
    }

    /// Returns the metrics.
    #[must_use]
    pub fn metrics(&self) -> &MediaMetrics {
        &self.0.metrics
    }

    /// Removes what a process that was killed has left.
    ///
    /// # Errors
    /// A directory cannot be removed.
    pub fn remove_abandoned(&self) -> io::Result<()> {
        DownloadDirectory::remove_abandoned(&self.0.config.directory)
    }

    /// Downloads a medium. Waits while the team has another download. Dropping the future ends the programs.
    ///
    /// # Errors
    /// [`MediaError`]. No program of the download runs then.
    pub async fn download(&self, request: MediaRequest<'_>) -> Result<MediaFile, MediaError> {
        let kind = request.kind;
        let result = self.run(request).await;
        self.0.metrics.record(kind, &result);
        result
    }

    async fn run(&self, request: MediaRequest<'_>) -> Result<MediaFile, MediaError> {
        let MediaRequest { kind, url, team, cookies, tls, client, proxy, rule, deadline } = request;
        let Shared { tool, config, slots, .. } = &*self.0;
        let _slot = slots.acquire(team, deadline).await.ok_or(MediaError::Timeout)?;
        let timeout = config.timeout.min(deadline.saturating_duration_since(Instant::now()));
        if timeout.is_zero() {
            return Err(MediaError::Timeout);
        }
        let directory = DownloadDirectory::new(&config.directory).map_err(|error| internal(&error))?;
        let output = directory.output();
        let traffic_bytes = config.max_bytes.saturating_mul(TRAFFIC_FACTOR).saturating_add(TRAFFIC_OF_PAGES);
        let route = Route { client, proxy, rule, traffic_bytes };
        let proxy =
            DownloadProxy::start(directory.path(), SOCKET, route).map_err(|error| internal(&error))?;
        let cookies = cookies::file(cookies);
        let values = ArgumentValues {
            kind,
            url,
            ffmpeg: &tool.programs()[FFMPEG],
            has_cookies: cookies.is_some(),
            tls,
            max_bytes: config.max_bytes,
            max_duration: config.max_duration,
        };
        let outcome = tool
            .run(ToolRun {
                program: YT_DLP,
                arguments: arguments(&values),
                files: cookies.map(|file| (COOKIES.to_owned(), file)).into_iter().collect(),
                output: Some(&output),
                proxy: Some(&directory.path().join(SOCKET)),
                max_file_bytes: config.max_bytes,
                timeout,
            })
            .await;
        let max_bytes = config.max_bytes;
        let reading = websvc_transport::spawn_blocking(move || {
            let read = file::read(&output, kind, max_bytes);
            // Before the answer, so that nothing is left then.
            directory.remove();
            read
        });
        let read = reading.await.map_err(|error| internal(&io::Error::other(error)))?;
        match read {
            _ if outcome.killed => Err(MediaError::Timeout),
            // What a tool that failed has left is not the medium.
            _ if outcome.error.is_some() => Err(stopped(&outcome.error.unwrap_or_default(), max_bytes)),
            _ if outcome.exit_code != 0 => Err(classify(&outcome.stdout, &outcome.stderr, &proxy.refused())),
            Ok(file) => Ok(file),
            Err(FileError::Missing) => Err(classify(&outcome.stdout, &outcome.stderr, &proxy.refused())),
            Err(FileError::TooLarge) => Err(MediaError::TooLarge(too_large(max_bytes))),
            Err(FileError::Format) => {
                Err(MediaError::Failed("the tool wrote a file of another format".to_owned()))
            }
            Err(FileError::Io(error)) => Err(internal(&error)),
        }
    }
}

/// Returns the failure of a tool that the service or the kernel ended, or whose sandbox did not start.
fn stopped(error: &str, max_bytes: u64) -> MediaError {
    if error.contains("files are larger") {
        return MediaError::TooLarge(too_large(max_bytes));
    }
    tracing::warn!(error, "a download was ended");
    let reason =
        if error.contains("out of memory") { "it needs too much memory" } else { "its tool was ended" };
    MediaError::Failed(format!("the download failed: {reason}"))
}

fn too_large(max_bytes: u64) -> String {
    format!("the file is larger than {} MiB", max_bytes / (1024 * 1024))
}

/// Logs a failure of this machine. The caller learns no paths.
fn internal(error: &io::Error) -> MediaError {
    tracing::error!(%error, "a download could not be stored on this machine");
    MediaError::Failed("the service could not store the download".to_owned())
}
