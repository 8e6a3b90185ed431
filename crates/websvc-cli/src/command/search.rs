//! `websvc search`: a search from the shell.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use websvc::types::{Format, PageContent, ScrapeOptions, SearchRequest, SearchResponse};
use websvc_scrape::FilePublisher;
use websvc_store::DEFAULT_TEAM;
use websvc_validate::{Checked, Policy, Rejection, check_search};

use crate::CommandContext;
use crate::app::{self, IndexMode};
use crate::args::{Remote, Search};
use crate::output::{self, Style, styled};
use crate::render_args::FileNames;

/// Runs `websvc search`.
pub(crate) async fn search(setting: CommandContext, arguments: Search) -> Result<()> {
    let request = request(&arguments)?;
    let mut response = match arguments.remote.server {
        Some(_) => remote(&arguments.remote)?.execute_search(&request).await?,
        None => local(&setting, request).await?,
    };
    write_files(&mut response, &arguments.pictures.output_dir)?;
    if arguments.json { output::json(&response) } else { print(&response) }
}

/// Writes the files of the results, in which their paths are then.
fn write_files(response: &mut SearchResponse, directory: &Path) -> Result<()> {
    for (at, result) in response.data.web.iter_mut().flatten().enumerate() {
        let names = FileNames::of(directory, Some(at + 1), &result.url);
        let PageContent { screenshot, actions, .. } = &mut result.content;
        if let Some(picture) = screenshot {
            *picture = names.write("", None, picture)?;
        }
        if let Some(actions) = actions {
            names.write_all(actions)?;
        }
    }
    Ok(())
}

/// Returns a client of the server that was named.
pub(crate) fn remote(remote: &Remote) -> Result<websvc::Client> {
    let server = remote.server.clone().context("no server was named")?;
    Ok(websvc::Client::new(server, remote.key().unwrap_or_default())?)
}

fn request(arguments: &Search) -> Result<SearchRequest> {
    let Search { query, limit, formats, json: _, remote: _, drawing, pictures } = arguments;
    let mut formats = formats.iter().map(|name| format(name)).collect::<Result<Vec<_>>>()?;
    formats.extend(pictures.pages.format(drawing));
    let mut options = ScrapeOptions::default();
    drawing.fill(&mut options)?;
    let is_drawn = options != ScrapeOptions::default();
    if formats.is_empty() && is_drawn {
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

/// Reads a format as requests write it.
pub(crate) fn format(name: &str) -> Result<Format> {
    Ok(serde_json::from_value(serde_json::Value::String(name.to_owned()))?)
}

async fn local(setting: &CommandContext, request: SearchRequest) -> Result<SearchResponse> {
    let access = setting.data_dir.try_lock()?.map_or(IndexMode::Read, IndexMode::Write);
    let app = app::open(&setting.config, &setting.data_dir, access)?;
    let Checked { plan, warnings } = check_search(request, &Policy::default()).map_err(print_api_error)?;
    let mut outcome =
        app.engine.search(&plan, DEFAULT_TEAM, &FilePublisher::inline(), Instant::now()).await?;
    outcome.warnings.splice(..0, warnings);
    app.close().await?;
    let credits = outcome.bill.total();
    Ok(outcome.into_response(String::new(), credits))
}

/// Returns a refusal as an error for the shell, every violation on its line.
pub(crate) fn print_api_error(rejection: Rejection) -> anyhow::Error {
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
        output::note(&format!("warning: {warning}"));
    }
    let results = response.data.web.as_deref().unwrap_or_default();
    if results.is_empty() {
        output::note("nothing was found");
    }
    for (position, result) in results.iter().enumerate() {
        output::result(position + 1, &result.title, &result.url, &result.description)?;
        if let Some(markdown) = &result.content.markdown {
            output::line("")?;
            output::line(markdown)?;
        }
        if let Some(picture) = &result.content.screenshot {
            output::line(&styled(&format!("     picture: {picture}"), Style::Dim))?;
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
