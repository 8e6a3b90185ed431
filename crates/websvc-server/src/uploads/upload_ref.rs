//! Signed references of uploads: `PAYLOAD.SIGNATURE`, both in base64url.
//!
//! The payload is JSON. The signature is HMAC-SHA-256 over the encoded payload, with a secret that all replicas have.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The version of the payload.
const VERSION: u32 = 1;

/// The reference of an upload: the permission to send its file, and for its team to convert it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UploadRef {
    #[serde(rename = "v")]
    version: u32,
    id: String,
    team: String,
    /// The number of the replica that has the upload.
    replica: i64,
    /// In milliseconds since the Unix epoch.
    expires_at: u64,
}

/// The reason why a text is not a valid reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UploadRefError {
    #[error("uploadRef must be the value that POST /v2/parse/upload-url returned")]
    Malformed,
    #[error(
        "the signature of uploadRef is not valid: send the value that POST /v2/parse/upload-url returned"
    )]
    Forged,
    #[error("uploadRef has expired: request another upload URL")]
    Expired,
}

impl UploadRef {
    pub(crate) fn new(id: Uuid, team: &str, replica: i64, expires_at: u64) -> Self {
        Self { version: VERSION, id: id.to_string(), team: team.to_owned(), replica, expires_at }
    }

    pub(crate) fn id(&self) -> Option<Uuid> {
        self.id.parse().ok()
    }

    pub(crate) fn team(&self) -> &str {
        &self.team
    }

    pub(crate) fn replica(&self) -> i64 {
        self.replica
    }
}

/// Signs references, and verifies their signatures.
pub(super) struct RefSigner(hmac::Key);

impl RefSigner {
    pub(super) fn new(secret: &[u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }

    /// Returns the text of a reference.
    pub(super) fn sign(&self, reference: &UploadRef) -> String {
        let payload = serde_json::to_vec(reference).expect("a structure of texts and numbers is JSON");
        let payload = URL_SAFE_NO_PAD.encode(payload);
        let signature = URL_SAFE_NO_PAD.encode(hmac::sign(&self.0, payload.as_bytes()));
        format!("{payload}.{signature}")
    }

    /// Returns the reference of a text. The signature is verified before the payload is read.
    pub(super) fn verify(&self, text: &str, now_ms: u64) -> Result<UploadRef, UploadRefError> {
        let (payload, signature) = text.split_once('.').ok_or(UploadRefError::Malformed)?;
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| UploadRefError::Forged)?;
        hmac::verify(&self.0, payload.as_bytes(), &signature).map_err(|_| UploadRefError::Forged)?;
        let payload = URL_SAFE_NO_PAD.decode(payload).map_err(|_| UploadRefError::Malformed)?;
        let reference: UploadRef = serde_json::from_slice(&payload).map_err(|_| UploadRefError::Malformed)?;
        if reference.version != VERSION || reference.id().is_none() {
            return Err(UploadRefError::Malformed);
        }
        if now_ms >= reference.expires_at {
            return Err(UploadRefError::Expired);
        }
        Ok(reference)
    }
}

impl fmt::Debug for RefSigner {
    /// Omits the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RefSigner(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_is_valid_until_it_expires_and_only_with_its_signature() {
        let signer = RefSigner::new(&[7; 32]);
        let reference = UploadRef::new(Uuid::now_v7(), "red", 3, 1000);
        let text = signer.sign(&reference);
        assert_eq!(signer.verify(&text, 999), Ok(reference.clone()));
        assert_eq!(signer.verify(&text, 1000), Err(UploadRefError::Expired));
        assert_eq!(RefSigner::new(&[8; 32]).verify(&text, 0), Err(UploadRefError::Forged));
        let later =
            URL_SAFE_NO_PAD.encode(serde_json::to_vec(&UploadRef { expires_at: 5000, ..reference }).unwrap());
        let (payload, signature) = text.split_once('.').unwrap();
        for (forged, expected) in [
            (format!("{later}.{signature}"), UploadRefError::Forged),
            (format!("{payload}.{signature}A"), UploadRefError::Forged),
            (format!("{payload}.{signature}.{signature}"), UploadRefError::Forged),
            (format!("{payload}."), UploadRefError::Forged),
            (payload.to_owned(), UploadRefError::Malformed),
            (String::new(), UploadRefError::Malformed),
        ] {
            assert_eq!(signer.verify(&forged, 0), Err(expected), "{forged}");
        }
    }
}
