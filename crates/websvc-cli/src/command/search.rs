//! `websvc search`: a search from the shell.

use std::time::Instant;

use anyhow::{Context, Result};
use websvc::types::{Format, ScrapeOptions, SearchRequest, SearchResponse};
use websvc_scrape::Files;
use websvc_validate::{Checked, Policy, Rejection, check_search};

use crate::Setting;
use crate::args::{Remote, Search};
use crate::installation::{self, IndexAccess};
use crate::show::{self, Style, styled};

/// Runs `websvc search`.
pub(crate) async fn search(setting: Setting, arguments: Search) -> Result<()> {
    let request = request(&arguments)?;
    let response = match arguments.remote.server {
        Some(_) => remote(&arguments.remote)?.search(&request).await?,
        None => local(&setting, request).await?,
    };
    if arguments.json { show::json(&response) } else { print(&response) }
}

/// Returns a client of the server that was named.
pub(crate) fn remote(remote: &Remote) -> Result<websvc::Client> {
    let server = remote.server.clone().context("no server was named")?;
    Ok(websvc::Client::new(server, remote.api_key.clone())?)
}

fn request(arguments: &Search) -> Result<SearchRequest> {
    let formats = arguments.formats.iter().map(|name| format(name)).collect::<Result<Vec<_>>>()?;
    Ok(SearchRequest {
        query: arguments.query.join(" "),
        limit: Some(arguments.limit),
        scrape_options: (!formats.is_empty())
            .then(|| ScrapeOptions { formats: Some(formats), ..ScrapeOptions::default() }),
        ..SearchRequest::default()
    })
}

/// Reads a format as requests write it.
pub(crate) fn format(name: &str) -> Result<Format> {
    Ok(serde_json::from_value(serde_json::Value::String(name.to_owned()))?)
}

async fn local(setting: &Setting, request: SearchRequest) -> Result<SearchResponse> {
    let access = setting.data_dir.try_lock()?.map_or(IndexAccess::Read, IndexAccess::Write);
    let installation = installation::open(&setting.config, &setting.data_dir, access)?;
    let Checked { plan, warnings } = check_search(request, &Policy::default()).map_err(refused)?;
    let mut outcome = installation.engine.search(&plan, &Files::inline(), Instant::now()).await?;
    outcome.warnings.splice(..0, warnings);
    installation.close().await?;
    Ok(outcome.into_response(String::new()))
}

/// Returns a refusal as an error for the shell, every violation on its line.
pub(crate) fn refused(rejection: Rejection) -> anyhow::Error {
    match rejection {
        Rejection::Json { message, .. } => anyhow::anyhow!("{message}"),
        Rejection::Forbidden { message } => anyhow::anyhow!("{message}"),
        Rejection::Invalid(violations) => {
            let lines: Vec<String> = violations.into_iter().map(|violation| violation.message).collect();
            anyhow::anyhow!("{}", lines.join("\n       "))
        }
    }
}

fn print(response: &SearchResponse) -> Result<()> {
    if let Some(warning) = &response.warning {
        show::note(&format!("warning: {warning}"));
    }
    let results = response.data.web.as_deref().unwrap_or_default();
    if results.is_empty() {
        show::note("nothing was found");
    }
    for (position, result) in results.iter().enumerate() {
        show::result(position + 1, &result.title, &result.url, &result.description)?;
        if let Some(markdown) = &result.content.markdown {
            show::line("")?;
            show::line(markdown)?;
        } else if let Some(error) =
            result.content.metadata.as_ref().and_then(|metadata| metadata.error.as_ref())
        {
            show::line(&styled(&format!("     not scraped: {error}"), Style::Dim))?;
        }
    }
    Ok(())
}
