//! The file name of a page, derived from its URL: readable, deterministic, and safe for any URL.

use std::fmt::Write as _;

use percent_encoding::percent_decode_str;
use sha2::{Digest, Sha256};
use url::Url;

/// Extension of the Markdown file.
pub(super) const MARKDOWN: &str = "md";

/// Name of the page of a directory.
const INDEX: &str = "index";

/// Maximum length of a path component in bytes. With its additions, it is valid on every system.
const COMPONENT_MAX_BYTES: usize = 100;

/// Maximum length of a name in bytes. Windows allows 260 for the whole path.
const NAME_MAX_BYTES: usize = 180;

/// Extensions of the files of one page. A directory with such an extension could conflict with them.
const EXTENSIONS: [&str; 6] = [MARKDOWN, "html", "json", "png", "jpg", "pdf"];

/// Device names of Windows, which are reserved in any case, also before a dot.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// The possible names of a page: relative paths without extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Names {
    /// Name from the URL alone.
    pub(super) plain: String,
    /// Name with a hash of the URL, which no other URL has.
    pub(super) unique: String,
}

/// A path component, and whether it represents its source exactly.
struct Component {
    text: String,
    is_exact: bool,
}

impl Names {
    /// Returns the names of a page. If a part of the URL is missing in a name, such as the query, it has a hash.
    pub(super) fn from_url(url_text: &str) -> Self {
        let hash = hash(url_text);
        let with_scheme =
            if url_text.contains("://") { url_text.to_owned() } else { format!("http://{url_text}") };
        let Ok(url) = Url::parse(&with_scheme) else {
            let name = format!("page-{hash}");
            return Self { plain: name.clone(), unique: name };
        };
        let host = match (url.host_str(), url.port()) {
            (Some(host), Some(port)) => format!("{host}_{port}"),
            (host, _) => host.unwrap_or("page").to_owned(),
        };
        let host = component(&host);
        let mut segments: Vec<&str> = url.path_segments().into_iter().flatten().collect();
        let last = segments.pop().unwrap_or_default();
        let mut is_exact = host.is_exact;
        let mut folders = vec![host.text];
        for segment in segments {
            let Component { mut text, is_exact: is_segment_exact } = component(segment);
            is_exact &= is_segment_exact;
            if text
                .rsplit_once('.')
                .is_some_and(|(_, extension)| EXTENSIONS.contains(&&*extension.to_lowercase()))
            {
                let _infallible = write!(text, "-{}", self::hash(segment));
            }
            folders.push(text);
        }
        let last = match last {
            "" => Component { text: INDEX.to_owned(), is_exact: true },
            last => file_component(last),
        };
        is_exact &= last.is_exact && url.query().is_none();
        let unique = format!("{}/{}-{hash}", folders.join("/"), last.text);
        if unique.len() > NAME_MAX_BYTES {
            let unique = format!("{}/{}-{hash}", truncate(&folders[0], 60), truncate(&last.text, 60));
            return Self { plain: unique.clone(), unique };
        }
        let plain = if is_exact { format!("{}/{}", folders.join("/"), last.text) } else { unique.clone() };
        Self { plain, unique }
    }
}

/// Returns the last component of a name. It never equals the name of another format of another page.
fn file_component(segment: &str) -> Component {
    let mut component = component(segment);
    let extension =
        component.text.rsplit_once('.').map(|(_, extension)| extension.to_lowercase()).unwrap_or_default();
    let is_reserved =
        component.text.eq_ignore_ascii_case(INDEX) || extension == "raw" || extension.starts_with("action-");
    component.is_exact &= !is_reserved;
    component
}

/// Converts a path segment to a component of letters and digits of any script, and `.`, `_`, `-`, `+`.
fn component(segment: &str) -> Component {
    let decoded = percent_decode_str(segment).decode_utf8();
    let mut is_exact = decoded.is_ok();
    let decoded = decoded.unwrap_or_else(|_| segment.into());
    let mut text = String::new();
    for c in decoded.chars() {
        if c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '+') {
            text.push(c);
        } else {
            is_exact = false;
            if !text.ends_with('-') {
                text.push('-');
            }
        }
    }
    // No hidden file, no parent directory, and no trailing dot, which Windows removes.
    let trimmed = text.trim_matches('.');
    let short = truncate(trimmed, COMPONENT_MAX_BYTES).trim_end_matches('.');
    if short.len() != text.len() {
        is_exact = false;
    }
    let mut text = short.to_owned();
    let stem = text.split('.').next().unwrap_or_default().to_lowercase();
    if text.is_empty() || is_device(&stem) {
        is_exact = false;
        text.insert(0, '_');
    }
    Component { text, is_exact }
}

