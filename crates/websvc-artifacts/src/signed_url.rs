//! The signed URLs: `/artifacts/ID.EXTENSION?expires=SECONDS&signature=HEX`.
//!
//! The signature is HMAC-SHA-256 over name, kind and expiry, by a secret that only the store has. What a URL says of its
//! expiry can therefore be believed, also when the artifact itself is long gone.

use std::fmt;

use ring::hmac;

use crate::kind::ArtifactKind;

/// Path prefix of all artifact URLs.
pub const PREFIX: &str = "/artifacts/";

const ID_CHARS: usize = 32;
const SIGNATURE_BYTES: usize = 32;

/// A URL of an artifact in its parts; of the right form, and not yet believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedUrl {
    pub(crate) id: String,
    pub(crate) kind: ArtifactKind,
    /// In seconds since the Unix epoch.
    pub(crate) expires_s: u64,
    signature: [u8; SIGNATURE_BYTES],
}

impl SignedUrl {
    /// Reads the last segment of the path and the query; `None` when they have not the form of a signed URL.
    ///
    /// The name is 32 hex digits and a known extension, so that no path of a file can be made out of it. Parameters
    /// that others have added do not count.
    #[must_use]
    pub fn read(file: &str, query: Option<&str>) -> Option<Self> {
        let (id, extension) = file.split_once('.')?;
        if id.len() != ID_CHARS || !id.bytes().all(is_digit) {
            return None;
        }
        let query = query.unwrap_or_default();
        Some(Self {
            id: id.to_owned(),
            kind: ArtifactKind::of_extension(extension)?,
            expires_s: decimal(parameter(query, "expires")?)?,
            signature: bytes(parameter(query, "signature")?)?,
        })
    }
}

/// Returns the value of a parameter that is given once.
fn parameter<'a>(query: &'a str, name: &str) -> Option<&'a str> {
    let mut values = query.split('&').filter_map(|pair| pair.split_once('=')).filter(|pair| pair.0 == name);
    let value = values.next()?.1;
    values.next().is_none().then_some(value)
}

/// Reads a number as we write it, so that one moment has one spelling.
fn decimal(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

fn bytes(text: &str) -> Option<[u8; SIGNATURE_BYTES]> {
    if text.len() != 2 * SIGNATURE_BYTES || !text.bytes().all(is_digit) {
        return None;
    }
    let mut bytes = [0; SIGNATURE_BYTES];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

/// Tells whether a byte is a hex digit as we write them: lower case.
fn is_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Creates and verifies signatures of URLs.
pub(crate) struct UrlSigner(hmac::Key);

impl UrlSigner {
    pub(crate) fn new(secret: &[u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }

    /// Returns path and query of the URL.
    pub(crate) fn path(&self, id: &str, kind: ArtifactKind, expires_s: u64) -> String {
        let signature = hmac::sign(&self.0, message(id, kind, expires_s).as_bytes());
        let (extension, signature) = (kind.extension(), hex(signature.as_ref()));
        format!("{PREFIX}{id}.{extension}?expires={expires_s}&signature={signature}")
    }

    /// Tells whether we signed this, in constant time.
    pub(crate) fn has_signed(&self, link: &SignedUrl) -> bool {
        let SignedUrl { id, kind, expires_s, signature } = link;
        hmac::verify(&self.0, message(id, *kind, *expires_s).as_bytes(), signature).is_ok()
    }
}

impl fmt::Debug for UrlSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signer(..)")
    }
}

fn message(id: &str, kind: ArtifactKind, expires_s: u64) -> String {
    format!("artifact\n{id}.{}\n{expires_s}", kind.extension())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    fn read(path: &str) -> Option<SignedUrl> {
        let (file, query) = path.strip_prefix(PREFIX)?.split_once('?')?;
        SignedUrl::read(file, Some(query))
    }

    #[test]
    fn a_signed_url_is_read_back_and_believed() {
        let signer = UrlSigner::new(&[7; 32]);
        let path = signer.path(ID, ArtifactKind::Png, 1_900_000_000);
        let link = read(&path).unwrap();
        assert_eq!((link.id.as_str(), link.kind, link.expires_s), (ID, ArtifactKind::Png, 1_900_000_000));
        assert!(signer.has_signed(&link));
        assert!(!UrlSigner::new(&[8; 32]).has_signed(&link), "another secret signs otherwise");
        assert!(signer.has_signed(&read(&format!("{path}&utm_source=x")).unwrap()));
    }

    #[test]
    fn no_part_can_be_exchanged() {
        let signer = UrlSigner::new(&[7; 32]);
        let path = signer.path(ID, ArtifactKind::Png, 1_900_000_000);
        for (from, to) in [
            ("0123", "1123"),
            (".png", ".pdf"),
            ("=1900000000", "=1900000001"),
            ("&signature=", "&signature=0"),
        ] {
            let mut other = path.replacen(from, to, 1);
            other.truncate(path.len());
            let link = read(&other).unwrap_or_else(|| panic!("{other}"));
            assert!(!signer.has_signed(&link), "{other}");
        }
    }

    #[test]
    fn what_has_not_the_form_is_not_read() {
        let path = UrlSigner::new(&[7; 32]).path(ID, ArtifactKind::Png, 1_900_000_000);
        let (file, query) = path.strip_prefix(PREFIX).unwrap().split_once('?').unwrap();
        for file in [
            "",
            ".",
            "..",
            "../websvc.db",
            "..%2fwebsvc.db",
            "%2e%2e",
            "0123456789abcdef0123456789abcdef",
            "0123456789abcdef0123456789abcdef.",
            "0123456789abcdef0123456789abcdef.exe",
            "0123456789abcdef0123456789abcdef.png.part",
            "0123456789ABCDEF0123456789ABCDEF.png",
            "0123456789abcdef0123456789abcde/.png",
            "0123456789abcdef0123456789abcdef\0.png",
            "/etc/passwd",
        ] {
            assert_eq!(SignedUrl::read(file, Some(query)), None, "{file:?}");
        }
        let signature = query.split_once("signature=").unwrap().1;
        for query in [
            String::new(),
            "expires=1900000000".to_owned(),
            format!("signature={signature}"),
            format!("expires=+1900000000&signature={signature}"),
            format!("expires=01900000000&signature={signature}"),
            format!("expires=99999999999999999999&signature={signature}"),
            format!("expires=1900000000&expires=1900000000&signature={signature}"),
            format!("expires=1900000000&signature={}", signature.to_uppercase()),
            format!("expires=1900000000&signature={signature}0"),
            "expires=1900000000&signature=".to_owned() + &"é".repeat(32),
        ] {
            assert_eq!(SignedUrl::read(file, Some(&query)), None, "{query}");
        }
        assert_eq!(SignedUrl::read(file, None), None);
    }
}
