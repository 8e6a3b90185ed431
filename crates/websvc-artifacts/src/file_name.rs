//! Names of files that pages offer: one component of a path, in URLs and in `Content-Disposition`.

use std::fmt;

/// The maximum number of characters of a name, so that its URL stays short.
pub const FILE_NAME_MAX_CHARS: usize = 100;

/// The name of a file without a directory, safe on every system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileName(String);

impl FileName {
    /// Makes a name of any text: what follows the last slash or backslash, without control characters, characters that
    /// some systems reserve, and dots and spaces at its ends. The beginning of a name that is too long is kept with its
    /// extension. A name of which nothing is left is `download`. The name of a name is the same name, because a URL
    /// contains it in this form only.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let component = text.rsplit(['/', '\\']).next().unwrap_or_default();
        let kept: String = component.chars().filter(|c| !is_unsafe(*c)).collect();
        let name = kept.trim_matches(is_trimmed);
        if name.is_empty() {
            return Self("download".to_owned());
        }
        if name.chars().count() <= FILE_NAME_MAX_CHARS {
            return Self(name.to_owned());
        }
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        let extension = extension.filter(|extension| extension.chars().count() < 10);
        let suffix = extension.map(|extension| format!(".{extension}")).unwrap_or_default();
        let stem = FILE_NAME_MAX_CHARS - suffix.chars().count();
        let cut: String = name.chars().take(stem).chain(suffix.chars()).collect();
        // The cut may have left a dot or a space at the end.
        Self(cut.trim_end_matches(is_trimmed).to_owned())
    }

    /// Parses the value of a query parameter. Returns `None` unless it is the encoding of a name.
    pub(crate) fn from_query(value: &str) -> Option<Self> {
        let decoded = url::form_urlencoded::parse(format!("n={value}").as_bytes()).next()?.1.into_owned();
        let name = Self::new(&decoded);
        (name.encoded() == value).then_some(name)
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name with everything but letters, digits, `-`, `.` and `_` in percent encoding (RFC 8187).
    pub(crate) fn encoded(&self) -> String {
        let mut text = String::with_capacity(self.0.len());
        for byte in self.0.bytes() {
            if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_') {
                text.push(char::from(byte));
            } else {
                text.push_str(&format!("%{byte:02X}"));
            }
        }
        text
    }

    /// Returns the parameters of `Content-Disposition` (RFC 6266): the name in ASCII for old clients, and the whole name.
    pub(crate) fn disposition_parameters(&self) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | ' ');
        let ascii: String = self.0.chars().map(|c| if plain(c) { c } else { '_' }).collect();
        format!("filename=\"{ascii}\"; filename*=UTF-8''{}", self.encoded())
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Returns whether a character is removed from the ends of a name: files with dots at the start are hidden on some systems,
/// and others ignore dots and spaces at the end.
fn is_trimmed(c: char) -> bool {
    c == '.' || c.is_whitespace()
}

/// Returns whether a character may hide the end of a name, or is reserved on some system.
fn is_unsafe(c: char) -> bool {
    let is_direction =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || is_direction || matches!(c, ':' | '*' | '?' | '"' | '<' | '>' | '|')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_one_safe_component() {
        let long = format!("{}.tar.gz", "é".repeat(200));
        let cut_at_a_space = format!("{} tea", "a".repeat(99));
        let cut_at_a_dot = format!("{}.{}", "a".repeat(99), "b".repeat(20));
        for (text, expected) in [
            ("report.pdf", "report.pdf"),
            ("../../etc/passwd", "passwd"),
            ("..\\..\\boot.ini", "boot.ini"),
            ("/etc/", "download"),
            ("..", "download"),
            ("", "download"),
            (".bashrc", "bashrc"),
            (". .bashrc", "bashrc"),
            ("setup.exe. .", "setup.exe"),
            ("a\r\nSet-Cookie: x\".txt", "aSet-Cookie x.txt"),
            ("C:evil.exe", "Cevil.exe"),
            ("x\u{202e}fdp.exe", "xfdp.exe"),
            ("Preise 2026 – Köln.csv", "Preise 2026 – Köln.csv"),
            ("x\u{61c}fdp.exe", "xfdp.exe"),
            (&long, &format!("{}.gz", "é".repeat(97))),
            (&cut_at_a_space, &"a".repeat(99)),
            (&cut_at_a_dot, &"a".repeat(99)),
        ] {
            let name = FileName::new(text);
            assert_eq!(name.as_str(), expected, "{text:?}");
            assert_eq!(FileName::new(expected).as_str(), expected, "it does not change again");
            assert_eq!(FileName::from_query(&name.encoded()), Some(name), "its URL is valid");
        }
    }

    #[test]
    fn query_has_one_spelling_of_a_name() {
        let name = FileName::new("a b–c.csv");
        assert_eq!(name.encoded(), "a%20b%E2%80%93c.csv");
        assert_eq!(FileName::from_query(&name.encoded()), Some(name));
        for other in ["", "a+b", "..%2Fa", "%2e%2e", "a%20b%e2%80%93c.csv", "%FF", "x%0D%0A", ".a"] {
            assert_eq!(FileName::from_query(other), None, "{other}");
        }
    }

    #[test]
    fn disposition_has_a_name_for_old_and_new_clients() {
        let name = FileName::new("Köln.csv");
        let expected = "filename=\"K_ln.csv\"; filename*=UTF-8''K%C3%B6ln.csv";
        assert_eq!(name.disposition_parameters(), expected);
    }
}