fn is_device(stem: &str) -> bool {
    let mut numbered = ["com", "lpt"].into_iter().filter_map(|name| stem.strip_prefix(name));
    DEVICES.contains(&stem)
        || numbered.any(|rest| {
            let mut chars = rest.chars();
            chars.next().is_some_and(|c| c.is_ascii_digit() || matches!(c, '¹' | '²' | '³'))
                && chars.next().is_none()
        })
}

/// Returns the longest prefix of a text with at most `max_bytes` bytes.
fn truncate(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}

/// Returns a short hash that distinguishes a URL from others.
fn hash(url_text: &str) -> String {
    let digest = Sha256::digest(url_text.as_bytes());
    let mut hash = String::new();
    for byte in digest.iter().take(5) {
        let _infallible = write!(hash, "{byte:02x}");
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A `*` in `expected` stands for the hash.
    #[track_caller]
    fn check(url_text: &str, expected: &str) {
        let names = Names::from_url(url_text);
        assert_eq!(names.plain, expected.replace('*', &hash(url_text)), "{url_text}");
        assert!(names.unique.len() <= NAME_MAX_BYTES && names.unique.contains(&hash(url_text)), "{names:?}");
    }

    #[test]
    fn name_follows_host_and_path() {
        check("https://example.org/", "example.org/index");
        check("https://example.org/docs/guide", "example.org/docs/guide");
        check("https://example.org/docs/", "example.org/docs/index");
        check("https://example.org/a.html", "example.org/a.html");
        check("http://example.org:8080/a", "example.org_8080/a");
        check("https://example.org/caf%C3%A9/%E6%97%A5", "example.org/café/日");
    }

    #[test]
    fn name_has_a_hash_if_it_does_not_represent_the_url_exactly() {
        check("https://example.org/find?q=1", "example.org/find-*");
        check("https://example.org/?q=1", "example.org/index-*");
        check("https://example.org/docs/index", "example.org/docs/index-*");
        check("https://example.org/a%20b", "example.org/a-b-*");
        check("https://example.org/a.raw", "example.org/a.raw-*");
        check("https://example.org/a.action-1", "example.org/a.action-1-*");
        check("https://example.org/%FF", "example.org/-FF-*");
        check("https://example.org//", "example.org/_/index-*");
        assert_ne!(Names::from_url("https://e.org/find?q=1"), Names::from_url("https://e.org/find?q=2"));
    }

    #[test]
    fn name_is_safe_for_hostile_urls() {
        check("https://example.org/../../etc/passwd", "example.org/etc/passwd");
        check("https://example.org/..%2f..%2fetc%2fpasswd", "example.org/-..-etc-passwd-*");
        check("https://example.org/%5c..%5cx", "example.org/-..-x-*");
        check("https://example.org/.htaccess", "example.org/htaccess-*");
        check("https://example.org/.../a", "example.org/_/a-*");
        check("https://example.org/a.", "example.org/a-*");
        check("https://example.org/aux", "example.org/_aux-*");
        check("https://example.org/Con.txt/COM1", "example.org/_Con.txt/_COM1-*");
        check("https://example.org/lpt%C2%B9", "example.org/_lpt¹-*");
        check("https://con/a", "_con/a-*");
        check("https://example.org/a:b*c%00d", "example.org/a-b-c-d-*");
        check("http://[::1]/a", "-1-/a-*");
        check("no url", "page-*");
        let md = hash("x.md");
        check("https://example.org/x.md/y", &format!("example.org/x.md-{md}/y"));
    }

    #[test]
    fn name_has_a_maximum_length() {
        let long = "x".repeat(300);
        check(&format!("https://example.org/{long}"), &format!("example.org/{}-*", &long[..100]));
        check(
            &format!("https://example.org/{}", "日".repeat(100)),
            &format!("example.org/{}-*", "日".repeat(33)),
        );
        let deep = "a/".repeat(500);
        check(&format!("https://example.org/{deep}b"), "example.org/b-*");
        check(
            &format!("https://{}.org/{long}/{long}", "y".repeat(60)),
            &format!("{}/{}-*", "y".repeat(60), "x".repeat(60)),
        );
    }
}
