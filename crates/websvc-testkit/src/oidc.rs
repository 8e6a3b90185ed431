//! A fake identity provider: the metadata, keys, tokens and the token endpoint of OpenID Connect.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use parking_lot::Mutex;
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::rsa::KeyPairComponents;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair,
    RSA_PKCS1_SHA256, RSA_PSS_SHA256, RsaEncoding, RsaKeyPair,
};
use serde_json::{Value, json};
use url::Url;

use crate::page::Page;
use crate::test_web::{ReceivedRequest, TestWebBuilder};

/// The RSA key of RFC 7515, appendix A.2, which everybody knows: ring cannot make one.
const RSA_KEY: [&str; 8] = [
    "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ",
    "AQAB",
    "Eq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyWPEAeP88vLNO97IjlA7_GQ5sLKMgvfTeXZx9SE-7YwVol2NXOoAJe46sui395IW_GO-pWJ1O0BkTGoVEn2bKVRUCgu-GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzjkn439X0M_V51gfpRLI9JYanrC4D4qAdGcopV_0ZHHzQlBjudU2QvXt4ehNYTCBr6XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl_x_jTj3ccPDVZFD9pIuhLhBOneufuBiB4cS98l2SR_RQyGWSeWjnczT0QU91p1DhOVRuOopznQ",
    "4BzEEOtIpmVdVEZNCqS7baC4crd0pqnRH_5IB3jw3bcxGn6QLvnEtfdUdiYrqBdss1l58BQ3KhooKeQTa9AB0Hw_Py5PJdTJNPY8cQn7ouZ2KKDcmnPGBY5t7yLc1QlQ5xHdwW1VhvKn-nXqhJTBgIPgtldC-KDV5z-y2XDwGUc",
    "uQPEfgmVtjL0Uyyx88GZFF1fOunH3-7cepKmtH4pxhtCoHqpWmT8YAmZxaewHgHAjLYsp1ZSe7zFYHj7C6ul7TjeLQeZD_YwD66t62wDmpe_HlB-TnBA-njbglfIsRLtXlnDzQkv5dTltRJ11BKBBypeeF6689rjcJIDEz9RWdc",
    "BwKfV3Akq5_MFZDFZCnW-wzl-CCo83WoZvnLQwCTeDv8uzluRSnm71I3QCLdhrqE2e9YkxvuxdBfpT_PI7Yz-FOKnu1R6HsJeDCjn12Sk3vmAktV2zb34MCdy7cpdTh_YVr7tss2u6vneTwrA86rZtu5Mbr1C1XsmvkxHQAdYo0",
    "h_96-mK1R_7glhsum81dZxjTnYynPbZpHziZjeeHcXYsXaaMwkOlODsWa7I9xXDoRwbKgB719rrmI2oKr6N3Do9U0ajaHF-NKJnwgjMd2w9cjz3_-kyNlxAr2v4IKhGNpmM5iIgOS1VZnOZ68m6_pbLBSp3nssTdlqvd0tIiTHU",
    "IYd7DHOhrWvxkwPQsRM2tOgrjbcrfvtQJipd-DlcxyVuuM9sQLdgjVk2oy26F0EmpScGLq2MowX7fhd_QJQ3ydy5cY7YIBi87w93IKLEdfnbJtoOPLUW0ITrJReOgo1cq9SbsxYawBgfp_gh6A5603k2-ZQwVK0JKSHuLFkuQ3U",
];

/// A private key of a provider.
pub struct OidcKey {
    id: String,
    algorithm: &'static str,
    pair: PrivateKey,
}

