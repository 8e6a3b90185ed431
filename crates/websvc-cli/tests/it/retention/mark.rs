//! A word that nobody else writes, and how it is found wherever it may have gone.

use std::hash::{BuildHasher, RandomState};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use sha2::{Digest, Sha256};

/// How much is shown of what is around a trace.
const AROUND: usize = 80;

/// A random word. What is asked and what is answered has it with a name behind it, so that a trace tells where it is from.
pub(super) struct Mark {
    word: String,
    forms: Vec<(&'static str, Vec<u8>)>,
}

impl Mark {
    pub(super) fn new() -> Self {
        Self::of(&format!("Zq{:016x}", RandomState::new().hash_one("a mark")))
    }

    /// Returns the mark that is this text. It is found in capitals and in small letters, in base64, in UTF-16 and, where it
    /// stands alone or in a text that is [told](Self::and_hash_of), as its hash.
    pub(super) fn of(word: &str) -> Self {
        let small = word.to_ascii_lowercase();
        let mut forms = vec![("plain", small.clone().into_bytes())];
        for text in [word, &small] {
            forms.extend((0..3).map(|shift| ("base64", in_base64(text, shift))));
            forms.push(("utf-16le", text.encode_utf16().flat_map(u16::to_le_bytes).collect()));
            forms.push(("utf-16be", text.encode_utf16().flat_map(u16::to_be_bytes).collect()));
        }
        Self { word: word.to_owned(), forms }.and_hash_of(&[word, &small])
    }

    /// Lets the plain hashes of these texts count as traces.
    pub(super) fn and_hash_of(mut self, texts: &[&str]) -> Self {
        for text in texts {
            let hash = Sha256::digest(text.as_bytes());
            let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
            self.forms.extend([("sha-256", hash.to_vec()), ("sha-256 in hex", hex.into_bytes())]);
        }
        self
    }

    /// Returns the mark with a name behind it.
    pub(super) fn named(&self, name: &str) -> String {
        format!("{}{name}", self.word)
    }

    /// Returns a host with the mark in its name.
    pub(super) fn host(&self, name: &str) -> String {
        format!("{}{name}.test", self.word.to_ascii_lowercase())
    }

    /// Returns the form in which the mark is in these bytes, and what is around it.
    pub(super) fn trace(&self, bytes: &[u8]) -> Option<String> {
        let small = bytes.to_ascii_lowercase();
        self.forms.iter().find_map(|(form, needle)| {
            // Letters of base64 and of UTF-16 are not made small without becoming others.
            let within = if *form == "plain" { &small[..] } else { bytes };
            let at = memchr::memmem::find(within, needle)?;
            let around = &bytes[at.saturating_sub(AROUND)..bytes.len().min(at + needle.len() + AROUND)];
            Some(format!("{form}: {}", String::from_utf8_lossy(around)))
        })
    }
}

/// Returns what base64 makes of a text that stands `shift` bytes after a multiple of three, without what its neighbours
/// have a part in.
fn in_base64(text: &str, shift: usize) -> Vec<u8> {
    let skipped = (3 - shift) % 3;
    let whole = (text.len() - skipped) / 3 * 3;
    BASE64_STANDARD_NO_PAD.encode(&text.as_bytes()[skipped..skipped + whole]).into_bytes()
}

#[test]
fn a_mark_is_found_in_every_form() {
    let mark = Mark::new().and_hash_of(&["http://a.test/"]);
    let text = mark.named("title");
    for prefix in ["", "a", "ab", "abc"] {
        let text = format!("{prefix}{text} and more");
        for text in [&text, &text.to_ascii_lowercase(), &text.to_ascii_uppercase()] {
            assert!(mark.trace(text.as_bytes()).is_some(), "{text}");
        }
        for text in [&text, &text.to_ascii_lowercase()] {
            assert!(mark.trace(BASE64_STANDARD_NO_PAD.encode(text).as_bytes()).is_some(), "{text}");
            for wide in [u16::to_le_bytes, u16::to_be_bytes] {
                let wide: Vec<u8> = text.encode_utf16().flat_map(wide).collect();
                assert!(mark.trace(&wide).is_some(), "{text}");
            }
        }
    }
    assert!(mark.trace(&Sha256::digest(b"http://a.test/")).is_some());
    assert!(mark.trace(Mark::new().named("title").as_bytes()).is_none(), "another is not found");
}
