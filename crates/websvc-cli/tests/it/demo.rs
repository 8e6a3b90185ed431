//! Tests of `websvc demo`.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Command, Stdio};

use crate::harness::{Service, signal, wait};

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