enum PrivateKey {
    Rsa(Box<RsaKeyPair>, &'static dyn RsaEncoding),
    Ec(Box<EcdsaKeyPair>, &'static str),
    Ed(Box<Ed25519KeyPair>),
}

impl OidcKey {
    /// Creates a key for `RS256`, `PS256`, `ES256`, `ES384` or `EdDSA`. All RSA keys are the same.
    ///
    /// # Panics
    /// For another algorithm.
    #[must_use]
    pub fn new(id: &str, algorithm: &'static str) -> Self {
        let random = SystemRandom::new();
        let ec = |parameters, curve| {
            let pkcs8 = EcdsaKeyPair::generate_pkcs8(parameters, &random).expect("keys can be made");
            let pair =
                EcdsaKeyPair::from_pkcs8(parameters, pkcs8.as_ref(), &random).expect("the key is valid");
            PrivateKey::Ec(Box::new(pair), curve)
        };
        let pair = match algorithm {
            "RS256" => PrivateKey::Rsa(Box::new(rsa_key()), &RSA_PKCS1_SHA256),
            "PS256" => PrivateKey::Rsa(Box::new(rsa_key()), &RSA_PSS_SHA256),
            "ES256" => ec(&ECDSA_P256_SHA256_FIXED_SIGNING, "P-256"),
            "ES384" => ec(&ECDSA_P384_SHA384_FIXED_SIGNING, "P-384"),
            "EdDSA" => {
                let pkcs8 = Ed25519KeyPair::generate_pkcs8(&random).expect("keys can be made");
                let pair = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).expect("the key is valid");
                PrivateKey::Ed(Box::new(pair))
            }
            other => panic!("{other} is not an algorithm of the fake"),
        };
        Self { id: id.to_owned(), algorithm, pair }
    }

    /// Returns the public key as a JWK.
    #[must_use]
    pub fn jwk(&self) -> Value {
        let mut jwk = match &self.pair {
            PrivateKey::Rsa(..) => json!({ "kty": "RSA", "n": RSA_KEY[0], "e": RSA_KEY[1] }),
            PrivateKey::Ec(pair, curve) => {
                let point = &pair.public_key().as_ref()[1..];
                let (x, y) = point.split_at(point.len() / 2);
                json!({ "kty": "EC", "crv": curve, "x": encode(x), "y": encode(y) })
            }
            PrivateKey::Ed(pair) => {
                json!({ "kty": "OKP", "crv": "Ed25519", "x": encode(pair.public_key().as_ref()) })
            }
        };
        jwk["kid"] = json!(self.id);
        jwk["alg"] = json!(self.algorithm);
        jwk["use"] = json!("sig");
        jwk
    }

    /// Signs claims.
    #[must_use]
    pub fn sign(&self, claims: &Value) -> String {
        let header = json!({ "alg": self.algorithm, "kid": self.id, "typ": "JWT" });
        self.sign_with_header(&header, claims)
    }

    /// Signs claims with a header that may be wrong.
    ///
    /// # Panics
    /// If the system provides no random numbers.
    #[must_use]
    pub fn sign_with_header(&self, header: &Value, claims: &Value) -> String {
        let message = format!("{}.{}", encode(header.to_string()), encode(claims.to_string()));
        let random = SystemRandom::new();
        let signature = match &self.pair {
            PrivateKey::Rsa(pair, encoding) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(*encoding, &random, message.as_bytes(), &mut signature).expect("the key can sign");
                signature
            }
            PrivateKey::Ec(pair, _) => {
                pair.sign(&random, message.as_bytes()).expect("the key can sign").as_ref().to_vec()
            }
            PrivateKey::Ed(pair) => pair.sign(message.as_bytes()).as_ref().to_vec(),
        };
        format!("{message}.{}", encode(signature))
    }
}

fn rsa_key() -> RsaKeyPair {
    let part = |at: usize| URL_SAFE_NO_PAD.decode(RSA_KEY[at]).expect("the key is valid");
    let public_key = ring::rsa::PublicKeyComponents { n: part(0), e: part(1) };
    let components = KeyPairComponents {
        public_key,
        d: part(2),
        p: part(3),
        q: part(4),
        dP: part(5),
        dQ: part(6),
        qInv: part(7),
    };
    RsaKeyPair::from_components(&components).expect("the key is valid")
}

fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A fake provider. Its requests are those of the test web that serves it.
#[derive(Clone)]
pub struct FakeOidc(Arc<State>);

struct State {
    issuer: String,
    /// `client_id` and `client_secret`; a public client has an empty secret.
    client: (String, String),
    mutable: Mutex<Mutable>,
}

struct Mutable {
    keys: Value,
    metadata: Value,
    is_down: bool,
    codes: HashMap<String, Code>,
}

/// A code that was issued for a request of the client.
struct Code {
    redirect_uri: String,
    challenge: String,
    id_token: String,
}

impl FakeOidc {
    /// Creates a provider with a client, and these keys.
    #[must_use]
    pub fn new(issuer: &str, client: (&str, &str), keys: &[&OidcKey]) -> Self {
        let metadata = json!({
            "issuer": issuer,
            "authorization_endpoint": format!("{issuer}/authorize?tenant=tea"),
            "token_endpoint": format!("{issuer}/token"),
            "jwks_uri": format!("{issuer}/keys"),
            "authorization_response_iss_parameter_supported": true,
        });
        let mutable = Mutable { keys: Value::Null, metadata, is_down: false, codes: HashMap::new() };
        let client = (client.0.to_owned(), client.1.to_owned());
        let this = Self(Arc::new(State { issuer: issuer.to_owned(), client, mutable: Mutex::new(mutable) }));
        this.set_keys(keys);
        this
    }

