//! The failure of a download, from the text of yt-dlp.

/// The maximum length of a text of yt-dlp, in Unicode scalar values (operations.md, section 9).
const MAX_TEXT_CHARS: usize = 500;

/// The words of texts that say that a site refuses access.
const DENIALS: &[&str] = &[
    "private video",
    "video is private",
    "sign in",
    "log in",
    "login required",
    "logged in",
    "registered users",
    "use --cookies",
    "members-only",
    "members only",
    "join this channel",
    "subscriber",
    "premium",
    "requires payment",
    "geo restriction",
    "geo-restrict",
    "geo restrict",
    "not available in your country",
    "not available from your location",
    "not made this video available in your country",
    "age-restricted",
    "age restricted",
    "confirm your age",
    "drm protected",
    "password protected",
    "http error 401",
    "http error 403",
    "http error 451",
];

/// The reason why there is no medium.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MediaError {
    /// The page has no medium that the tool supports.
    #[error("the page has no supported medium")]
    Unsupported,
    /// The site refuses access.
    #[error("{0}")]
    Denied(String),
    /// The medium exceeds a limit.
    #[error("{0}")]
    TooLarge(String),
    /// The time is over.
    #[error("the download did not finish in time")]
    Timeout,
    /// The download failed otherwise.
    #[error("{0}")]
    Failed(String),
}

/// Returns the failure of a run that wrote no file, from its outputs.
pub(crate) fn classify(stdout: &str, stderr: &str, refused: &[String]) -> MediaError {
    let error = last_error(stderr);
    let text = error.to_ascii_lowercase();
    if text.contains("unsupported url") || text.contains("is not a valid url") {
        return MediaError::Unsupported;
    }
    // Before denials: the text about a connection that the guard refused is similar.
    if let Some(host) = refused.first() {
        return MediaError::Failed(format!("a connection to {host} is not allowed"));
    }
    if DENIALS.iter().any(|denial| text.contains(denial)) {
        return MediaError::Denied(error);
    }
    if text.contains("no video formats found") || text.contains("requested format is not available") {
        return MediaError::Unsupported;
    }
    // Of Python and of ffmpeg, at the limit of the sandbox.
    if text.contains("file too large") {
        return MediaError::TooLarge("the file is too large".to_owned());
    }
    if let Some(reason) = stdout.lines().chain(stderr.lines()).find_map(exceeded_limit) {
        return MediaError::TooLarge(reason.to_owned());
    }
    MediaError::Failed(if error.is_empty() { "the tool wrote no file".to_owned() } else { error })
}

/// Returns the limit that a line of yt-dlp names.
fn exceeded_limit(line: &str) -> Option<&'static str> {
    if line.contains("does not pass filter") {
        Some("the medium is a live stream, or longer than the maximum duration")
    } else {
        line.contains("larger than max-filesize").then_some("the file is larger than the maximum size")
    }
}

/// Returns the text of the last error, without the advice to report it.
fn last_error(stderr: &str) -> String {
    let mut lines = stderr.lines().filter(|line| !line.trim().is_empty());
    let error = lines.clone().rfind(|line| line.starts_with("ERROR:")).or_else(|| lines.next_back());
    let text = error.unwrap_or_default().trim_start_matches("ERROR:");
    let end = text.find("; please report this issue").unwrap_or(text.len());
    clean(&text[..end])
}

/// Returns a text in one line of printable characters, shortened.
pub(crate) fn clean(text: &str) -> String {
    let printable = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let words = printable.collect::<String>();
    words.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_TEXT_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_have_their_kinds() {
        let denied = |text: &str| MediaError::Denied(text.to_owned());
        for (stdout, stderr, expected) in [
            ("", "ERROR: Unsupported URL: http://a.test/", MediaError::Unsupported),
            ("", "WARNING: x\nERROR: [generic] Unsupported URL: http://a.test/\n", MediaError::Unsupported),
            (
                "",
                "ERROR: [youtube] abc: Private video. Sign in if you've been granted access",
                denied("[youtube] abc: Private video. Sign in if you've been granted access"),
            ),
            (
                "",
                "ERROR: unable to download video data: HTTP Error 403: Forbidden",
                denied("unable to download video data: HTTP Error 403: Forbidden"),
            ),
            (
                "[download] a does not pass filter (!is_live), skipping ..",
                "",
                MediaError::TooLarge(
                    "the medium is a live stream, or longer than the maximum duration".into(),
                ),
            ),
            ("", "ERROR: broken; please report this issue on https://x", MediaError::Failed("broken".into())),
            ("", "", MediaError::Failed("the tool wrote no file".into())),
        ] {
            assert_eq!(classify(stdout, stderr, &[]), expected, "{stderr}");
        }
        let refused = classify("", "ERROR: HTTP Error 403", &["a.test:80".to_owned()]);
        assert_eq!(refused, MediaError::Failed("a connection to a.test:80 is not allowed".into()));
    }

    #[test]
    fn text_of_the_tool_is_shortened_to_one_line() {
        assert_eq!(clean("a\u{1b}[0m\tb\nc"), "a [0m b c");
        assert_eq!(clean(&"é".repeat(600)).chars().count(), 500);
    }
}
