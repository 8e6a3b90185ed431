//! Signed URLs: `/artifacts/ID.EXTENSION?expires=SECONDS&signature=HEX`, for a file with `&name=NAME`.
//!
//! The signature is HMAC-SHA-256 over ID, kind, expiry and name, with a secret of the store. So the expiry of a URL can be
//! trusted, also after the artifact was removed.

use std::fmt;

use data_encoding::HEXLOWER;
use ring::hmac;

use crate::file_name::FileName;
use crate::kind::ArtifactKind;

/// The path prefix of all artifact URLs.
pub const PREFIX: &str = "/artifacts/";

const ID_CHARS: usize = 32;
const SIGNATURE_BYTES: usize = 32;

/// The parts of a signed URL. Its format is valid, but its signature is not verified yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedUrl {
    pub(crate) id: String,
    pub(crate) kind: ArtifactKind,
    /// The expiry, in seconds since the Unix epoch.
    pub(crate) expires_s: u64,
    /// The name of a file.
    pub(crate) name: Option<FileName>,
    signature: [u8; SIGNATURE_BYTES],
}

impl SignedUrl {
    /// Parses the last segment of the path, and the query. Returns `None` if they are not those of a signed URL.
    ///
    /// The segment must be 32 hex digits and a known extension, so it cannot contain a path. Additional query parameters
    /// are ignored.
    #[must_use]
    pub fn parse(file_name: &str, query: Option<&str>) -> Option<Self> {
        let (id, extension) = file_name.split_once('.')?;
        if id.len() != ID_CHARS || !id.bytes().all(is_hex_digit) {
            return None;
        }
        let query = query.unwrap_or_default();
        let kind = ArtifactKind::from_extension(extension)?;
        let is_named = kind == ArtifactKind::File && query.split('&').any(|pair| pair.starts_with("name="));
        let name = if is_named { Some(FileName::from_query(parameter(query, "name")?)?) } else { None };
        Some(Self {
            id: id.to_owned(),
            kind,
            name,
            expires_s: parse_decimal(parameter(query, "expires")?)?,
            signature: parse_signature(parameter(query, "signature")?)?,
        })
    }
}

/// Returns the value of a parameter; `None` if it is missing or given more than once.
fn parameter<'a>(query: &'a str, name: &str) -> Option<&'a str> {
    let mut values = query.split('&').filter_map(|pair| pair.split_once('=')).filter(|pair| pair.0 == name);
    let value = values.next()?.1;
    values.next().is_none().then_some(value)
}

/// Parses a number in its canonical form, so that every expiry has one spelling.
fn parse_decimal(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

fn parse_signature(text: &str) -> Option<[u8; SIGNATURE_BYTES]> {
    HEXLOWER.decode(text.as_bytes()).ok()?.try_into().ok()
}

/// Returns whether a byte is a hex digit in lower case.
fn is_hex_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// Creates and verifies signatures of URLs.
pub(crate) struct UrlSigner(hmac::Key);

impl UrlSigner {
    pub(crate) fn new(secret: &[u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }

    /// Returns path and query of the URL.
    pub(crate) fn path(
        &self,
        id: &str,
        kind: ArtifactKind,
        expires_s: u64,
        name: Option<&FileName>,
    ) -> String {
        let signature = hmac::sign(&self.0, message(id, kind, expires_s, name).as_bytes());
        let (extension, signature) = (kind.extension(), HEXLOWER.encode(signature.as_ref()));
        let name = name.map(|name| format!("&name={}", name.encoded())).unwrap_or_default();
        format!("{PREFIX}{id}.{extension}?expires={expires_s}&signature={signature}{name}")
    }

    /// Returns whether the signature is valid. Takes constant time.
    pub(crate) fn verify(&self, url: &SignedUrl) -> bool {
        let SignedUrl { id, kind, expires_s, name, signature } = url;
        let message = message(id, *kind, *expires_s, name.as_ref());
        hmac::verify(&self.0, message.as_bytes(), signature).is_ok()
    }
}

impl fmt::Debug for UrlSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UrlSigner(..)")
    }
}

fn message(id: &str, kind: ArtifactKind, expires_s: u64, name: Option<&FileName>) -> String {
    let name = name.map(|name| format!("\n{name}")).unwrap_or_default();
    format!("artifact\n{id}.{}\n{expires_s}{name}", kind.extension())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    fn parse(path: &str) -> Option<SignedUrl> {
        let (file_name, query) = path.strip_prefix(PREFIX)?.split_once('?')?;
        SignedUrl::parse(file_name, Some(query))
    }

    #[test]
    fn signed_url_is_parsed_and_verified() {
        let signer = UrlSigner::new(&[7; 32]);
        let path = signer.path(ID, ArtifactKind::Png, 1_900_000_000, None);
        let url = parse(&path).unwrap();
        assert_eq!((url.id.as_str(), url.kind, url.expires_s), (ID, ArtifactKind::Png, 1_900_000_000));
        assert!(signer.verify(&url));
        assert!(!UrlSigner::new(&[8; 32]).verify(&url), "another secret");
        assert!(signer.verify(&parse(&format!("{path}&utm_source=x")).unwrap()));
    }

    #[test]
    fn signature_covers_every_part() {
        let signer = UrlSigner::new(&[7; 32]);
        let path = signer.path(ID, ArtifactKind::Png, 1_900_000_000, None);
        for (from, to) in [
            ("0123", "1123"),
            (".png", ".pdf"),
            ("=1900000000", "=1900000001"),
            ("&signature=", "&signature=0"),
        ] {
            let mut changed = path.replacen(from, to, 1);
            changed.truncate(path.len());
            let url = parse(&changed).unwrap_or_else(|| panic!("{changed}"));
            assert!(!signer.verify(&url), "{changed}");
        }
    }

    #[test]
    fn name_of_a_file_is_signed() {
        let signer = UrlSigner::new(&[7; 32]);
        let name = FileName::new("Köln 1.csv");
        let path = signer.path(ID, ArtifactKind::File, 1_900_000_000, Some(&name));
        let url = parse(&path).unwrap();
        assert_eq!(url.name, Some(name));
        assert!(signer.verify(&url));
        let (unnamed, _) = path.split_once("&name=").unwrap();
        for changed in [unnamed.to_owned(), format!("{unnamed}&name=invoice.exe")] {
            assert!(!signer.verify(&parse(&changed).unwrap()), "{changed}");
        }
        for other in ["..%2Fa", "", "a&name=b"] {
            assert_eq!(parse(&format!("{unnamed}&name={other}")), None, "{other}");
        }
        let plain = signer.path(ID, ArtifactKind::File, 1_900_000_000, None);
        assert!(signer.verify(&parse(&plain).unwrap()));
    }

    #[test]
    fn url_of_another_form_is_not_parsed() {
        let path = UrlSigner::new(&[7; 32]).path(ID, ArtifactKind::Png, 1_900_000_000, None);
        let (file_name, query) = path.strip_prefix(PREFIX).unwrap().split_once('?').unwrap();
        for other in [
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
            assert_eq!(SignedUrl::parse(other, Some(query)), None, "{other:?}");
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
            assert_eq!(SignedUrl::parse(file_name, Some(&query)), None, "{query}");
        }
        assert_eq!(SignedUrl::parse(file_name, None), None);
    }
}
