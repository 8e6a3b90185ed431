//! `websvc map`: lists the URLs of a site.

use std::time::Instant;

use anyhow::Result;
use websvc::types::{MapRequest, MapResponse};
use websvc_store::DEFAULT_TEAM;
use websvc_validate::{Checked, Policy, check_request};

use super::search::{client, rejection_error};
use crate::CommandContext;
use crate::args::Map;
use crate::output;

/// Runs `websvc map`.
pub(crate) async fn run(context: CommandContext, arguments: Map) -> Result<()> {
    let request = request(&arguments);
    let response = match arguments.remote.server {
        Some(_) => client(&arguments.remote)?.map(&request).await?,
        None => local(&context, request).await?,
    };
    if arguments.json { output::json(&response) } else { print(&response) }
}

fn request(arguments: &Map) -> MapRequest {
    let Map { url, search, limit, sitemap, no_subdomains, keep_queries, timeout_ms, json: _, remote: _ } =
        arguments;
    MapRequest {
        url: url.clone(),
        search: search.clone(),
        limit: Some(*limit),
        sitemap: *sitemap,
        include_subdomains: no_subdomains.then_some(false),
        ignore_query_parameters: keep_queries.then_some(false),
        timeout: *timeout_ms,
        ..MapRequest::default()
    }
}

async fn local(context: &CommandContext, request: MapRequest) -> Result<MapResponse> {
    let Checked { plan, warnings } = check_request(&request, &Policy::default()).map_err(rejection_error)?;
    let app = context.open()?;
    let outcome = app.engine.map(&plan, DEFAULT_TEAM, Instant::now()).await;
    app.close().await?;
    let mut mapped = outcome.result?;
    mapped.warnings.splice(..0, warnings);
    Ok(mapped.into_response(String::new(), outcome.bill.total()))
}

/// Prints one URL per line, for use by other programs.
fn print(response: &MapResponse) -> Result<()> {
    if let Some(warning) = &response.warning {
        output::warn(warning);
    }
    if response.links.is_empty() {
        output::note("no URLs were found");
    }
    let urls: Vec<&str> = response.links.iter().map(|link| link.url.as_str()).collect();
    if urls.is_empty() { Ok(()) } else { output::line(&urls.join("\n")) }
}
