//! The signature algorithms of tokens (RFC 7518, RFC 8037), all with public keys. `none` and those with a shared secret have no
//! variant, so no configuration and no token can choose them.

use std::fmt;
use std::str::FromStr;

use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256, RsaParameters,
    RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};

/// A signature algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureAlgorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    Rs384,
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    Rs512,
    /// RSASSA-PSS with SHA-256.
    Ps256,
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// ECDSA on P-384 with SHA-384.
    Es384,
    /// Ed25519.
    EdDsa,
}

/// A public key of a provider. Its type decides which algorithms it can verify, whatever a token names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PublicKey {
    /// Modulus and exponent.
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    /// An uncompressed point.
    P256(Vec<u8>),
    /// An uncompressed point.
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

impl SignatureAlgorithm {
    /// Every algorithm.
    pub const ALL: &'static [Self] =
        &[Self::Rs256, Self::Rs384, Self::Rs512, Self::Ps256, Self::Es256, Self::Es384, Self::EdDsa];

    /// Returns the name in tokens and in the configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Rs384 => "RS384",
            Self::Rs512 => "RS512",
            Self::Ps256 => "PS256",
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::EdDsa => "EdDSA",
        }
    }

    /// Returns whether a key has the type that this algorithm needs.
    pub(super) fn accepts(self, key: &PublicKey) -> bool {
        match self {
            Self::Rs256 | Self::Rs384 | Self::Rs512 | Self::Ps256 => matches!(key, PublicKey::Rsa { .. }),
            Self::Es256 => matches!(key, PublicKey::P256(_)),
            Self::Es384 => matches!(key, PublicKey::P384(_)),
            Self::EdDsa => matches!(key, PublicKey::Ed25519(_)),
        }
    }

    /// Returns whether a signature is that of a message by a key. RSA keys must have 2048 to 8192 bits.
    pub(super) fn verifies(self, key: &PublicKey, message: &[u8], signature: &[u8]) -> bool {
        let rsa = |parameters: &RsaParameters| match key {
            PublicKey::Rsa { n, e } => {
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signature).is_ok()
            }
            PublicKey::P256(_) | PublicKey::P384(_) | PublicKey::Ed25519(_) => false,
        };
        let plain = |algorithm: &'static dyn VerificationAlgorithm, bytes: &[u8]| {
            UnparsedPublicKey::new(algorithm, bytes).verify(message, signature).is_ok()
        };
        match (self, key) {
            (Self::Rs256, _) => rsa(&RSA_PKCS1_2048_8192_SHA256),
            (Self::Rs384, _) => rsa(&RSA_PKCS1_2048_8192_SHA384),
            (Self::Rs512, _) => rsa(&RSA_PKCS1_2048_8192_SHA512),
            (Self::Ps256, _) => rsa(&RSA_PSS_2048_8192_SHA256),
            (Self::Es256, PublicKey::P256(point)) => plain(&ECDSA_P256_SHA256_FIXED, point),
            (Self::Es384, PublicKey::P384(point)) => plain(&ECDSA_P384_SHA384_FIXED, point),
            (Self::EdDsa, PublicKey::Ed25519(point)) => plain(&ED25519, point),
            (Self::Es256 | Self::Es384 | Self::EdDsa, _) => false,
        }
    }
}

impl fmt::Display for SignatureAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for SignatureAlgorithm {
    type Err = UnknownAlgorithm;

    fn from_str(text: &str) -> Result<Self, UnknownAlgorithm> {
        let algorithm = Self::ALL.iter().find(|algorithm| algorithm.as_str() == text);
        algorithm.copied().ok_or_else(|| UnknownAlgorithm { given: text.to_owned() })
    }
}

/// The error for a text that is not an algorithm with a public key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is not one of RS256, RS384, RS512, PS256, ES256, ES384, EdDSA")]
pub struct UnknownAlgorithm {
    given: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_algorithms_with_public_keys_have_names() {
        for algorithm in SignatureAlgorithm::ALL {
            assert_eq!(algorithm.as_str().parse(), Ok(*algorithm));
        }
        for other in ["none", "None", "HS256", "HS512", "RS1", "rs256", "ES256K", "A128KW", ""] {
            let error = other.parse::<SignatureAlgorithm>().unwrap_err().to_string();
            assert!(SignatureAlgorithm::ALL.iter().all(|algorithm| error.contains(algorithm.as_str())));
        }
    }
}
