//! `websvc blocklists`: fetches and shows the configured ad blocklists.

use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;
use url::Url;
use websvc_scrape::blocklist::{LIST_MAX_BYTES, ListFile, WriteOutcome};
use websvc_transport::{Client, FetchRequest};
use websvc_types::counted;

use crate::CommandContext;
use crate::app::client;
use crate::args::{BlocklistCommand, Common};
use crate::human_bytes::HumanBytes;
use crate::output;

/// Time limit for fetching one list.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Runs `websvc blocklists`.
pub(crate) async fn run(context: CommandContext, command: BlocklistCommand) -> Result<()> {
    let directory = context.data_dir.blocklists();
    let files = context.config.browser.blocklists.iter().map(|url| ListFile::new(&directory, url));
    let files: Vec<ListFile> = files.collect();
    match command {
        BlocklistCommand::Update => update(&context, &files).await,
        BlocklistCommand::Show { json } => show(&files, json, &context.common),
    }
}

async fn update(context: &CommandContext, files: &[ListFile]) -> Result<()> {
    ensure!(!files.is_empty(), "no blocklists are configured: set their URLs in browser.blocklists");
    let client = client(&context.config)?;
    let mut failed = 0;
    for file in files {
        match fetch(&client, file).await {
            Ok(WriteOutcome { filters, bytes }) => {
                output::line(&format!(
                    "{}: {}, {}",
                    file.url(),
                    counted(filters, "filter", "filters"),
                    HumanBytes(bytes)
                ))?;
            }
            // The other lists are still fetched, and the older copy of this one stays.
            Err(error) => {
                failed += 1;
                output::error(&error.context(file.url().to_owned()));
            }
        }
    }
    if failed > 0 {
        bail!("{failed} of {} could not be fetched", counted(files.len(), "list", "lists"));
    }
    Ok(())
}

async fn fetch(client: &Client, file: &ListFile) -> Result<WriteOutcome> {
    let url = file.url().parse::<Url>().context("browser.blocklists")?;
    let fetched = client
        .fetch(FetchRequest {
            timeout: TIMEOUT,
            max_body_bytes: LIST_MAX_BYTES,
            max_decoded_bytes: LIST_MAX_BYTES,
            ..FetchRequest::get(url)
        })
        .await?;
    ensure!(fetched.status.is_success(), "unexpected response: {}", fetched.status);
    ensure!(!fetched.truncated, "the list was truncated after {} bytes", fetched.wire_bytes);
    let file = file.clone();
    Ok(websvc_transport::spawn_blocking(move || file.replace(&fetched.body)).await??)
}

fn show(files: &[ListFile], as_json: bool, common: &Common) -> Result<()> {
    let mut rows = Vec::new();
    for file in files {
        let size = match std::fs::metadata(file.path()) {
            Ok(metadata) => Some((metadata.len(), age_s(metadata.modified().ok()))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(|| file.path().display().to_string()),
        };
        rows.push((file.url(), size));
    }
    if as_json {
        let rows = rows.iter().map(|(url, size)| {
            json!({ "url": url, "bytes": size.map(|(bytes, _)| bytes), "ageSeconds": size.map(|(_, age)| age) })
        });
        return output::json(&rows.collect::<Vec<_>>());
    }
    output::line("bundled: hosts of ads and cookie consent dialogs")?;
    for (url, size) in rows {
        let state = size.map_or_else(
            || format!("not fetched, run `{}`", common.command("blocklists update")),
            |(bytes, age_s)| format!("{}, {} old", HumanBytes(bytes), counted(age_s / 86_400, "day", "days")),
        );
        output::line(&format!("{url}: {state}"))?;
    }
    Ok(())
}

/// Returns the age of a time in seconds. It is 0 if the time is unknown or in the future.
fn age_s(at: Option<SystemTime>) -> u64 {
    at.and_then(|at| at.elapsed().ok()).unwrap_or_default().as_secs()
}
