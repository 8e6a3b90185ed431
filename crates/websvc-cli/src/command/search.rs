//! `websvc search`: prints search results.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use websvc::types::{Format, PageContent, ScrapeOptions, SearchRequest, SearchResponse};
use websvc_scrape::FilePublisher;
use websvc_store::DEFAULT_TEAM;
use websvc_validate::{Checked, Policy, Rejection, check_request};

use crate::CommandContext;
use crate::args::{Remote, Search};
use crate::output::{self, Style, styled};
use crate::render_args::FileNames;

/// Runs `websvc search`.
pub(crate) async fn run(context: CommandContext, arguments: Search) -> Result<()> {
    let request = request(&arguments)?;
    let mut response = match arguments.remote.server {
        Some(_) => client(&arguments.remote)?.execute_search(&request).await?,
        None => local(&context, request).await?,
    };
    write_files(&mut response, &arguments.captures.output_dir)?;
    if arguments.json { output::json(&response) } else { print(&response) }
}

/// Writes the files of the results and replaces them in the results by their paths.
fn write_files(response: &mut SearchResponse, directory: &Path) -> Result<()> {
    for (index, result) in response.data.web.iter_mut().flatten().enumerate() {
        let names = FileNames::new(directory, Some(index + 1), &result.url);
        let PageContent { screenshot, actions, .. } = &mut result.content;
        if let Some(screenshot) = screenshot {
            *screenshot = names.write("", None, screenshot)?;
        }
        if let Some(actions) = actions {
            names.write_all(actions)?;
        }
    }
    Ok(())
}

/// Returns a client for the given server.
pub(crate) fn client(remote: &Remote) -> Result<websvc::Client> {
    let server = remote.server.clone().context("no server was given")?;
    Ok(websvc::Client::new(server, remote.key().unwrap_or_default())?)
}

fn request(arguments: &Search) -> Result<SearchRequest> {
    let Search { query, limit, formats, json: _, presets: _, remote: _, render, captures } = arguments;
    let mut formats = formats.iter().map(|name| format(name)).collect::<Result<Vec<_>>>()?;
    formats.extend(captures.pages.format(render));
    let mut options = ScrapeOptions::default();
    render.fill(&mut options)?;
    let has_options = options != ScrapeOptions::default();
    if formats.is_empty() && has_options {
        formats.push(format("markdown")?);
    }
    let scrape_options = (!formats.is_empty()).then_some(ScrapeOptions { formats: Some(formats), ..options });
    Ok(SearchRequest {
        query: query.join(" "),
        limit: Some(*limit),
        scrape_options,
        ..SearchRequest::default()
    })
}

/// Parses the name of a format, as in a request.
pub(crate) fn format(name: &str) -> Result<Format> {
    Ok(serde_json::from_value(serde_json::Value::String(name.to_owned()))?)
}

async fn local(context: &CommandContext, request: SearchRequest) -> Result<SearchResponse> {
    let app = context.open()?;
    let Checked { plan, warnings } = check_request(&request, &Policy::default()).map_err(rejection_error)?;
    let mut outcome =
        app.engine.search(&plan, DEFAULT_TEAM, &FilePublisher::inline(), Instant::now()).await?;
    outcome.warnings.splice(..0, warnings);
    app.close().await?;
    let credits = outcome.bill.total();
    Ok(outcome.into_response(String::new(), credits))
}

/// Returns a rejection as an error for the terminal, with one violation per line.
pub(crate) fn rejection_error(rejection: Rejection) -> anyhow::Error {
    match rejection {
        Rejection::Json { message, .. } => anyhow::anyhow!("{message}"),
        Rejection::Forbidden { message } | Rejection::Exhausted { message } => anyhow::anyhow!("{message}"),
        Rejection::Invalid(violations) => {
            let lines: Vec<String> = violations.into_iter().map(|violation| violation.message).collect();
            anyhow::anyhow!("{}", lines.join("\n       "))
        }
    }
}

fn print(response: &SearchResponse) -> Result<()> {
    if let Some(warning) = &response.warning {
        output::warn(warning);
    }
    let results = response.data.web.as_deref().unwrap_or_default();
    if results.is_empty() {
        output::note("no results");
    }
    for (position, result) in results.iter().enumerate() {
        output::result(position + 1, &result.title, &result.url, &result.description)?;
        if let Some(markdown) = &result.content.markdown {
            output::line("")?;
            output::line(markdown)?;
        }
        if let Some(screenshot) = &result.content.screenshot {
            output::line(&styled(&format!("     screenshot: {screenshot}"), Style::Dim))?;
        }
        if result.content.markdown.is_some() {
            continue;
        }
        if let Some(error) = result.content.metadata.as_ref().and_then(|metadata| metadata.error.as_ref()) {
            output::line(&styled(&format!("     not scraped: {error}"), Style::Dim))?;
        }
    }
    Ok(())
}