    /// Serves the provider at its issuer.
    #[must_use]
    pub fn serve(&self, web: TestWebBuilder) -> TestWebBuilder {
        let [metadata, keys, tokens] = [self.clone(), self.clone(), self.clone()];
        let issuer = &self.0.issuer;
        web.page_with(&format!("{issuer}/.well-known/openid-configuration"), move |_| {
            metadata.document(|state| &state.metadata)
        })
        .page_with(&format!("{issuer}/keys"), move |_| keys.document(|state| &state.keys))
        .page_with(&format!("{issuer}/token"), move |request| tokens.exchange(request))
    }

    /// Replaces the keys.
    pub fn set_keys(&self, keys: &[&OidcKey]) {
        let keys: Vec<Value> = keys.iter().map(|key| key.jwk()).collect();
        self.0.mutable.lock().keys = json!({ "keys": keys });
    }

    /// Replaces a member of the metadata; null removes it.
    pub fn set_metadata(&self, name: &str, value: Value) {
        let metadata = &mut self.0.mutable.lock().metadata;
        match value {
            Value::Null => {
                drop(metadata.as_object_mut().expect("the metadata are an object").shift_remove(name));
            }
            value => metadata[name] = value,
        }
    }

    /// Lets all requests fail, or ends that.
    pub fn set_down(&self, is_down: bool) {
        self.0.mutable.lock().is_down = is_down;
    }

    /// Issues a code for the URL to which the client has sent the browser, as if the user had consented. `id_token` makes the
    /// token of the nonce. Returns the parameters with which the browser returns.
    ///
    /// # Panics
    /// If the URL has not all parameters of the flow.
    pub fn consent(&self, url: &str, id_token: impl FnOnce(&str) -> String) -> Vec<(String, String)> {
        let url: Url = url.parse().expect("the client sends the browser to a URL");
        let query: HashMap<String, String> = url.query_pairs().into_owned().collect();
        let get = |name: &str| query.get(name).unwrap_or_else(|| panic!("{name} is missing: {url}")).clone();
        assert_eq!((get("response_type"), get("code_challenge_method")), ("code".into(), "S256".into()));
        assert_eq!(get("client_id"), self.0.client.0);
        let code = Code {
            redirect_uri: get("redirect_uri"),
            challenge: get("code_challenge"),
            id_token: id_token(&get("nonce")),
        };
        let mut state = self.0.mutable.lock();
        let name = format!("code-{}", state.codes.len());
        state.codes.insert(name.clone(), code);
        let pairs = [("code", name), ("state", get("state")), ("iss", self.0.issuer.clone())];
        pairs.map(|(name, value)| (name.to_owned(), value)).to_vec()
    }

    fn document(&self, part: impl FnOnce(&Mutable) -> &Value) -> Page {
        let state = self.0.mutable.lock();
        if state.is_down {
            return Page::text("down").status(503);
        }
        Page::new("application/json", part(&state).to_string())
    }

    fn exchange(&self, request: &ReceivedRequest) -> Page {
        let form: HashMap<String, String> = url::form_urlencoded::parse(&request.body).into_owned().collect();
        let get = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
        let (id, secret) = &self.0.client;
        let in_header = format!("Basic {}", STANDARD.encode(format!("{id}:{secret}")));
        let is_client = match request.header("authorization") {
            Some(header) => header == in_header,
            None => get("client_secret") == secret,
        };
        if !is_client || get("client_id") != id {
            return refusal(401, "invalid_client");
        }
        let mut state = self.0.mutable.lock();
        // A code is valid once, whether its proof is right or not.
        let Some(code) = state.codes.get_mut(get("code")).map(|code| std::mem::take(&mut code.id_token))
        else {
            return refusal(400, "invalid_grant");
        };
        let Code { redirect_uri, challenge, .. } = &state.codes[get("code")];
        let proof = encode(digest(&SHA256, get("code_verifier").as_bytes()));
        if code.is_empty() || proof != *challenge || get("redirect_uri") != redirect_uri {
            return refusal(400, "invalid_grant");
        }
        let tokens =
            json!({ "access_token": "at", "token_type": "Bearer", "expires_in": 60, "id_token": code });
        Page::new("application/json", tokens.to_string())
    }
}

fn refusal(status: u16, error: &str) -> Page {
    Page::new("application/json", json!({ "error": error }).to_string()).status(status)
}
