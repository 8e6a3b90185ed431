//! The arguments of yt-dlp.

use std::path::Path;
use std::time::Duration;

use url::Url;
use websvc_sandbox::{TOOL_OUTPUT_DIRECTORY, TOOL_PROXY_PORT};

/// The file of cookies in the sandbox.
pub(crate) const COOKIES: &str = "/tmp/cookies.txt";
/// The name of the output without its extension.
pub(crate) const OUTPUT: &str = "media";

/// The medium that a download returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaKind {
    /// The sound as MP3.
    Audio,
    /// The best video with its sound, as MP4 or WebM.
    Video,
}

/// The check of the certificates of hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsCheck {
    /// Certificates are verified.
    Verify,
    /// Certificates are not verified.
    Skip,
}

impl MediaKind {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::Audio, Self::Video];

    /// Returns the name of the format.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Audio => "audio",
            Self::Video => "video",
        }
    }
}

/// The values that arguments depend on.
pub(crate) struct ArgumentValues<'a> {
    pub(crate) kind: MediaKind,
    pub(crate) url: &'a Url,
    pub(crate) ffmpeg: &'a Path,
    pub(crate) has_cookies: bool,
    pub(crate) tls: TlsCheck,
    pub(crate) max_bytes: u64,
    pub(crate) max_duration: Duration,
}

/// Options of every run. Nothing but these arguments configures yt-dlp, it starts no program but ffmpeg, and it leaves
/// nothing behind.
const FIXED: &[&str] = &[
    "--ignore-config",
    "--no-plugin-dirs",
    "--no-cache-dir",
    "--no-exec",
    "--no-update",
    // A page with several media yields its first one.
    "--no-playlist",
    "--playlist-items",
    "1",
    "--no-part",
    "--no-continue",
    "--no-mtime",
    "--no-progress",
    "--color",
    "never",
    // A file without some of its segments is not the medium.
    "--abort-on-unavailable-fragments",
    "--concurrent-fragments",
    "1",
    "--socket-timeout",
    "20",
    "--retries",
    "2",
    "--extractor-retries",
    "1",
    "--fragment-retries",
    "2",
    "--file-access-retries",
    "0",
    "--postprocessor-args",
    "ffmpeg:-threads 2",
];

/// The best video and the best sound, in a container that browsers play.
const VIDEO: &[&str] =
    &["--format", "bv*+ba/b", "--merge-output-format", "mp4", "--remux-video", "mp4>mp4/webm>webm/mp4"];
const AUDIO: &[&str] = &["--format", "ba/b", "--extract-audio", "--audio-format", "mp3"];

/// Returns the arguments of yt-dlp.
pub(crate) fn arguments(values: &ArgumentValues<'_>) -> Vec<String> {
    let ArgumentValues { kind, url, ffmpeg, has_cookies, tls, max_bytes, max_duration } = *values;
    let mut arguments: Vec<String> = FIXED.iter().map(|&argument| argument.to_owned()).collect();
    let mut add = |option: &str, value: String| arguments.extend([option.to_owned(), value]);
    add("--proxy", format!("socks5h://127.0.0.1:{TOOL_PROXY_PORT}"));
    add("--ffmpeg-location", ffmpeg.display().to_string());
    add("--max-filesize", max_bytes.to_string());
    // A medium of unknown duration is bounded by its size and by the time.
    add("--match-filters", format!("!is_live & duration <=? {}", max_duration.as_secs()));
    add("--output", format!("{TOOL_OUTPUT_DIRECTORY}/{OUTPUT}.%(ext)s"));
    if has_cookies {
        add("--cookies", COOKIES.to_owned());
    }
    match tls {
        TlsCheck::Verify => {}
        TlsCheck::Skip => arguments.push("--no-check-certificates".to_owned()),
    }
    let format = match kind {
        MediaKind::Audio => AUDIO,
        MediaKind::Video => VIDEO,
    };
    arguments.extend(format.iter().map(|&argument| argument.to_owned()));
    // What follows is never an option.
    arguments.extend(["--".to_owned(), url.to_string()]);
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values<'a>(url: &'a Url, kind: MediaKind) -> ArgumentValues<'a> {
        ArgumentValues {
            kind,
            url,
            ffmpeg: Path::new("/usr/bin/ffmpeg"),
            has_cookies: false,
            tls: TlsCheck::Verify,
            max_bytes: 1000,
            max_duration: Duration::from_secs(60),
        }
    }

    #[test]
    fn url_is_the_only_argument_after_the_options() {
        let url: Url = "https://a.test/--exec?x=%22;id".parse().unwrap();
        for kind in MediaKind::ALL {
            let arguments = arguments(&values(&url, kind));
            let end = arguments.iter().position(|argument| argument == "--").unwrap();
            assert_eq!(&arguments[end + 1..], [url.to_string()]);
            assert!(arguments.contains(&"socks5h://127.0.0.1:1080".to_owned()));
            assert!(!arguments.contains(&"--cookies".to_owned()));
        }
    }
}
