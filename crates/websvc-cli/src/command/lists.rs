//! `websvc lists`: the lists of advertising beside the bundled one, fetched into the data directory.

use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail, ensure};
use indicatif::HumanBytes;
use serde_json::json;
use url::Url;
use websvc_blocklist::{LIST_MAX_BYTES, ListFile, WriteOutcome};
use websvc_transport::{Client, FetchRequest};

use crate::CommandContext;
use crate::app::client;
use crate::args::{BlocklistCommand, Common};
use crate::output;

/// The time for one list.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Runs `websvc lists`.
pub(crate) async fn lists(setting: CommandContext, lists: BlocklistCommand) -> Result<()> {
    let directory = setting.data_dir.lists();
    let files = setting.config.browser.lists.iter().map(|url| ListFile::new(&directory, url));
    let files: Vec<ListFile> = files.collect();
    match lists {
        BlocklistCommand::Update => update(&setting, &files).await,
        BlocklistCommand::Show { json } => show(&files, json, &setting.common),
    }
}

async fn update(setting: &CommandContext, files: &[ListFile]) -> Result<()> {
    ensure!(!files.is_empty(), "there are no lists to fetch: give their URLs in browser.lists");
    let client = client(&setting.config)?;
    let mut failed = 0;
    for file in files {
        match fetch(&client, file).await {
            Ok(WriteOutcome { filters, bytes }) => {
                output::line(&format!("{}: {filters} filters, {}", file.url(), HumanBytes(bytes)))?;
            }
            // The others are wanted all the same, and the older content of this one stays.
            Err(error) => {
                failed += 1;
                output::error(&error.context(file.url().to_owned()));
            }
        }
    }
    if failed > 0 {
        bail!("{failed} of {} lists could not be fetched", files.len());
    }
    Ok(())
}

async fn fetch(client: &Client, file: &ListFile) -> Result<WriteOutcome> {
    let url = file.url().parse::<Url>().context("browser.lists")?;
    let fetched = client
        .fetch(FetchRequest {
            timeout: TIMEOUT,
            max_body_bytes: LIST_MAX_BYTES,
            max_decoded_bytes: LIST_MAX_BYTES,
            ..FetchRequest::get(url)
        })
        .await?;
    ensure!(fetched.status.is_success(), "the answer was {}", fetched.status);
    ensure!(!fetched.truncated, "the list broke off after {} bytes", fetched.wire_bytes);
    let file = file.clone();
    Ok(tokio::task::spawn_blocking(move || file.replace(&fetched.body)).await??)
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
    output::line("bundled: hosts of advertising and of questions about cookies")?;
    for (url, size) in rows {
        let state = size.map_or_else(
            || format!("not fetched, `{}` does", common.command("lists update")),
            |(bytes, age_s)| format!("{}, {} days old", HumanBytes(bytes), age_s / 86_400),
        );
        output::line(&format!("{url}: {state}"))?;
    }
    Ok(())
}

/// Returns how long ago something was; 0 when that is not known, or still to come.
fn age_s(at: Option<SystemTime>) -> u64 {
    at.and_then(|at| at.elapsed().ok()).unwrap_or_default().as_secs()
}
