//! A random marker word, and a search for it in all encodings.

use std::hash::{BuildHasher, RandomState};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use sha2::{Digest, Sha256};

/// Bytes shown before and after a match.
const CONTEXT: usize = 80;

/// A random word. Requests and responses contain it with a name as suffix, so that a match shows where it is from.
pub(super) struct Marker {
    word: String,
    forms: Vec<(&'static str, Vec<u8>)>,
}

impl Marker {
    pub(super) fn new() -> Self {
        Self::from_word(&format!("Zq{:016x}", RandomState::new().hash_one("a marker")))
    }

    /// Returns the marker for a word. It is found in upper and lower case, in base64 and in UTF-16. The SHA-256 hash of
    /// the word, and of texts added with [`Self::and_hash_of`], is also found.
    pub(super) fn from_word(word: &str) -> Self {
        let lower = word.to_ascii_lowercase();
        let mut forms = vec![("plain", lower.clone().into_bytes())];
        for text in [word, &lower] {
            forms.extend((0..3).map(|shift| ("base64", in_base64(text, shift))));
            forms.push(("utf-16le", text.encode_utf16().flat_map(u16::to_le_bytes).collect()));
            forms.push(("utf-16be", text.encode_utf16().flat_map(u16::to_be_bytes).collect()));
        }
        Self { word: word.to_owned(), forms }.and_hash_of(&[word, &lower])
    }

    /// Adds the SHA-256 hashes of these texts to the forms.
    pub(super) fn and_hash_of(mut self, texts: &[&str]) -> Self {
        for text in texts {
            let hash = Sha256::digest(text.as_bytes());
            let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
            self.forms.extend([("sha-256", hash.to_vec()), ("sha-256 in hex", hex.into_bytes())]);
        }
        self
    }

    /// Returns the marker with a name as suffix.
    pub(super) fn named(&self, name: &str) -> String {
        format!("{}{name}", self.word)
    }

    /// Returns a host name that contains the marker.
    pub(super) fn host(&self, name: &str) -> String {
        format!("{}{name}.test", self.word.to_ascii_lowercase())
    }

    /// Returns the form in which the marker occurs in `bytes`, with the bytes around it.
    pub(super) fn trace(&self, bytes: &[u8]) -> Option<String> {
        let lower = bytes.to_ascii_lowercase();
        self.forms.iter().find_map(|(form, needle)| {
            // Lower case would change the meaning of base64 and of UTF-16.
            let haystack = if *form == "plain" { &lower[..] } else { bytes };
            let start = memchr::memmem::find(haystack, needle)?;
            let context =
                &bytes[start.saturating_sub(CONTEXT)..bytes.len().min(start + needle.len() + CONTEXT)];
            Some(format!("{form}: {}", String::from_utf8_lossy(context)))
        })
    }
}

/// Returns the base64 form of a text at an offset of `shift` bytes from a multiple of three, without the characters that
/// also encode neighbouring bytes.
fn in_base64(text: &str, shift: usize) -> Vec<u8> {
    let skipped = (3 - shift) % 3;
    let length = (text.len() - skipped) / 3 * 3;
    BASE64_STANDARD_NO_PAD.encode(&text.as_bytes()[skipped..skipped + length]).into_bytes()
}

#[test]
fn marker_is_found_in_every_encoding() {
    let marker = Marker::new().and_hash_of(&["http://a.test/"]);
    let text = marker.named("title");
    for prefix in ["", "a", "ab", "abc"] {
        let text = format!("{prefix}{text} and more");
        for text in [&text, &text.to_ascii_lowercase(), &text.to_ascii_uppercase()] {
            assert!(marker.trace(text.as_bytes()).is_some(), "{text}");
        }
        for text in [&text, &text.to_ascii_lowercase()] {
            assert!(marker.trace(BASE64_STANDARD_NO_PAD.encode(text).as_bytes()).is_some(), "{text}");
            for wide in [u16::to_le_bytes, u16::to_be_bytes] {
                let wide: Vec<u8> = text.encode_utf16().flat_map(wide).collect();
                assert!(marker.trace(&wide).is_some(), "{text}");
            }
        }
    }
    assert!(marker.trace(&Sha256::digest(b"http://a.test/")).is_some());
    assert!(marker.trace(Marker::new().named("title").as_bytes()).is_none(), "another marker matches");
}
