//! The name of the file of a page, from its address: readable, the same every time, and safe whatever the web says.

use std::fmt::Write as _;

use percent_encoding::percent_decode_str;
use sha2::{Digest, Sha256};
use url::Url;

/// Extension of the Markdown file.
pub(super) const MARKDOWN: &str = "md";

/// The page of a directory.
const INDEX: &str = "index";

/// The longest part of a name between two slashes, in bytes: every system has room for it with what is added.
const PART_MAX_BYTES: usize = 100;

/// The longest name, in bytes; Windows has 260 for the whole path.
const NAME_MAX_BYTES: usize = 180;

/// Extensions of the files of one page; a directory with such a name would conflict with them.
const EXTENSIONS: [&str; 6] = [MARKDOWN, "html", "json", "png", "jpg", "pdf"];

/// Names that Windows has for devices, in any spelling, also before a dot.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// The names a page may have, relative, without what comes after the last dot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Names {
    /// The one that its address makes.
    pub(super) plain: String,
    /// One that no other address makes.
    pub(super) own: String,
}

/// A part of a name, and whether it tells all of what it was made of.
struct Part {
    text: String,
    fidelity: NameExactness,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameExactness {
    Exact,
    Changed,
}

impl Names {
    /// Names a page. What of its address is not in its name, such as the query, is in the number at its end.
    pub(super) fn of(address: &str) -> Self {
        let number = number(address);
        let whole = if address.contains("://") { address.to_owned() } else { format!("http://{address}") };
        let Ok(url) = Url::parse(&whole) else {
            let name = format!("page-{number}");
            return Self { plain: name.clone(), own: name };
        };
        let host = match (url.host_str(), url.port()) {
            (Some(host), Some(port)) => format!("{host}_{port}"),
            (host, _) => host.unwrap_or("page").to_owned(),
        };
        let host = part(&host);
        let mut segments: Vec<&str> = url.path_segments().into_iter().flatten().collect();
        let last = segments.pop().unwrap_or_default();
        let mut fidelity = host.fidelity;
        let mut folders = vec![host.text];
        for segment in segments {
            let Part { mut text, fidelity: here } = part(segment);
            fidelity = fidelity.and(here);
            if text.rsplit_once('.').is_some_and(|(_, end)| EXTENSIONS.contains(&&*end.to_lowercase())) {
                let _infallible = write!(text, "-{}", self::number(segment));
            }
            folders.push(text);
        }
        let last = match last {
            "" => Part { text: INDEX.to_owned(), fidelity: NameExactness::Exact },
            last => file_part(last),
        };
        fidelity = fidelity.and(last.fidelity);
        if url.query().is_some() {
            fidelity = NameExactness::Changed;
        }
        let own = format!("{}/{}-{number}", folders.join("/"), last.text);
        if own.len() > NAME_MAX_BYTES {
            let own = format!("{}/{}-{number}", cut(&folders[0], 60), cut(&last.text, 60));
            return Self { plain: own.clone(), own };
        }
        let plain = match fidelity {
            NameExactness::Exact => format!("{}/{}", folders.join("/"), last.text),
            NameExactness::Changed => own.clone(),
        };
        Self { plain, own }
    }
}

impl NameExactness {
    fn and(self, other: Self) -> Self {
        if self == Self::Exact { other } else { self }
    }
}

/// Makes the last part of a name: none that another kind of file of another page has.
fn file_part(segment: &str) -> Part {
    let mut part = part(segment);
    let end = part.text.rsplit_once('.').map(|(_, end)| end.to_lowercase()).unwrap_or_default();
    let is_kept_for_others =
        part.text.eq_ignore_ascii_case(INDEX) || end == "raw" || end.starts_with("action-");
    if is_kept_for_others {
        part.fidelity = NameExactness::Changed;
    }
    part
}

/// Makes a part of a name out of a segment of a path: letters and digits of any script, and four signs.
fn part(segment: &str) -> Part {
    let decoded = percent_decode_str(segment).decode_utf8();
    let mut fidelity = if decoded.is_ok() { NameExactness::Exact } else { NameExactness::Changed };
    let decoded = decoded.unwrap_or_else(|_| segment.into());
    let mut text = String::new();
    for sign in decoded.chars() {
        if sign.is_alphanumeric() || matches!(sign, '.' | '_' | '-' | '+') {
            text.push(sign);
        } else {
            fidelity = NameExactness::Changed;
            if !text.ends_with('-') {
                text.push('-');
            }
        }
    }
    // No hidden file, no other directory, and no end that Windows leaves out.
    let trimmed = text.trim_matches('.');
    let short = cut(trimmed, PART_MAX_BYTES).trim_end_matches('.');
    if short.len() != text.len() {
        fidelity = NameExactness::Changed;
    }
    let mut text = short.to_owned();
    let stem = text.split('.').next().unwrap_or_default().to_lowercase();
    if text.is_empty() || is_device(&stem) {
        fidelity = NameExactness::Changed;
        text.insert(0, '_');
    }
    Part { text, fidelity }
}

fn is_device(stem: &str) -> bool {
    let mut numbered = ["com", "lpt"].into_iter().filter_map(|name| stem.strip_prefix(name));
    DEVICES.contains(&stem)
        || numbered.any(|rest| {
            let mut signs = rest.chars();
            signs.next().is_some_and(|sign| sign.is_ascii_digit() || matches!(sign, '¹' | '²' | '³'))
                && signs.next().is_none()
        })
}

/// Returns the beginning of a text, at most so many bytes of it.
fn cut(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or_default()]
}

/// Returns what tells an address from others.
fn number(address: &str) -> String {
    let digest = Sha256::digest(address.as_bytes());
    let mut number = String::new();
    for byte in digest.iter().take(5) {
        let _infallible = write!(number, "{byte:02x}");
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A `*` in what is expected stands for the number.
    #[track_caller]
    fn check(address: &str, expected: &str) {
        let names = Names::of(address);
        assert_eq!(names.plain, expected.replace('*', &number(address)), "{address}");
        assert!(names.own.len() <= NAME_MAX_BYTES && names.own.contains(&number(address)), "{names:?}");
    }

    #[test]
    fn names_are_those_of_the_site() {
        check("https://example.org/", "example.org/index");
        check("https://example.org/docs/guide", "example.org/docs/guide");
        check("https://example.org/docs/", "example.org/docs/index");
        check("https://example.org/a.html", "example.org/a.html");
        check("http://example.org:8080/a", "example.org_8080/a");
        check("https://example.org/caf%C3%A9/%E6%97%A5", "example.org/café/日");
    }

    #[test]
    fn what_is_not_in_the_name_is_in_the_number() {
        check("https://example.org/find?q=1", "example.org/find-*");
        check("https://example.org/?q=1", "example.org/index-*");
        check("https://example.org/docs/index", "example.org/docs/index-*");
        check("https://example.org/a%20b", "example.org/a-b-*");
        check("https://example.org/a.raw", "example.org/a.raw-*");
        check("https://example.org/a.action-1", "example.org/a.action-1-*");
        check("https://example.org/%FF", "example.org/-FF-*");
        check("https://example.org//", "example.org/_/index-*");
        assert_ne!(Names::of("https://e.org/find?q=1"), Names::of("https://e.org/find?q=2"));
    }

    #[test]
    fn no_name_leads_elsewhere_or_means_something_else() {
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
        let md = number("x.md");
        check("https://example.org/x.md/y", &format!("example.org/x.md-{md}/y"));
    }

    #[test]
    fn names_have_a_length() {
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
