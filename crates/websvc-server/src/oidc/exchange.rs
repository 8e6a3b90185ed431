//! The exchange of the code that a browser brings for an ID token.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use serde::Deserialize;
use url::form_urlencoded::{Serializer, byte_serialize};
use websvc_transport::FetchRequest;

use super::config::{ClientSecret, SignInConfig};
use super::provider::{Documents, MAX_DOCUMENT_BYTES, Metadata, Provider};
use super::token::shown;

/// The proof with which a code is exchanged.
#[derive(Debug, Clone, Copy)]
pub(super) struct CodeProof<'a> {
    pub(super) code: &'a str,
    pub(super) redirect_uri: &'a str,
    pub(super) verifier: &'a str,
}

/// The place in a request where the secret of a client is.
#[derive(Debug, PartialEq, Eq)]
enum SecretPlace {
    /// `Authorization: Basic`.
    Header,
    Body,
}

#[derive(Deserialize)]
struct Tokens {
    id_token: String,
}

#[derive(Deserialize)]
struct Failure {
    error: String,
}

/// Exchanges a code, and returns the ID token, which is not checked.
///
/// # Errors
/// The reason, for the log.
pub(super) async fn exchange(
    provider: &Arc<Provider>,
    documents: &Documents,
    config: &SignInConfig,
    proof: CodeProof<'_>,
) -> Result<String, String> {
    let request = token_request(&documents.metadata, config, proof)?;
    let response = provider.send(request, MAX_DOCUMENT_BYTES).await.map_err(|error| error.to_string())?;
    if response.status != StatusCode::OK {
        let failure = serde_json::from_slice(&response.body);
        let error =
            failure.map_or_else(|_error| "no error code".to_owned(), |Failure { error }| shown(&error));
        return Err(format!("the token endpoint responds with status {}: {error}", response.status.as_u16()));
    }
    let tokens = serde_json::from_slice(&response.body);
    let Tokens { id_token } =
        tokens.map_err(|error| format!("the token endpoint returned no ID token: {error}"))?;
    Ok(id_token)
}

fn token_request(
    metadata: &Metadata,
    config: &SignInConfig,
    proof: CodeProof<'_>,
) -> Result<FetchRequest, String> {
    let url = metadata.token_endpoint.clone().ok_or("the provider has no token endpoint")?;
    let methods = metadata.token_endpoint_auth_methods_supported.as_deref();
    let CodeProof { code, redirect_uri, verifier } = proof;
    let mut form = Serializer::new(String::new());
    form.extend_pairs([
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", redirect_uri),
        ("code_verifier", verifier),
        ("client_id", &config.client_id),
    ]);
    let mut authorization = None;
    if let Some(secret) = &config.client_secret {
        match secret_place(methods).ok_or("the provider supports no secret in a header or a form")? {
            SecretPlace::Header => authorization = Some(basic(&config.client_id, secret)?),
            SecretPlace::Body => drop(form.append_pair("client_secret", secret.expose())),
        }
    }
    let mut request = FetchRequest::post(url, form.finish());
    let form_type = HeaderValue::from_static("application/x-www-form-urlencoded");
    request.headers.insert(CONTENT_TYPE, form_type);
    request.headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    if let Some(value) = authorization {
        request.headers.insert(AUTHORIZATION, value);
    }
    Ok(request)
}

/// Returns the place of the secret that the provider supports: without a list, the header (OpenID Connect Discovery,
/// section 3).
fn secret_place(methods: Option<&[String]>) -> Option<SecretPlace> {
    let supports = |name: &str| methods.is_some_and(|methods| methods.iter().any(|method| method == name));
    if methods.is_none() || supports("client_secret_basic") {
        Some(SecretPlace::Header)
    } else {
        supports("client_secret_post").then_some(SecretPlace::Body)
    }
}

/// Returns the header with the name and the secret of a client, each in the encoding of forms (RFC 6749, section 2.3.1).
fn basic(client_id: &str, secret: &ClientSecret) -> Result<HeaderValue, &'static str> {
    let encode = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    let credentials = STANDARD.encode(format!("{}:{}", encode(client_id), encode(secret.expose())));
    let value = HeaderValue::from_str(&format!("Basic {credentials}"));
    let mut value = value.map_err(|_error| "the secret of the client cannot be sent")?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_is_where_the_provider_supports_it() {
        let place = |methods: &[&str]| {
            let methods: Vec<String> = methods.iter().map(|method| (*method).to_owned()).collect();
            secret_place(Some(&methods))
        };
        assert_eq!(secret_place(None), Some(SecretPlace::Header));
        assert_eq!(place(&["client_secret_post", "client_secret_basic"]), Some(SecretPlace::Header));
        assert_eq!(place(&["client_secret_post"]), Some(SecretPlace::Body));
        assert_eq!(place(&["private_key_jwt"]), None);
    }

    #[test]
    fn name_and_secret_are_encoded_as_in_forms() {
        let value = basic("a:b", &ClientSecret::new("c d%")).unwrap();
        assert_eq!(value, format!("Basic {}", STANDARD.encode("a%3Ab:c+d%25")));
        assert!(value.is_sensitive());
    }
}
