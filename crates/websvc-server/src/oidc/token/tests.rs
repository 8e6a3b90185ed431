//! Tests of the form and the signature of tokens, with the examples of RFC 7515, appendix A.

use serde_json::json;
use websvc_testkit::OidcKey;

use super::*;

const ALL: &[SignatureAlgorithm] = SignatureAlgorithm::ALL;
const PAYLOAD: &str =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
const RS256: &str = "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
const ES256: &str = "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";

fn key_set(keys: &[Value]) -> KeySet {
    KeySet::parse(json!({ "keys": keys }).to_string().as_bytes()).unwrap()
}

fn verify(text: &str, keys: &KeySet) -> Result<Map<String, Value>, TokenRefusal> {
    Token::parse(text, ALL)?.verify(keys)
}

#[track_caller]
fn refuse(text: &str, keys: &KeySet, expected: &str) {
    let refusal = verify(text, keys).unwrap_err();
    assert!(matches!(&refusal, TokenRefusal::Invalid(rule) if rule.contains(expected)), "{refusal:?}");
}

#[test]
fn examples_of_the_standard_are_valid() {
    // The key of the example is that of the fake provider.
    let rsa = key_set(&[OidcKey::new("a", "RS256").jwk()]);
    let token = format!("eyJhbGciOiJSUzI1NiJ9.{PAYLOAD}.{RS256}");
    assert_eq!(verify(&token, &rsa).unwrap()["iss"], json!("joe"));
    let ec = json!({
        "kty": "EC", "crv": "P-256",
        "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
    });
    let token = format!("eyJhbGciOiJFUzI1NiJ9.{PAYLOAD}.{ES256}");
    assert_eq!(verify(&token, &key_set(&[ec])).unwrap()["exp"], json!(1_300_819_380));
}

#[test]
fn each_algorithm_verifies_its_own_signatures_only() {
    let names = ["RS256", "PS256", "ES256", "ES384", "EdDSA"];
    let keys: Vec<OidcKey> = names.iter().map(|name| OidcKey::new(name, name)).collect();
    let set = key_set(&keys.iter().map(OidcKey::jwk).collect::<Vec<_>>());
    let claims = json!({ "iss": "tea" });
    for key in &keys {
        let token = key.sign(&claims);
        assert_eq!(verify(&token, &set).unwrap()["iss"], json!("tea"));
        let (start, signature) = token.rsplit_once('.').unwrap();
        let (header, _payload) = start.split_once('.').unwrap();
        let other = BASE64URL_NOPAD.encode(json!({ "iss": "coffee" }).to_string().as_bytes());
        refuse(&format!("{header}.{other}.{signature}"), &set, "signature is not valid");
        refuse(&format!("{start}."), &set, "signature is not valid");
    }
    for (key, name) in keys.iter().zip(["PS256", "RS256", "ES384", "ES256", "RS256"]) {
        let header = json!({ "alg": name, "kid": name });
        refuse(&key.sign_with_header(&header, &claims), &set, "signature is not valid");
    }
}

#[test]
fn algorithms_without_a_public_key_are_refused() {
    let key = OidcKey::new("a", "RS256");
    let set = key_set(&[key.jwk()]);
    let payload = BASE64URL_NOPAD.encode(b"{}");
    for name in ["none", "NONE", "nOnE", "HS256", "HS384", "HS512", "RS1", ""] {
        let header = json!({ "alg": name, "kid": "a" });
        refuse(&key.sign_with_header(&header, &json!({})), &set, "is not allowed");
        let header = BASE64URL_NOPAD.encode(header.to_string().as_bytes());
        refuse(&format!("{header}.{payload}."), &set, "is not allowed");
    }
    // The public key as a shared secret.
    let modulus = key.jwk()["n"].as_str().unwrap().to_owned();
    let header = BASE64URL_NOPAD.encode(json!({ "alg": "HS256", "kid": "a" }).to_string().as_bytes());
    let message = format!("{header}.{payload}");
    let secret = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, modulus.as_bytes());
    let signature = BASE64URL_NOPAD.encode(ring::hmac::sign(&secret, message.as_bytes()).as_ref());
    refuse(&format!("{message}.{signature}"), &set, "algorithm \"HS256\" is not allowed");
}

