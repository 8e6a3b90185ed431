//! `websvc monitor`: creates, shows, changes, runs and deletes monitors of a running server.

pub(super) mod check;
pub(super) mod diff;
mod request;
pub(super) mod text;

use anyhow::{Result, bail};
use serde_json::{Value, json, to_value};
use websvc::types::limits::MONITOR_LIST_LIMIT_MAX;
use websvc::{Client, ListRange, Method};

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
            let request = to_value(request::create_request(*create))?;
            let response = send(&client, Method::POST, &[], None, Some(request)).await?;
            print_monitor(&response, text::summary_lines, json)
        }
        MonitorCommand::Edit(edit) => {
            let (id, request) = request::update_request(*edit);
            let response = send(&client, Method::PATCH, &[&id], None, Some(to_value(request)?)).await?;
            print_monitor(&response, text::detail_lines, json)
        }
        MonitorCommand::List => list(&client, json).await,
        MonitorCommand::Show { id } => show(&client, &id, json).await,
        MonitorCommand::Run { id, wait: false } => {
            let response = start_check(&client, &id).await?;
            output::json_or_line(json, &response, || format!("started check {}", text::text(&response["id"])))
        }
        MonitorCommand::Run { id, wait: true } => check::run(&remote, &id, json).await,
        MonitorCommand::Pause { id } => set_state(&client, &id, "paused", json).await,
        MonitorCommand::Resume { id } => set_state(&client, &id, "active", json).await,
        MonitorCommand::Delete { id } => {
            let response = send(&client, Method::DELETE, &[&id], None, None).await?;
            output::json_or_line(json, &response, || format!("deleted monitor {id}"))
        }
        MonitorCommand::Checks { id, limit } => {
            let response = checks(&client, &id, limit).await?;
            if json { output::json(&response) } else { text::check_table(items(&response), None).print() }
        }
        MonitorCommand::TestChannel { url } => test_channel(&client, &url, json).await,
        MonitorCommand::Diff { id, check } => check::diff(&client, &id, check, json).await,
    }
}

/// Sends a test message to a channel.
///
/// # Errors
/// The service of the channel did not accept it.
async fn test_channel(client: &Client, url: &str, json: bool) -> Result<()> {
    let body = json!({ "url": url });
    let response = send(client, Method::POST, &["notification", "test"], None, Some(body)).await?;
    let service = text::text(&response["service"]);
    if response["success"] != true && !json {
        bail!("{service} did not accept the message: {}", text::text(&response["error"]));
    }
    output::json_or_line(json, &response, || format!("{service} accepted the test message"))
}

/// Sends a request below the path of the monitors.
pub(super) async fn send(
    client: &Client,
    method: Method,
    path: &[&str],
    query: Option<String>,
    body: Option<Value>,
) -> Result<Value> {
    Ok(client.json(method, &[&["v2", "monitor"], path].concat(), query, body).await?)
}

/// Starts a check of a monitor.
pub(super) async fn start_check(client: &Client, id: &str) -> Result<Value> {
    send(client, Method::POST, &[id, "run"], None, Some(json!({}))).await
}

/// Returns the last checks of a monitor.
async fn checks(client: &Client, id: &str, limit: u64) -> Result<Value> {
    let range = ListRange { skip: 0, limit };
    send(client, Method::GET, &[id, "checks"], Some(range.to_string()), None).await
}

async fn set_state(client: &Client, id: &str, status: &str, json: bool) -> Result<()> {
    let response = send(client, Method::PATCH, &[id], None, Some(json!({ "status": status }))).await?;
    print_monitor(&response, text::summary_lines, json)
}

/// Prints a monitor that was created or changed, in these lines.
fn print_monitor(response: &Value, lines: fn(&Value) -> Vec<String>, json: bool) -> Result<()> {
    if json {
        return output::json(response);
    }
    response["warning"].as_str().into_iter().for_each(output::warn);
    output::lines(&lines(&response["data"]))
}

/// Prints all monitors of the team. Their number is limited, so they are collected to align the table.
async fn list(client: &Client, json: bool) -> Result<()> {
    let mut all = Vec::new();
    loop {
        let range = ListRange { skip: all.len() as u64, limit: MONITOR_LIST_LIMIT_MAX };
        let part = send(client, Method::GET, &[], Some(range.to_string()), None).await?;
        all.extend_from_slice(items(&part));
        if (items(&part).len() as u64) < range.limit {
            break;
        }
    }
    if json {
        return output::json(&json!({ "success": true, "data": all }));
    }
    output::Table::of_objects(&all, text::MONITORS).print()
}

async fn show(client: &Client, id: &str, json: bool) -> Result<()> {
    let response = send(client, Method::GET, &[id], None, None).await?;
    if json {
        return output::json(&response);
    }
    let monitor = &response["data"];
    output::lines(&text::detail_lines(monitor))?;
    let checks = checks(client, id, SHOWN_CHECKS).await?;
    if !items(&checks).is_empty() {
        output::line("")?;
        text::check_table(items(&checks), Some(monitor)).print()?;
    }
    Ok(())
}

/// Returns the items of a list.
fn items(response: &Value) -> &[Value] {
    response["data"].as_array().map_or(&[], Vec::as_slice)
}
