//! `websvc scrape`: the content of one page, from the shell.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::json;
use url::Url;
use websvc::types::ScrapeOptions;
use websvc_scrape::{Files, Page};
use websvc_validate::{Checked, Policy, check_scrape_options};

use super::search::{format, refused};
use crate::Setting;
use crate::args::Scrape;
use crate::installation::{self, IndexAccess};
use crate::show;

/// Runs `websvc scrape`.
pub(crate) async fn scrape(setting: Setting, arguments: Scrape) -> Result<()> {
    let options = ScrapeOptions {
        formats: Some(arguments.formats.iter().map(|name| format(name)).collect::<Result<_>>()?),
        only_main_content: Some(!arguments.full_page),
        max_age: arguments.fresh.then_some(0),
        ..ScrapeOptions::default()
    };
    let Checked { plan, warnings } = check_scrape_options(options, &Policy::default()).map_err(refused)?;
    for warning in warnings {
        show::note(&format!("warning: {warning}"));
    }
    let url = page_url(&arguments.url)?;
    let access = setting.data_dir.try_lock()?.map_or(IndexAccess::Read, IndexAccess::Write);
    let installation = installation::open(&setting.config, &setting.data_dir, access)?;
    let deadline = Instant::now() + plan.timeout().max(Duration::from_secs(1));
    let mut page = installation.engine.scrape(&url, &plan, &Files::inline(), deadline).await?;
    for warning in std::mem::take(&mut page.warnings) {
        show::note(&format!("warning: {warning}"));
    }
    print(page, arguments.json)?;
    installation.close().await?;
    Ok(())
}

/// Reads a URL as people type it: without a scheme it is `http`.
pub(crate) fn page_url(text: &str) -> Result<Url> {
    let with_scheme = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    Url::parse(&with_scheme).with_context(|| format!("{text:?} is not a URL"))
}

fn print(page: Page, as_json: bool) -> Result<()> {
    let Page { markdown, html, raw_html, links, images, metadata, .. } = page;
    if as_json {
        let mut object = serde_json::Map::new();
        for (name, value) in [
            ("markdown", markdown.map(|text| json!(text))),
            ("html", html.map(|text| json!(text))),
            ("rawHtml", raw_html.map(|text| json!(text))),
            ("links", links.map(|list| json!(list))),
            ("images", images.map(|list| json!(list))),
        ] {
            object.extend(value.map(|value| (name.to_owned(), value)));
        }
        object.insert("metadata".to_owned(), serde_json::to_value(metadata)?);
        return show::json(&object);
    }
    for text in [markdown, html, raw_html].into_iter().flatten() {
        show::line(text.trim_end())?;
    }
    for url in [links, images].into_iter().flatten().flatten() {
        show::line(&url)?;
    }
    Ok(())
}
