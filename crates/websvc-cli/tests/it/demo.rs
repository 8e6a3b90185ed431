//! Tests of the first minutes with the program: `websvc demo`, and the commands of the README.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::harness::{Service, Site, signal, tea_world, wait};

/// Address at which the service listens by default.
const DEFAULT_ADDRESS: &str = "127.0.0.1:3002";

fn demo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_websvc"));
    command.arg("demo").args(arguments);
    command
}

#[test]
fn demo_prints_results_a_change_and_example_commands() {
    let output = demo(&["--once"]).output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stdout}\n{}", String::from_utf8_lossy(&output.stderr));
    let mut rest = &*stdout;
    for line in [
        "Crawling the website into a new index",
        "  1. ",
        "The first result's markdown:",
        "Every 30 minutes",
        "completed: 1 new, 1 credit",
        "completed: 1 changed, 1 credit",
        "   Changed: \"Sencha: 12.00 euros\" to \"Sencha: 10.50 euros\"\n   New: \"Genmaicha: 11.00 euros\"\n",
        "   -- Sencha: 12.00 euros\n   +- Sencha: 10.50 euros\n",
        "Atom feed",
        "websvc monitor diff",
        "curl http://127.0.0.1",
        "from firecrawl import",
    ] {
        let (_, after) =
            rest.split_once(line).unwrap_or_else(|| panic!("{line:?} is not in order in:\n{stdout}"));
        rest = after;
    }
    assert!(!stdout.contains('\u{1b}'), "colours are for terminals:\n{stdout}");
}

#[test]
fn demo_uses_a_free_port_if_the_default_one_is_taken() {
    // If this fails, another program has taken it.
    let taken = TcpListener::bind(DEFAULT_ADDRESS);
    let output = demo(&["--once"]).output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stdout}\n{}", String::from_utf8_lossy(&output.stderr));
    let line = "Running the service at http://";
    assert!(stdout.contains(line), "{stdout}");
    assert!(taken.is_err() || !stdout.contains(&format!("{line}{DEFAULT_ADDRESS}\n")), "{stdout}");
}

#[tokio::test(flavor = "multi_thread")]
async fn feed_of_the_demo_has_the_change_while_the_demo_runs() {
    let mut child = demo(&[]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let feed =
        lines.by_ref().find(|line| line.contains("/feed")).expect("the demo prints the URL of the feed");
    assert!(lines.any(|line| line.contains("until Ctrl-C")), "the demo ended too early");
    let feed = feed.trim();
    let path = feed.find("/v2/").expect("the feed is on the service");
    let text = Service::at(&feed[..path]).text(&feed[path..]).await;
    assert!(text.contains("Sencha: 10.50 euros"), "{text}");
    signal(&child, "TERM");
    assert!(wait(&mut child).success());
}

/// The way of the README with nothing but the program: crawl a site, start the service, take the key that it prints, search.
#[tokio::test(flavor = "multi_thread")]
async fn newcomer_finds_a_page_of_a_site_within_a_minute() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let started = Instant::now();
    site.succeed(&["index", "crawl", "http://tea.test/"]);
    let log = site.data_dir().join("log");
    let mut service = Service::start_logging(&mut site.command(&["serve", "--listen", "127.0.0.1:0"]), &log);
    let printed = std::fs::read_to_string(&log).unwrap();
    let (_, key) = printed.split_once("shown only once: ").unwrap_or_else(|| panic!("{printed}"));
    service.key = key.split_whitespace().next().unwrap().to_owned();
    let body = service.search_until_found("green tea").await;
    let elapsed = started.elapsed();
    assert!(body["data"]["web"][0]["url"].as_str().is_some_and(|url| url.contains("tea.test")), "{body}");
    assert!(elapsed < Duration::from_secs(60), "{elapsed:?}");
}
