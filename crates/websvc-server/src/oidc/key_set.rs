//! The keys of a provider (JWK set, RFC 7517).

use data_encoding::BASE64URL_NOPAD;
use serde::Deserialize;
use serde_json::Value;

use super::algorithm::{PublicKey, SignatureAlgorithm};

/// Maximum number of keys. Providers have a few.
const MAX_KEYS: usize = 100;

/// The keys with which a provider signs.
#[derive(Debug, Default)]
pub(super) struct KeySet(Vec<SigningKey>);

#[derive(Debug)]
struct SigningKey {
    id: Option<String>,
    /// The only algorithm of the key, if the provider names one.
    algorithm: Option<String>,
    key: PublicKey,
}

/// The members of a key that matter here.
#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

#[derive(Deserialize)]
struct JwkSet {
    keys: Vec<Value>,
}

impl KeySet {
    /// Reads a JWK set. Keys that cannot verify a signature here are left out: those for encryption, shared secrets, and types
    /// that are not known.
    ///
    /// # Errors
    /// The broken rule.
    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        let JwkSet { keys } =
            serde_json::from_slice(text).map_err(|error| format!("it is not a JWK set: {error}"))?;
        if keys.len() > MAX_KEYS {
            return Err(format!("it has {} keys, more than {MAX_KEYS}", keys.len()));
        }
        let keys: Vec<SigningKey> = keys.into_iter().filter_map(signing_key).collect();
        if keys.is_empty() {
            return Err("it has no public key for signatures with RSA, P-256, P-384 or Ed25519".to_owned());
        }
        Ok(Self(keys))
    }

    /// Returns the number of keys.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the keys that may have made the signature of a token. A token without the id of a key has one only if
    /// there is no choice.
    pub(super) fn candidates(&self, id: Option<&str>, algorithm: SignatureAlgorithm) -> Vec<&PublicKey> {
        let fits = |key: &&SigningKey| {
            algorithm.accepts(&key.key)
                && key.algorithm.as_ref().is_none_or(|name| name == algorithm.as_str())
                && (id.is_none() || key.id.as_deref() == id)
        };
        let keys: Vec<&PublicKey> = self.0.iter().filter(fits).map(|key| &key.key).collect();
        if id.is_none() && keys.len() > 1 { Vec::new() } else { keys }
    }
}

fn signing_key(value: Value) -> Option<SigningKey> {
    let Jwk { kty, kid, alg, usage, crv, n, e, x, y } = serde_json::from_value(value).ok()?;
    if usage.is_some_and(|usage| usage != "sig") {
        return None;
    }
    let bytes = |text: Option<String>| BASE64URL_NOPAD.decode(text?.as_bytes()).ok();
    let point = |length: usize| {
        let (x, y) = (bytes(x.clone())?, bytes(y.clone())?);
        (x.len() == length && y.len() == length).then(|| [&[4][..], &x, &y].concat())
    };
    let key = match (kty.as_str(), crv.as_deref()) {
        ("RSA", _) => PublicKey::Rsa { n: without_zeros(bytes(n)?), e: without_zeros(bytes(e)?) },
        ("EC", Some("P-256")) => PublicKey::P256(point(32)?),
        ("EC", Some("P-384")) => PublicKey::P384(point(48)?),
        ("OKP", Some("Ed25519")) => PublicKey::Ed25519(bytes(x).filter(|bytes| bytes.len() == 32)?),
        _ => return None,
    };
    Some(SigningKey { id: kid, algorithm: alg, key })
}

/// Removes leading zeros of a number, which some providers write.
fn without_zeros(bytes: Vec<u8>) -> Vec<u8> {
    bytes.into_iter().skip_while(|byte| *byte == 0).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::oidc::algorithm::SignatureAlgorithm::{EdDsa, Es256, Ps256, Rs256};

    fn point(length: usize) -> String {
        BASE64URL_NOPAD.encode(&vec![7; length])
    }

    fn rsa(kid: &str) -> Value {
        json!({ "kty": "RSA", "kid": kid, "use": "sig", "n": point(256), "e": "AQAB" })
    }

    fn parse(keys: &[Value]) -> Result<KeySet, String> {
        KeySet::parse(json!({ "keys": keys }).to_string().as_bytes())
    }

    #[test]
    fn key_is_found_by_its_id_and_its_type() {
        let ec = json!({ "kty": "EC", "kid": "e", "crv": "P-256", "x": point(32), "y": point(32) });
        let okp = json!({ "kty": "OKP", "kid": "o", "crv": "Ed25519", "x": point(32), "alg": "EdDSA" });
        let set = parse(&[rsa("a"), rsa("b"), ec, okp]).unwrap();
        let count = |id, algorithm| set.candidates(id, algorithm).len();
        assert_eq!(
            [count(Some("a"), Rs256), count(Some("a"), Ps256), count(Some("a"), Es256)],
            [1, 1, 0],
            "the type of the key decides"
        );
        assert_eq!([count(Some("e"), Es256), count(Some("o"), EdDsa), count(Some("x"), Rs256)], [1, 1, 0]);
        assert_eq!(
            [count(None, Rs256), count(None, Es256)],
            [0, 1],
            "without an id only if there is no choice"
        );
    }

    #[test]
    fn key_with_an_algorithm_verifies_no_other() {
        let mut key = rsa("a");
        key["alg"] = json!("RS256");
        let set = parse(&[key]).unwrap();
        assert_eq!([Rs256, Ps256].map(|algorithm| set.candidates(Some("a"), algorithm).len()), [1, 0]);
    }

    #[test]
    fn keys_for_other_purposes_and_unknown_types_are_left_out() {
        let mut encryption = rsa("a");
        encryption["use"] = json!("enc");
        let others = [
            encryption,
            json!({ "kty": "oct", "kid": "s", "k": "c2VjcmV0" }),
            json!({ "kty": "EC", "crv": "secp256k1", "x": point(32), "y": point(32) }),
            json!({ "kty": "EC", "crv": "P-256", "x": point(31), "y": point(32) }),
            json!({ "kty": "OKP", "crv": "X25519", "x": point(32) }),
            json!({ "kty": "RSA", "n": "***", "e": "AQAB" }),
            json!({ "kty": "RSA" }),
            json!("text"),
        ];
        assert!(parse(&others).is_err());
        assert_eq!(parse(&[others.to_vec(), vec![rsa("b")]].concat()).unwrap().len(), 1);
    }

    #[test]
    fn set_is_bounded_and_must_be_one() {
        assert!(parse(&vec![rsa("a"); MAX_KEYS]).is_ok());
        assert!(parse(&vec![rsa("a"); MAX_KEYS + 1]).unwrap_err().contains("101 keys"));
        for text in ["", "[]", "{}", "<html>", r#"{"keys": 1}"#, r#"{"keys": []}"#] {
            assert!(KeySet::parse(text.as_bytes()).is_err(), "{text}");
        }
    }
}
