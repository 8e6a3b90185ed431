//! Checks of a monitor: start, waiting for the end, results of the pages, and their changes.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use websvc::types::limits::MONITOR_LIST_LIMIT_MAX;
use websvc::{Client, ListRange, Method};
use websvc_types::counted;

use super::{diff, send, start_check, text};
use crate::args::Remote;
use crate::command::job::patient_client;
use crate::command::stop_signal;
use crate::output::{self, Colors};
use crate::progress::Progress;

/// Delay before the second request for the state of a check. It doubles with each request.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Maximum delay between two requests for the state of a check.
const MAX_POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Results of pages that `websvc monitor diff` prints, in this order.
const CHANGES: [&str; 4] = ["changed", "new", "removed", "error"];

/// Starts a check, waits for its end, and prints its pages.
///
/// # Errors
/// Besides errors of the client: a page could not be checked, or the check failed or was interrupted.
pub(super) async fn run(remote: &Remote, id: &str, json: bool) -> Result<()> {
    let client = patient_client(remote).await?;
    let stop = stop_signal()?;
    let check_id = text::text(&start_check(&client, id).await?["id"]);
    output::note(&format!("check {check_id}"));
    let diff_command = format!("`websvc monitor diff {id} {check_id}{}`", remote.option());
    let check = tokio::select! {
        check = wait(&client, id, &check_id) => check.context(diff_command)?,
        () = stop => bail!("interrupted: the check continues on the server; {diff_command} prints its changes"),
    };
    each_part(&client, id, &check_id, None, |part| {
        if json {
            return output::json(part);
        }
        output::lines(&pages(part).iter().map(text::page_line).collect::<Vec<_>>())
    })
    .await?;
    output::note(&format!("check: {}", text::check_result(&check)));
    ensure_complete(&check)
}

/// Waits for the end of a check and shows its progress.
pub(in crate::command) async fn wait(client: &Client, id: &str, check_id: &str) -> Result<Value> {
    let mut progress = Progress::start("check");
    let mut interval = MIN_POLL_INTERVAL;
    loop {
        // Pages with errors have no diffs, so that each response is small.
        let range = ListRange { skip: 0, limit: 1 };
        let mut response = part(client, id, check_id, Some("error"), range).await?;
        let check = response["data"].take();
        let count = |name: &str| check["summary"][name].as_u64().unwrap_or_default();
        let done = ["same", "changed", "new", "removed", "error"].map(count).iter().sum();
        progress.set(done, count("totalPages"), count("error"));
        if !matches!(check["status"].as_str(), Some("queued" | "running")) {
            progress.finish();
            return Ok(check);
        }
        tokio::time::sleep(interval).await;
        interval = (interval * 2).min(MAX_POLL_INTERVAL);
    }
}

/// Checks that all pages of an ended check could be checked.
fn ensure_complete(check: &Value) -> Result<()> {
    let reason = || output::printable(check["error"].as_str().unwrap_or("no reason was given"));
    match check["status"].as_str() {
        Some("completed") => Ok(()),
        Some("partial") => {
            let failed = check["summary"]["error"].as_u64().unwrap_or_default();
            bail!("{} could not be checked", counted(failed, "page", "pages"))
        }
        Some("failed") => bail!("the check failed: {}", reason()),
        _ => bail!("the check was skipped: {}", reason()),
    }
}

/// Prints the changes of a check, or of the last one that ended.
pub(super) async fn diff(client: &Client, id: &str, check: Option<String>, json: bool) -> Result<()> {
    let check_id = match check {
        Some(check_id) => check_id,
        None => last_ended(client, id).await?,
    };
    let colors = Colors::for_stdout();
    let mut printed = 0;
    for status in CHANGES {
        each_part(client, id, &check_id, Some(status), |part| {
            if json {
                return output::json(part);
            }
            printed += pages(part).len();
            pages(part).iter().try_for_each(|page| output::lines(&diff::page_lines(page, colors)))
        })
        .await?;
        if json {
            // A program gets the changed pages alone, as one response unless there are many.
            return Ok(());
        }
    }
    if printed == 0 {
        output::note(&format!("check {check_id} found no changes"));
    }
    Ok(())
}

/// Returns the ID of the last check that has a result.
async fn last_ended(client: &Client, id: &str) -> Result<String> {
    let checks = super::checks(client, id, MONITOR_LIST_LIMIT_MAX).await?;
    let has_result =
        |check: &&Value| matches!(check["status"].as_str(), Some("completed" | "partial" | "failed"));
    match super::items(&checks).iter().find(has_result) {
        Some(check) => Ok(text::text(&check["id"])),
        None => bail!("no check of the monitor has ended; `websvc monitor run {id} --wait` runs one"),
    }
}

/// Returns a part of the pages of a check, with a status if one is given.
pub(in crate::command) async fn part(
    client: &Client,
    id: &str,
    check_id: &str,
    status: Option<&str>,
    range: ListRange,
) -> Result<Value> {
    let query = status.map_or_else(|| range.to_string(), |status| format!("{range}&status={status}"));
    send(client, Method::GET, &[id, "checks", check_id], Some(query), None).await
}

/// Returns the pages in a part of a check.
fn pages(part: &Value) -> &[Value] {
    part["data"]["pages"].as_array().map_or(&[], Vec::as_slice)
}

/// Calls `print` with the pages of a check, part by part: all together may be large.
async fn each_part(
    client: &Client,
    id: &str,
    check_id: &str,
    status: Option<&str>,
    mut print: impl FnMut(&Value) -> Result<()>,
) -> Result<()> {
    let mut skip = 0;
    loop {
        let range = ListRange { skip, limit: MONITOR_LIST_LIMIT_MAX };
        let part = part(client, id, check_id, status, range).await?;
        print(&part)?;
        skip += pages(&part).len() as u64;
        if part["next"].is_null() || pages(&part).is_empty() {
            return Ok(());
        }
    }
}
