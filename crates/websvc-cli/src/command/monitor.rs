//! `websvc monitor`: creates, shows, changes, runs and deletes monitors of a running server.

pub(super) mod check;
pub(super) mod diff;
mod names;
mod request;
pub(super) mod text;

use anyhow::Result;
use websvc::types::limits::MONITOR_LIST_LIMIT_MAX;
use websvc::types::monitor::{
    self as wire, MonitorListResponse, MonitorResponse, MonitorStateRequest, UpdateMonitorRequest,
};
use websvc::{Client, ListRange};

use super::search::client;
use crate::args::{Monitor, MonitorCommand};
use crate::output;

/// Number of checks that `websvc monitor show` lists.
const SHOWN_CHECKS: u64 = 5;

/// Runs `websvc monitor`.
pub(crate) async fn monitor(arguments: Monitor) -> Result<()> {
    let remote = arguments.remote();
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
        MonitorCommand::Run { id, wait: false } => check::start(&client, &id, json).await,
        MonitorCommand::Run { id, wait: true } => check::run(&remote, &id, json).await,
        MonitorCommand::Pause { id } => {
            let response = set_state(&client, &id, MonitorStateRequest::Paused).await?;
            print_monitor(&response, text::summary_lines, json)
        }
        MonitorCommand::Resume { id } => {
            let response = set_state(&client, &id, MonitorStateRequest::Active).await?;
            print_monitor(&response, text::summary_lines, json)
        }
        MonitorCommand::Delete { id } => {
            let response = client.delete_monitor(&id).await?;
            if json { output::json(&response) } else { output::line(&format!("deleted monitor {id}")) }
        }
        MonitorCommand::Checks { id, limit } => checks(&client, &id, limit, json).await,
        MonitorCommand::Diff { id, check } => check::diff(&client, &id, check, json).await,
    }
}

async fn set_state(client: &Client, id: &str, state: MonitorStateRequest) -> Result<MonitorResponse> {
    let request = UpdateMonitorRequest { status: Some(state), ..UpdateMonitorRequest::default() };
    Ok(client.update_monitor(id, &request).await?)
}

/// Prints a monitor that was created or changed, in these lines.
fn print_monitor(
    response: &MonitorResponse,
    lines: fn(&wire::Monitor) -> Vec<String>,
    json: bool,
) -> Result<()> {
    if json {
        return output::json(response);
    }
    if let Some(warning) = &response.warning {
        output::note(&format!("warning: {}", output::printable(warning)));
    }
    print_lines(&lines(&response.data))
}

/// Prints all monitors of the team. Their number is limited, so they are collected to align the table.
async fn list(client: &Client, json: bool) -> Result<()> {
    let mut all = MonitorListResponse { success: true, data: Vec::new() };
    loop {
        let range = ListRange { skip: all.data.len() as u64, limit: MONITOR_LIST_LIMIT_MAX };
        let part = client.monitors(range).await?.data;
        let is_last = (part.len() as u64) < range.limit;
        all.data.extend(part);
        if is_last {
            break;
        }
    }
    if json {
        return output::json(&all);
    }
    text::monitor_table(&all.data).print()
}

async fn show(client: &Client, id: &str, json: bool) -> Result<()> {
    let response = client.monitor(id).await?;
    if json {
        return output::json(&response);
    }
    print_lines(&text::detail_lines(&response.data))?;
    let range = ListRange { skip: 0, limit: SHOWN_CHECKS };
    let checks = client.monitor_checks(id, None, range).await?.data;
    if !checks.is_empty() {
        output::line("")?;
        text::check_table(&checks, Some(&response.data)).print()?;
    }
    Ok(())
}

async fn checks(client: &Client, id: &str, limit: u64, json: bool) -> Result<()> {
    let response = client.monitor_checks(id, None, ListRange { skip: 0, limit }).await?;
    if json { output::json(&response) } else { text::check_table(&response.data, None).print() }
}

fn print_lines(lines: &[String]) -> Result<()> {
    lines.iter().try_for_each(|line| output::line(line))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn parse(arguments: &[&str]) -> Result<Monitor, clap::Error> {
        let cli = Cli::try_parse_from([&["websvc", "monitor"], arguments].concat())?;
        match cli.command {
            Command::Monitor(monitor) => Ok(monitor),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn server_and_json_are_options_of_every_subcommand() {
        let default = parse(&["list"]).unwrap();
        assert_eq!(default.remote().server.unwrap().as_str(), "http://127.0.0.1:3002/");
        assert!(!default.json);
        let given =
            parse(&["diff", "1", "2", "--server", "http://a.test", "--api-key", "k", "--json"]).unwrap();
        assert_eq!(given.remote().server.unwrap().as_str(), "http://a.test/");
        assert_eq!(given.remote().key().as_deref(), Some("k"));
        assert!(given.json);
    }
}