#[test]
fn algorithm_outside_the_configuration_is_refused() {
    let token = OidcKey::new("a", "ES256").sign(&json!({}));
    let refusal = Token::parse(&token, &[SignatureAlgorithm::Rs256]).unwrap_err();
    assert_eq!(refusal.reason(), "its algorithm \"ES256\" is not allowed");
}

#[test]
fn key_in_the_header_is_ignored() {
    let (own, attacker) = (OidcKey::new("a", "ES256"), OidcKey::new("a", "ES256"));
    let set = key_set(&[own.jwk()]);
    let header = json!({
        "alg": "ES256", "kid": "a", "jwk": attacker.jwk(), "jku": "https://evil.test/keys", "x5u": "https://evil.test/",
    });
    refuse(&attacker.sign_with_header(&header, &json!({})), &set, "signature is not valid");
}

#[test]
fn unknown_key_and_missing_id_are_refused() {
    let (first, second) = (OidcKey::new("a", "ES256"), OidcKey::new("b", "ES256"));
    let set = key_set(&[first.jwk(), second.jwk()]);
    refuse(&OidcKey::new("c", "ES256").sign(&json!({})), &set, "has no key \"c\" for ES256");
    let without_id = first.sign_with_header(&json!({ "alg": "ES256" }), &json!({}));
    refuse(&without_id, &set, "it names no key");
    assert!(verify(&without_id, &key_set(&[first.jwk()])).is_ok(), "there is no choice");
}

#[test]
fn header_rules_are_checked() {
    let key = OidcKey::new("a", "ES256");
    let set = key_set(&[key.jwk()]);
    let sign = |header: Value| key.sign_with_header(&header, &json!({}));
    refuse(&sign(json!({ "alg": "ES256", "crit": ["b64"], "b64": false })), &set, "critical extensions");
    refuse(&sign(json!({ "alg": "ES256", "typ": "logout+jwt" })), &set, "type \"logout+jwt\"");
    refuse(&sign(json!({ "kid": "a" })), &set, "header is not valid");
    refuse(&sign(json!("ES256")), &set, "header is not valid");
    for typ in ["JWT", "jwt", "at+jwt", "application/at+jwt"] {
        assert!(verify(&sign(json!({ "alg": "ES256", "typ": typ })), &set).is_ok(), "{typ}");
    }
    let not_object = key.sign_with_header(&json!({ "alg": "ES256" }), &json!([1]));
    refuse(&not_object, &set, "payload is not a JSON object");
}

#[test]
fn text_that_is_not_a_token_is_refused() {
    let key = OidcKey::new("a", "ES256");
    let set = key_set(&[key.jwk()]);
    let token = key.sign(&json!({}));
    refuse(&format!("{token}.x.y"), &set, "three parts");
    refuse(&token.replacen('.', ".=", 1), &set, "payload is not base64url");
    refuse(&format!("{token}=="), &set, "signature is not base64url");
    refuse("a.b", &set, "three parts");
    let long = key.sign(&json!({ "text": "x".repeat(MAX_TOKEN_BYTES) }));
    refuse(&long, &set, "more than 16384");
}

#[test]
fn only_bearers_of_this_form_are_tokens() {
    assert!(has_form_of_token(&OidcKey::new("a", "ES256").sign(&json!({}))));
    for key in ["fc-0123456789abcdef0123456789abcdef", "eyJ", "a.b.c", "eyJhbGciOiJub25lIn0.x", ""] {
        assert!(!has_form_of_token(key), "{key}");
    }
}

#[test]
fn values_in_errors_are_short_and_escaped() {
    assert_eq!(shown("a\u{1b}[31m"), "\"a\\u{1b}[31m\"");
    assert_eq!(shown(&"x".repeat(100)).len(), 62);
}
