//! A run that this command starts: its steps while it works, its end, and its cancellation with Ctrl-C.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, to_value};
use websvc::types::ErrorCode;
use websvc::types::agent::AgentRequest;
use websvc::{Client, Method};
use websvc_types::counted;

use super::send;
use super::text::{self, Step};
use crate::args::Remote;
use crate::command::job::patient_client;
use crate::command::stop_signal;
use crate::output::{self, Colors, Style};
use crate::progress::WaitTime;

/// Delay before the second request for the trace. It doubles with each request that brings no event.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Maximum delay between two requests for the trace.
const MAX_POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Maximum number of sources that are printed.
const MAX_SHOWN_SOURCES: usize = 20;

/// ID of the artifact with the sources of the values.
const SOURCES: &str = "sources";

/// Starts a run, prints its steps until its end, and writes its data.
///
/// # Errors
/// Besides errors of the client: the run failed, or was interrupted and cancelled.
pub(super) async fn run(
    remote: &Remote,
    request: &AgentRequest,
    output_file: Option<&Path>,
    json: bool,
) -> Result<()> {
    // No run begins whose data cannot be written.
    output_file.map(check_writable).transpose()?;
    let client = patient_client(remote).await?;
    let stop = stop_signal()?;
    let started = send(&client, Method::POST, &[], None, Some(to_value(request)?)).await?;
    let id = started["id"].as_str().context("the server sent no ID of the run")?.to_owned();
    let status_command = format!("`websvc agent status {id}{}`", remote.option());
    if !json {
        output::note(&format!("run {id}"));
    }
    started["warning"].as_str().into_iter().for_each(output::warn);
    let ended = tokio::select! {
        ended = follow(&client, &id, json) => ended.with_context(|| format!("the run continues: {status_command}"))?,
        () = stop => return cancel(&client, &id, &status_command).await,
    };
    finish(&client, ended, output_file, json).await
}

/// Checks that a file can be written, without changing it.
fn check_writable(path: &Path) -> Result<()> {
    let checking = match path.try_exists() {
        Ok(true) => std::fs::OpenOptions::new().append(true).open(path).map(drop),
        Ok(false) => match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            Some(parent) => std::fs::read_dir(parent).map(drop),
            None => Ok(()),
        },
        Err(error) => Err(error),
    };
    checking.with_context(|| format!("cannot write {}", path.display()))
}

/// Prints the steps of a run until its end, and returns the run and its events.
async fn follow(client: &Client, id: &str, json: bool) -> Result<(Value, Vec<Value>)> {
    let (mut interval, mut shown) = (MIN_POLL_INTERVAL, 0);
    // A step of a slow model takes minutes.
    let wait_time = WaitTime::start("working");
    loop {
        let (events, is_ended) = events(client, id).await?;
        if !json {
            let steps = events.iter().skip(shown).filter_map(text::step);
            wait_time.suspend(|| steps.for_each(|step| print_step(&step)));
        }
        if is_ended {
            return Ok((send(client, Method::GET, &[id], None, None).await?, events));
        }
        interval =
            if events.len() > shown { MIN_POLL_INTERVAL } else { (interval * 2).min(MAX_POLL_INTERVAL) };
        shown = events.len();
        tokio::time::sleep(interval).await;
    }
}

/// Returns the events of a run, and whether it has ended.
async fn events(client: &Client, id: &str) -> Result<(Vec<Value>, bool)> {
    let mut trace = send(client, Method::GET, &[id, "trace"], None, None).await?;
    let Value::Array(events) = trace["events"].take() else { bail!("the server sent no events of the run") };
    Ok((events, !trace["creditsUsed"].is_null()))
}

fn print_step(Step { text, is_detail }: &Step) {
    output::note(&if *is_detail { Colors::for_stderr().paint(text, Style::Dim) } else { text.clone() });
}

async fn cancel(client: &Client, id: &str, status_command: &str) -> Result<()> {
    match send(client, Method::DELETE, &[id], None, None).await {
        Ok(_) => bail!("interrupted: the run was cancelled; {status_command} shows what it had collected"),
        Err(error) if error.code() == Some(ErrorCode::JobEnded) => {
            bail!("interrupted: the run had ended; {status_command} shows it")
        }
        Err(error) => {
            Err(anyhow::Error::from(error).context(format!("the run was not cancelled: {status_command}")))
        }
    }
}

/// Writes the data of a run that has ended, and prints their sources.
///
/// # Errors
/// The run has no data: its reason.
async fn finish(
    client: &Client,
    (run, events): (Value, Vec<Value>),
    file: Option<&Path>,
    json: bool,
) -> Result<()> {
    let field = |name| run.get(name).filter(|value| !value.is_null());
    if json {
        write(file, &run)?;
    } else {
        if let Some(data) = field("data") {
            write(file, data)?;
            let id = run["id"].as_str().unwrap_or_default();
            print_sources(&sources(client, id, &events).await?);
        }
        if let Some(partial) = field("partial") {
            output::note("collected before the end, not a result:");
            text::json_lines(partial)?.iter().for_each(|line| output::note(line));
        }
        for text in [&run["message"], &run["warning"]].into_iter().filter_map(Value::as_str) {
            output::note(&text::one_line(text));
        }
        output::note(&text::end_line(&run));
    }
    match run["status"].as_str() {
        Some("completed") => Ok(()),
        Some("failed") => bail!("the run failed: {}", text::failure(&run)),
        _ => bail!("the run has not ended"),
    }
}

/// Writes a value to the file, or to stdout.
fn write(file: Option<&Path>, value: &Value) -> Result<()> {
    let Some(path) = file else { return output::json(value) };
    let text = format!("{}\n", serde_json::to_string_pretty(value)?);
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn print_sources(sources: &[Value]) {
    for source in sources.iter().take(MAX_SHOWN_SOURCES) {
        output::note(&text::source_line(source));
    }
    let others = sources.len().saturating_sub(MAX_SHOWN_SOURCES);
    if others > 0 {
        let others = counted(others, "more source", "more sources");
        output::note(&format!("and {others}; `websvc agent trace` shows all"));
    }
}

/// Returns the pages that state the values in the data of a run. The last event about them names their artifact.
pub(super) async fn sources(client: &Client, id: &str, events: &[Value]) -> Result<Vec<Value>> {
    let artifacts = events.iter().rev().map(|event| &event["artifact"]);
    let newest = artifacts
        .filter(|artifact| artifact["artifactId"] == SOURCES)
        .find_map(|artifact| artifact["snapshotId"].as_str());
    let Some(snapshot) = newest else { return Ok(Vec::new()) };
    let response = send(client, Method::GET, &[id, "snapshots", snapshot], None, None).await?;
    serde_json::from_str(response["snapshot"].as_str().unwrap_or_default())
        .context("the server sent sources in another form")
}
