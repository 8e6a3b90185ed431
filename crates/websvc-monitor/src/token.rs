//! Tokens of links, made of a secret, so that the store need not have them.

use websvc_notify::webhook::SigningSecret;

/// Length of a token in characters: 128 bits in hexadecimal digits.
const TOKEN_CHARS: usize = 32;

/// Returns the token of a purpose: its hash, keyed by the secret.
pub(crate) fn keyed_token(secret: &[u8], purpose: &str) -> String {
    let secret = SigningSecret::new(&SigningSecret::encode(secret)).expect("an encoded secret is valid");
    let mut token = secret.sign_body(purpose.as_bytes());
    token.truncate(TOKEN_CHARS);
    token
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_a_keyed_hash() {
        // Computed by `printf %s purpose | openssl dgst -sha256 -hmac KEY`, where KEY is the secret as text
        // (`whsec_AQEB...AQE=`). The links in old emails have such tokens.
        assert_eq!(keyed_token(&[1; 32], "purpose"), "96cb1706e6537053edadbf0359f8c57d");
    }
}
