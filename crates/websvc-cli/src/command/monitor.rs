//! `websvc monitor`: creates, shows, changes, runs and deletes monitors of a running server.

pub(super) mod check;
pub(super) mod diff;
mod request;
pub(super) mod text;

use anyhow::Result;
use serde_json::{Value, json, to_value};
use websvc::types::limits::MONITOR_LIST_LIMIT_MAX;
use websvc::types::monitor::{MonitorResponse, MonitorStateRequest, UpdateMonitorRequest};
use websvc::{Client, ListRange};

use super::search::client;
use crate::args::{Monitor, MonitorCommand};
use crate::output;

/// Number of checks that `websvc monitor show` lists.
const SHOWN_CHECKS: u64 = 5;

/// Runs `websvc monitor`.
pub(crate) async fn run(arguments: Monitor) -> Result<()> {
    let remote = arguments.at.remote();
    let client = client(&remote)?;
    let json = arguments.json;
    match arguments.command {
        MonitorCommand::Create(create) => {
            let response = client.create_monitor(&request::create_request(*create)).await?;
            print_monitor(&response, text::summary_lines, json)
        }
        MonitorCommand::Edit(edit) => {
            let (id, request) = request::update_request(*edit);
            print_monitor(&client.update_monitor(&id, &request).await?, text::detail_lines, json)
        }
        MonitorCommand::List => list(&client, json).await,
        MonitorCommand::Show { id } => show(&client, &id, json).await,
        MonitorCommand::Run { id, wait: false } => {
            let response = client.run_monitor(&id).await?;
            output::json_or_line(json, &response, || format!("started check {}", response.id))
        }
        MonitorCommand::Run { id, wait: true } => check::run(&remote, &id, json).await,
        MonitorCommand::Pause { id } => set_state(&client, &id, MonitorStateRequest::Paused, json).await,
        MonitorCommand::Resume { id } => set_state(&client, &id, MonitorStateRequest::Active, json).await,
        MonitorCommand::Delete { id } => {
            let response = client.delete_monitor(&id).await?;
            output::json_or_line(json, &response, || format!("deleted monitor {id}"))
        }
        MonitorCommand::Checks { id, limit } => {
            let response = client.monitor_checks(&id, None, ListRange { skip: 0, limit }).await?;
            if json {
                output::json(&response)
            } else {
                text::check_table(&objects(&response.data)?, None).print()
            }
        }
        MonitorCommand::Diff { id, check } => check::diff(&client, &id, check, json).await,
    }
}

async fn set_state(client: &Client, id: &str, state: MonitorStateRequest, json: bool) -> Result<()> {
    let request = UpdateMonitorRequest { status: Some(state), ..UpdateMonitorRequest::default() };
    print_monitor(&client.update_monitor(id, &request).await?, text::summary_lines, json)
}

/// Prints a monitor that was created or changed, in these lines.
fn print_monitor(response: &MonitorResponse, lines: fn(&Value) -> Vec<String>, json: bool) -> Result<()> {
    if json {
        return output::json(response);
    }
    response.warning.iter().for_each(|warning| output::warn(warning));
    output::lines(&lines(&to_value(&response.data)?))
}

/// Prints all monitors of the team. Their number is limited, so they are collected to align the table.
async fn list(client: &Client, json: bool) -> Result<()> {
    let mut all = Vec::new();
    loop {
        let range = ListRange { skip: all.len() as u64, limit: MONITOR_LIST_LIMIT_MAX };
        let part = client.monitors(range).await?.data;
        let is_last = (part.len() as u64) < range.limit;
        all.extend(objects(&part)?);
        if is_last {
            break;
        }
    }
    if json {
        return output::json(&json!({ "success": true, "data": all }));
    }
    output::Table::of_objects(&all, text::MONITORS).print()
}

async fn show(client: &Client, id: &str, json: bool) -> Result<()> {
    let response = client.monitor(id).await?;
    if json {
        return output::json(&response);
    }
    let monitor = to_value(&response.data)?;
    output::lines(&text::detail_lines(&monitor))?;
    let range = ListRange { skip: 0, limit: SHOWN_CHECKS };
    let checks = objects(&client.monitor_checks(id, None, range).await?.data)?;
    if !checks.is_empty() {
        output::line("")?;
        text::check_table(&checks, Some(&monitor)).print()?;
    }
    Ok(())
}

/// Returns the items of a list as they are in the response.
fn objects(items: &[impl serde::Serialize]) -> Result<Vec<Value>> {
    Ok(items.iter().map(to_value).collect::<Result<_, _>>()?)
}
