//! `websvc monitor`: creates, shows, runs and deletes monitors of a running server.

pub(super) mod check;
pub(super) mod diff;
mod names;
pub(super) mod text;

use anyhow::Result;
use websvc::types::limits::MONITOR_LIST_LIMIT_MAX;
use websvc::types::monitor::{
    CrawlTarget, CreateMonitorRequest, MonitorListResponse, MonitorRequestSchedule, MonitorResponse,
    MonitorStateRequest, MonitorTarget, MonitorWebhook, ScrapeTarget, SearchTarget, UpdateMonitorRequest,
};
use websvc::{Client, ListRange};

use super::search::client;
use crate::args::{CreateMonitor, Monitor, MonitorCommand};
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
            print_monitor(&client.create_monitor(&create_request(create)).await?, json)
        }
        MonitorCommand::List => list(&client, json).await,
        MonitorCommand::Show { id } => show(&client, &id, json).await,
        MonitorCommand::Run { id, wait: false } => check::start(&client, &id, json).await,
        MonitorCommand::Run { id, wait: true } => check::run(&remote, &id, json).await,
        MonitorCommand::Pause { id } => {
            print_monitor(&set_state(&client, &id, MonitorStateRequest::Paused).await?, json)
        }
        MonitorCommand::Resume { id } => {
            print_monitor(&set_state(&client, &id, MonitorStateRequest::Active).await?, json)
        }
        MonitorCommand::Delete { id } => {
            let response = client.delete_monitor(&id).await?;
            if json { output::json(&response) } else { output::line(&format!("deleted monitor {id}")) }
        }
        MonitorCommand::Checks { id, limit } => checks(&client, &id, limit, json).await,
        MonitorCommand::Diff { id, check } => check::diff(&client, &id, check, json).await,
    }
}

fn create_request(arguments: CreateMonitor) -> CreateMonitorRequest {
    let CreateMonitor { name, every, cron, timezone, urls, crawl, searches, goal, webhook } = arguments;
    let mut targets = Vec::new();
    if !urls.is_empty() {
        targets.push(MonitorTarget::Scrape(ScrapeTarget { urls, ..ScrapeTarget::default() }));
    }
    if let Some(url) = crawl {
        targets.push(MonitorTarget::Crawl(CrawlTarget { url, ..CrawlTarget::default() }));
    }
    if !searches.is_empty() {
        targets.push(MonitorTarget::Search(SearchTarget { queries: searches, ..SearchTarget::default() }));
    }
    CreateMonitorRequest {
        name,
        schedule: MonitorRequestSchedule { cron, text: every, timezone },
        targets,
        webhook: webhook.map(MonitorWebhook::Url),
        goal,
        ..CreateMonitorRequest::default()
    }
}

async fn set_state(client: &Client, id: &str, state: MonitorStateRequest) -> Result<MonitorResponse> {
    let request = UpdateMonitorRequest { status: Some(state), ..UpdateMonitorRequest::default() };
    Ok(client.update_monitor(id, &request).await?)
}

/// Prints a monitor that was created or changed.
fn print_monitor(response: &MonitorResponse, json: bool) -> Result<()> {
    if json {
        return output::json(response);
    }
    if let Some(warning) = &response.warning {
        output::note(&format!("warning: {}", output::printable(warning)));
    }
    print_lines(&text::summary_lines(&response.data))
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
        text::check_table(&checks).print()?;
    }
    Ok(())
}

async fn checks(client: &Client, id: &str, limit: u64, json: bool) -> Result<()> {
    let response = client.monitor_checks(id, None, ListRange { skip: 0, limit }).await?;
    if json { output::json(&response) } else { text::check_table(&response.data).print() }
}

fn print_lines(lines: &[String]) -> Result<()> {
    lines.iter().try_for_each(|line| output::line(line))
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use serde_json::json;

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
    fn options_become_the_request() {
        let arguments = [
            "create",
            "--name",
            "Tea",
            "--every",
            "daily",
            "--timezone",
            "Asia/Tokyo",
            "--url",
            "a.test",
            "--url",
            "b.test",
            "--crawl",
            "c.test",
            "--search",
            "tea",
            "--goal",
            "prices",
            "--webhook",
            "http://hook.test",
        ];
        let MonitorCommand::Create(create) = parse(&arguments).unwrap().command else { panic!() };
        let expected = json!({
            "name": "Tea",
            "schedule": { "text": "daily", "timezone": "Asia/Tokyo" },
            "targets": [
                { "type": "scrape", "urls": ["a.test", "b.test"] },
                { "type": "crawl", "url": "c.test" },
                { "type": "search", "queries": ["tea"] },
            ],
            "webhook": "http://hook.test",
            "goal": "prices",
        });
        assert_eq!(serde_json::to_value(create_request(create)).unwrap(), expected);
    }

    #[test]
    fn monitor_needs_one_schedule_and_a_target() {
        let create = ["create", "--name", "Tea"];
        for (options, is_valid) in [
            (["--every", "daily", "--url", "a.test"].as_slice(), true),
            (&["--cron", "0 0 * * *", "--search", "tea"], true),
            (&["--every", "daily"], false),
            (&["--url", "a.test"], false),
            (&["--every", "daily", "--cron", "0 0 * * *", "--url", "a.test"], false),
        ] {
            assert_eq!(parse(&[&create, options].concat()).is_ok(), is_valid, "{options:?}");
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
