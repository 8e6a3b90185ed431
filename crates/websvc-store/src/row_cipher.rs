//! Encryption of rows that one client may read, so that a copy of the database does not reveal their content.
//!
//! Everything is derived from a secret that only the client has, such as a cookie: the id of the row is its hash, and
//! the key that encrypts the content is derived from it with HKDF (RFC 5869). The secret has at least 64 random bits, so
//! neither can be reversed by trying secrets, and the id says nothing about the key.

use std::fmt;

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Salt};
use sha2::{Digest, Sha256};

use crate::error::StoreError;

/// The id and the key of a row.
pub(crate) struct RowCipher {
    id: [u8; 32],
    key: LessSafeKey,
}

impl fmt::Debug for RowCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RowCipher(..)")
    }
}

impl RowCipher {
    /// Derives the id and the key from a secret. The purpose separates the keys of different tables; a change of the
    /// content's form needs another one.
    pub(crate) fn new(secret: &str, purpose: &str) -> Self {
        let purpose = [purpose.as_bytes()];
        let extracted = Salt::new(HKDF_SHA256, &[]).extract(secret.as_bytes());
        let key = extracted.expand(&purpose, &AES_256_GCM).expect("a key is shorter than the limit of HKDF");
        Self { id: Sha256::digest(secret.as_bytes()).into(), key: LessSafeKey::new(UnboundKey::from(key)) }
    }

    /// Returns the id of the row: SHA-256 of the secret.
    pub(crate) fn id(&self) -> &[u8; 32] {
        &self.id
    }

    /// Encrypts the content of the row. The result begins with a nonce. The expiry is authenticated with the content.
    ///
    /// # Errors
    /// [`StoreError::Random`]
    pub(crate) fn encrypt(&self, content: &[u8], expires_at_ms: u64) -> Result<Vec<u8>, StoreError> {
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).map_err(|source| StoreError::Random { source })?;
        let mut encrypted = content.to_vec();
        self.key
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                additional_data(expires_at_ms),
                &mut encrypted,
            )
            .expect("a row is shorter than the limit of AES-GCM, 64 GiB");
        Ok([nonce.as_slice(), &encrypted].concat())
    }

    /// Decrypts the content of the row; `None` if it was not encrypted with this key and expiry.
    pub(crate) fn decrypt(&self, encrypted: &[u8], expires_at_ms: u64) -> Option<Vec<u8>> {
        let (nonce, encrypted) = encrypted.split_first_chunk::<NONCE_LEN>()?;
        let mut content = encrypted.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let length = self.key.open_in_place(nonce, additional_data(expires_at_ms), &mut content).ok()?.len();
        content.truncate(length);
        Some(content)
    }
}

/// Returns the data that is authenticated with the content, so that no row can be prolonged in the database.
fn additional_data(expires_at_ms: u64) -> Aad<[u8; 8]> {
    Aad::from(expires_at_ms.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use data_encoding::HEXLOWER;

    const SECRET: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn cipher(secret: &str) -> RowCipher {
        RowCipher::new(secret, "test")
    }

    #[test]
    fn content_is_decrypted_only_with_its_secret_purpose_and_expiry() {
        let encrypted = cipher(SECRET).encrypt(b"fc-1", 7).unwrap();
        assert!(!encrypted.windows(4).any(|bytes| bytes == b"fc-1"));
        assert_eq!(cipher(SECRET).decrypt(&encrypted, 7).as_deref(), Some(&b"fc-1"[..]));
        assert_eq!(cipher(SECRET).decrypt(&encrypted, 8), None, "another expiry");
        assert_eq!(cipher(&SECRET[1..]).decrypt(&encrypted, 7), None, "another secret");
        assert_eq!(RowCipher::new(SECRET, "other").decrypt(&encrypted, 7), None, "another purpose");
    }

    #[test]
    fn changed_content_is_not_decrypted() {
        let cipher = cipher(SECRET);
        let encrypted = cipher.encrypt(b"fc-1", 7).unwrap();
        for position in 0..encrypted.len() {
            let mut changed = encrypted.clone();
            changed[position] ^= 1;
            assert_eq!(cipher.decrypt(&changed, 7), None, "byte {position}");
            assert_eq!(cipher.decrypt(&encrypted[..position], 7), None, "{position} bytes");
        }
    }

    #[test]
    fn id_is_the_hash_of_the_secret_and_equal_contents_differ() {
        let cipher = cipher("abc");
        // The test vector "abc" of FIPS 180-2.
        assert!(HEXLOWER.encode(cipher.id()).starts_with("ba7816bf8f01cfea414140de5dae2223"));
        assert_ne!(cipher.encrypt(b"fc-1", 7).unwrap(), cipher.encrypt(b"fc-1", 7).unwrap());
        assert_eq!(format!("{cipher:?}"), "RowCipher(..)");
    }
}
