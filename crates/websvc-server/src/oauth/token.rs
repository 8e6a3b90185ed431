//! Tokens: the exchange of a code or a refresh token, and revocation (RFC 7009).

use std::time::Instant;

use data_encoding::BASE64URL_NOPAD;
use http::{Request, StatusCode};
use ring::digest::{SHA256, digest};
use serde_json::json;
use websvc_store::{ACCESS_TOKEN_MS, GrantProof, GrantRefusal, OauthTokens};
use websvc_transport::ServerBody;

use super::error::{OauthError, issuer, uncached};
use super::form::Parameters;
use crate::authenticate::find_caller;
use crate::blocking::run_blocking;
use crate::handler::declares_form;
use crate::response::{ApiError, HttpResponse};
use crate::service::RequestContext;

/// The lengths of a verifier (RFC 7636, section 4.1).
const VERIFIER_BYTES: std::ops::RangeInclusive<usize> = 43..=128;

/// `POST /oauth/token`.
pub(super) async fn token(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let resource = |text: &str| issuer(context).is_ok_and(|issuer| issuer.is_resource(text));
    issuer(context)?;
    let address = context.state.client_ip(&request);
    let exchange = match parameters(request).and_then(|parameters| Exchange::read(&parameters, resource)) {
        Ok(exchange) => exchange,
        Err(error) => return Ok(error.into_response()),
    };
    let (text, now) = (exchange.text.clone(), Instant::now());
    let limiter = &context.state.sign_in_limiter;
    limiter.admit(address, &text, now)?;
    let store = context.state.store.clone();
    let client = exchange.client.clone();
    let exchanged = run_blocking(move || {
        let Exchange { text, client, proof } = &exchange;
        let proof = match proof {
            Proof::Code { redirect_uri, challenge } => GrantProof::Code { redirect_uri, challenge },
            Proof::RefreshToken => GrantProof::RefreshToken,
        };
        store.exchange_oauth_token(text, client, proof)
    })
    .await?
    .map_err(|error| ApiError::internal(&error, "the tokens could not be made"))?;
    let OauthTokens { access_token, refresh_token, key } = match exchanged {
        Ok(tokens) => tokens,
        Err(refusal) => {
            limiter.record(address, &text, now);
            return Ok(refused(&refusal).into_response());
        }
    };
    // For the audit event.
    if let Some(caller) = find_caller(&context.state.store, access_token.expose()).await? {
        context.trail.set_caller(&caller);
        context.trail.set_target(|| format!("client {client}"));
    }
    let scopes: Vec<&str> = key.rights.scopes.iter().flatten().map(|scope| scope.as_str()).collect();
    let body = json!({
        "access_token": access_token.expose(),
        "token_type": "Bearer",
        "expires_in": ACCESS_TOKEN_MS / 1000,
        "refresh_token": refresh_token.expose(),
        "scope": scopes.join(" "),
    });
    Ok(uncached(StatusCode::OK, &body))
}

/// `POST /oauth/revoke`. The response is the same whether there was such a token (RFC 7009, section 2.2).
pub(super) async fn revoke(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    issuer(context)?;
    let read = parameters(request).and_then(|parameters| {
        Ok((parameters.require("token")?.to_owned(), parameters.require("client_id")?.to_owned()))
    });
    let (token, client) = match read {
        Ok(read) => read,
        Err(error) => return Ok(error.into_response()),
    };
    let store = context.state.store.clone();
    run_blocking(move || store.revoke_oauth_token(&token, &client))
        .await?
        .map_err(|error| ApiError::internal(&error, "the token could not be revoked"))?;
    Ok(uncached(StatusCode::OK, &json!({})))
}

/// The request of a client for tokens.
struct Exchange {
    text: String,
    client: String,
    proof: Proof,
}

enum Proof {
    Code { redirect_uri: String, challenge: String },
    RefreshToken,
}

impl Exchange {
    fn read(parameters: &Parameters, is_resource: impl Fn(&str) -> bool) -> Result<Self, OauthError> {
        let client = parameters.require("client_id")?.to_owned();
        if parameters.get("resource").is_some_and(|resource| !is_resource(resource)) {
            return Err(OauthError::new(
                "invalid_target",
                "resource is not the MCP endpoint of this service",
            ));
        }
        let (text, proof) = match parameters.require("grant_type")? {
            "authorization_code" => {
                let verifier = parameters.require("code_verifier")?;
                if !VERIFIER_BYTES.contains(&verifier.len()) {
                    let text = "code_verifier must have 43 to 128 characters";
                    return Err(OauthError::new("invalid_request", text));
                }
                let redirect_uri = parameters.require("redirect_uri")?.to_owned();
                let challenge = BASE64URL_NOPAD.encode(digest(&SHA256, verifier.as_bytes()).as_ref());
                (parameters.require("code")?, Proof::Code { redirect_uri, challenge })
            }
            "refresh_token" => (parameters.require("refresh_token")?, Proof::RefreshToken),
            other => {
                let text = format!("{other:?} is neither authorization_code nor refresh_token");
                return Err(OauthError::new("unsupported_grant_type", text));
            }
        };
        Ok(Self { text: text.to_owned(), client, proof })
    }
}

/// Returns the parameters of a form.
fn parameters(request: Request<ServerBody>) -> Result<Parameters, OauthError> {
    if !declares_form(request.headers()) {
        let text = "the content type must be application/x-www-form-urlencoded";
        return Err(OauthError::new("invalid_request", text));
    }
    Parameters::parse(&request.into_body().into_received())
}

/// Returns the error for a refusal, the same for every reason: an attacker learns nothing.
fn refused(refusal: &GrantRefusal) -> OauthError {
    if let GrantRefusal::Reused { team, client } = refusal {
        tracing::warn!(team, client, "a code or refresh token of OAuth was used twice: its grant is revoked");
    }
    OauthError::new("invalid_grant", "the code or token is unknown, was used, was revoked or has expired")
}
