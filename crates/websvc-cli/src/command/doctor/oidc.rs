//! Check of the identity provider.

use anyhow::Result;
use websvc_server::{ProviderError, ProviderSummary};

use super::finding::{Finding, timed};
use crate::app;
use crate::config::Config;

pub(super) const CHECK: &str = "identity provider";

/// Fetches the metadata and the keys of the provider, if there is one.
pub(super) async fn check(config: &Config) -> Result<Option<Finding>> {
    let Some(oidc) = app::oidc(config)? else { return Ok(None) };
    let needs_sign_in = config.auth.oidc.client_id.is_some();
    let (result, elapsed) = timed(oidc.probe()).await;
    Ok(Some(match result {
        Ok(ProviderSummary { has_sign_in: false, .. }) if needs_sign_in => {
            Finding::problem(CHECK, "its metadata have no endpoints for sign-in")
                .advice("remove `auth.oidc.client_id`, or choose a provider with the authorization code flow")
        }
        Ok(ProviderSummary { keys, .. }) => {
            let sign_in = if needs_sign_in { "; users can sign in" } else { "" };
            let elapsed = elapsed.as_millis();
            Finding::ok(
                CHECK,
                format!("responds in {elapsed} ms; keys that can verify tokens: {keys}{sign_in}"),
            )
        }
        Err(error) => failure(&error),
    }))
}

fn failure(error: &ProviderError) -> Finding {
    let advice = match error {
        ProviderError::Fetch { .. } => {
            "check `auth.oidc.issuer`, that the provider runs, and `fetch.ca_file` if it has a private certificate; if its \
             keys are on another host of your network, open that in `fetch.allow_networks`"
        }
        ProviderError::Document { .. } => {
            "set `auth.oidc.issuer` to the issuer exactly as the provider writes it, also with its last slash"
        }
    };
    Finding::problem(CHECK, error.to_string()).advice(advice)
}
