//! The URLs that may be those of pages.

use url::Url;

use crate::host::is_web;
use crate::trap::is_trap;

/// The file name extensions of content that is not a page.
const NON_PAGE_EXTENSIONS: &[&str] = &[
    "7z", "aac", "avi", "avif", "bin", "bmp", "bz2", "class", "css", "deb", "dmg", "doc", "eot", "exe",
    "flac", "gif", "gz", "ico", "iso", "jar", "jpeg", "jpg", "js", "m4a", "m4v", "map", "mjs", "mkv", "mov",
    "mp3", "mp4", "mpeg", "msi", "ogg", "otf", "png", "ppt", "rar", "rpm", "svg", "tar", "tgz", "tif",
    "tiff", "ttf", "wasm", "wav", "webm", "webp", "whl", "wmv", "woff", "woff2", "xls", "xz", "zip", "zst",
];

/// Returns whether a URL may be that of a page: http or https, no extension of a file without text, and nothing that
/// indicates a trap. [`TrapBudgets`](crate::TrapBudgets) find traps that a single URL does not show.
#[must_use]
pub fn may_be_page(url: &Url) -> bool {
    is_web(url) && !is_trap(url) && has_page_extension(url)
}

fn has_page_extension(url: &Url) -> bool {
    let name = url.path().rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').is_none_or(|(_, extension)| {
        NON_PAGE_EXTENSIONS.binary_search(&extension.to_ascii_lowercase().as_str()).is_err()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_text_traps_and_other_schemes_are_not_pages() {
        assert!(NON_PAGE_EXTENSIONS.is_sorted());
        for (url, expected) in [
            ("http://a.test/a.html", true),
            ("https://a.test/", true),
            ("http://a.test/v1.2/notes", true),
            ("http://a.test/logo.PNG", false),
            ("http://a.test/a/a/a/a/", false),
            ("mailto:a@site.test", false),
        ] {
            assert_eq!(may_be_page(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }
}
