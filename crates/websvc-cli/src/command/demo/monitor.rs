//! The part of the tour about monitors: a page changes between two checks.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, to_value};
use websvc::types::monitor::{CreateMonitorRequest, MonitorRequestSchedule, MonitorTarget, ScrapeTarget};
use websvc::{Client, ListRange, Method};

use super::price_list::Prices;
use crate::command::monitor::check::{part, wait};
use crate::command::monitor::diff::page_lines;
use crate::command::monitor::text::{check_result, summary_lines, text};
use crate::command::monitor::{send, start_check};
use crate::output::{self, Colors, one_line};

/// Maximum length of a line of the page in a sentence, in characters.
const MAX_LINE_CHARS: usize = 80;

/// Schedule of the monitor. The tour does not wait for it.
pub(super) const SCHEDULE: &str = "every 30 minutes";

/// Creates a monitor of a page, checks it before and after its prices change, and prints the change.
pub(super) async fn show_change(address: &str, key: &str, url: &str, prices: &Prices) -> Result<()> {
    let client = Client::new(address.parse()?, key)?;
    let request = CreateMonitorRequest {
        name: "Tea prices".to_owned(),
        schedule: MonitorRequestSchedule { text: Some(SCHEDULE.to_owned()), ..Default::default() },
        targets: vec![MonitorTarget::Scrape(ScrapeTarget {
            urls: vec![url.to_owned()],
            ..ScrapeTarget::default()
        })],
        ..CreateMonitorRequest::default()
    };
    let created = send(&client, Method::POST, &[], None, Some(to_value(request)?)).await?;
    let (monitor, id) = (&created["data"], text(&created["data"]["id"]));
    print_lines(&summary_lines(monitor))?;
    output::line("\n   The first check stores the page:")?;
    run_check(&client, &id).await?;
    prices.change();
    output::line("\n   The page has changed. The second check compares:")?;
    let check = run_check(&client, &id).await?;
    let range = ListRange { skip: 0, limit: 1 };
    let part = part(&client, &id, &check, Some("changed"), range).await?;
    let page = &part["data"]["pages"][0];
    ensure!(page.is_object(), "the check did not notice that the page changed");
    print_lines(&sentences(page))?;
    output::line("\n   The difference:")?;
    print_lines(&page_lines(page, Colors::for_stdout()))?;
    let feed = monitor["feedUrl"].as_str().context("the monitor has no feed")?;
    output::line(&format!("\n   The changes as an Atom feed, for a feed reader:\n   {feed}"))?;
    let command = format!("websvc monitor diff {id} --server {address} --api-key {key}");
    output::line(&format!("   The changes in a terminal:\n   {command}"))
}

/// Runs a check, prints its result, and returns its ID.
async fn run_check(client: &Client, monitor: &str) -> Result<String> {
    let id = text(&start_check(client, monitor).await?["id"]);
    let check = wait(client, monitor, &id).await?;
    output::line(&format!("   {}", check_result(&check)))?;
    ensure!(check["status"] == "completed", "the check of the page did not succeed");
    Ok(id)
}

/// Returns the changes of a page in words, from its unified diff.
fn sentences(page: &Value) -> Vec<String> {
    let diff = page["diff"]["text"].as_str().unwrap_or_default();
    let (mut removed, mut sentences) = (Vec::new(), Vec::new());
    let quote = |line: &str| format!("\"{}\"", one_line(line.trim_start_matches("- "), MAX_LINE_CHARS));
    // The header names the versions. In a hunk, the old lines come before the new ones.
    for line in diff.lines().skip_while(|line| !line.starts_with("@@")) {
        let (sign, line) = line.split_at_checked(1).unwrap_or_default();
        match sign {
            "-" => removed.push(line),
            "+" if line.trim().is_empty() => {}
            "+" if removed.is_empty() => sentences.push(format!("New: {}", quote(line))),
            "+" => sentences.push(format!("Changed: {} to {}", quote(removed.remove(0)), quote(line))),
            _ => sentences.extend(removed.drain(..).map(|line| format!("Removed: {}", quote(line)))),
        }
    }
    sentences.extend(removed.into_iter().map(|line| format!("Removed: {}", quote(line))));
    sentences
}

fn print_lines(lines: &[String]) -> Result<()> {
    lines.iter().try_for_each(|line| output::line(&format!("   {line}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn changes_are_sentences() {
        let diff = "--- previous\n+++ current\n@@ -1,5 +1,4 @@\n # Tea\n-- Sencha 12\n-- Assam 9\n+- Sencha\u{1b}[2J 10\n \
                    - Earl Grey\n+- Genmaicha 11\n+\n@@ -9,2 +8,1 @@\n # End\n-- Last\n";
        let expected = [
            "Changed: \"Sencha 12\" to \"Sencha[2J 10\"",
            "Removed: \"Assam 9\"",
            "New: \"Genmaicha 11\"",
            "Removed: \"Last\"",
        ];
        assert_eq!(sentences(&json!({ "diff": { "text": diff } })), expected);
        assert_eq!(sentences(&json!({ "diff": { "text": "" } })), [""; 0]);
    }
}
