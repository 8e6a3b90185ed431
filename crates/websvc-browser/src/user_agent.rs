//! The user agent of Chromium.

/// The user agent of a Chromium, which does not mention that it is headless.
#[derive(Debug, Clone)]
pub(crate) struct UserAgent {
    pub(crate) text: String,
    pub(crate) major: u32,
}

impl UserAgent {
    /// Returns the user agent of a Chromium with this major version.
    pub(crate) fn with_version(major: u32) -> Self {
        // The reduced form of Chrome, which has only the major version.
        let text = format!(
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) \
             Chrome/{major}.0.0.0 Safari/537.36"
        );
        Self { text, major }
    }
}
