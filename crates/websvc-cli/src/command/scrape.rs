//! `websvc scrape`: prints the content of one page.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use url::Url;
use websvc::types::{Metadata, PageContent, ScrapeOptions};
use websvc_engine::page_content;
use websvc_scrape::{FilePublisher, Page};
use websvc_store::DEFAULT_TEAM;
use websvc_validate::{Checked, Policy, check_request};

use super::search::{format, rejection_error};
use crate::CommandContext;
use crate::args::Scrape;
use crate::output;
use crate::render_args::{CaptureArgs, FileNames};

/// Runs `websvc scrape`.
pub(crate) async fn run(context: CommandContext, arguments: Scrape) -> Result<()> {
    let options = options(&arguments)?;
    let Checked { plan, warnings } = check_request(&options, &Policy::default()).map_err(rejection_error)?;
    for warning in warnings {
        output::warn(&warning);
    }
    let url = page_url(&arguments.url)?;
    let app = context.open()?;
    let deadline = Instant::now() + plan.timeout.max(Duration::from_secs(1));
    let outcome = app.engine.scrape(&url, &plan, DEFAULT_TEAM, &FilePublisher::inline(), deadline).await;
    let mut page = outcome.page?;
    if !arguments.allow_errors
        && let Some(error) = error_status(&page.metadata)
    {
        app.close().await?;
        bail!("{url}: {error}; --allow-errors prints its content");
    }
    for warning in std::mem::take(&mut page.warnings) {
        output::warn(&warning);
    }
    write_files(&mut page, &arguments.captures, &url)?;
    let has_screenshot = page.screenshot.is_some();
    print(page, arguments.json)?;
    app.close().await?;
    let is_missing = arguments.captures.format(&arguments.render)?.is_some() && !has_screenshot;
    ensure!(
        !is_missing,
        "no screenshot was taken: see the warnings; `{}` checks the browser",
        context.common.command("doctor")
    );
    Ok(())
}

/// Returns the scrape options. If only files are requested, there is no default format.
fn options(arguments: &Scrape) -> Result<ScrapeOptions> {
    let Scrape { url: _, format_args, json: _, allow_errors: _, captures, render, location } = arguments;
    let mut options = format_args.options()?;
    let formats = options.formats.get_or_insert_default();
    formats.extend(captures.format(render)?);
    if formats.is_empty() && !captures.is_any() {
        formats.push(format("markdown")?);
    }
    render.fill(&mut options)?;
    captures.add_pdf_action(&mut options);
    location.fill(&mut options);
    Ok(options)
}

/// Returns why the content of a page is not what its URL stands for, if the page has a status of 400 or above.
pub(in crate::command) fn error_status(metadata: &Metadata) -> Option<String> {
    let status = metadata.status_code.filter(|status| *status >= 400)?;
    Some(metadata.error.clone().unwrap_or_else(|| format!("the page responded with {status}")))
}

/// Writes the files of the page and replaces them in the page by their paths.
fn write_files(page: &mut Page, captures: &CaptureArgs, url: &Url) -> Result<()> {
    let names = FileNames::new(Path::new("."), None, url.as_str());
    if let Some(screenshot) = &mut page.screenshot {
        *screenshot = names.write("", captures.screenshot_file(), screenshot)?;
    }
    let Some(actions) = &mut page.actions else { return Ok(()) };
    // The PDF of the page is the result of the last action.
    let pdf = captures.pdf_file().and_then(|file| Some((file, actions.pdfs.pop()?)));
    names.write_all(actions)?;
    if let Some((file, url)) = pdf {
        actions.pdfs.push(names.write("", file, &url)?);
    }
    Ok(())
}

/// Parses a URL. Without a scheme, it is `http`.
pub(crate) fn page_url(text: &str) -> Result<Url> {
    let with_scheme = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    Url::parse(&with_scheme).with_context(|| format!("{text:?} is not a URL"))
}

/// Prints a page.
pub(super) fn print(page: Page, as_json: bool) -> Result<()> {
    let content = page_content(page);
    if as_json {
        return output::json(&content);
    }
    let PageContent { markdown, html, raw_html, links, images, summary, actions, .. } = content;
    for text in [markdown, html, raw_html, summary].into_iter().flatten() {
        output::line(text.trim_end())?;
    }
    for url in [links, images].into_iter().flatten().flatten() {
        output::line(&url)?;
    }
    for returned in actions.into_iter().flat_map(|actions| actions.javascript_returns) {
        output::line(&returned.value.to_string())?;
    }
    Ok(())
}
