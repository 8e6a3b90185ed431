//! `websvc agent`: starts, follows, shows and cancels agent runs of a running server.

mod follow;
mod text;

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value};
use websvc::types::agent::AgentRequest;
use websvc::{Client, ClientError, Method};

use super::input::Input;
use super::search::client;
use crate::args::{Agent, AgentCommand, StartAgent};
use crate::output;

/// The largest schema that is read, in bytes. The server refuses larger requests anyway.
const MAX_SCHEMA_BYTES: u64 = 10 * 1024 * 1024;

/// Runs `websvc agent`.
pub(crate) async fn run(arguments: Agent) -> Result<()> {
    let remote = arguments.at.remote();
    let Agent { command, start, json, .. } = arguments;
    let Some(command) = command else {
        let (request, output) = start_request(start)?;
        return follow::run(&remote, &request, output.as_deref(), json).await;
    };
    ensure_no_start(&start)?;
    let client = client(&remote)?;
    match command {
        AgentCommand::List { limit } => list(&client, limit, json).await,
        AgentCommand::Status { id } => status(&client, &id, json).await,
        AgentCommand::Trace { id } => trace(&client, &id, json).await,
        AgentCommand::Cancel { id } => {
            let response = send(&client, Method::DELETE, &[&id], None, None).await?;
            output::json_or_line(json, &response, || format!("cancelled run {id}"))
        }
    }
}

/// Checks that a command comes without a task and without options of a run to start, which it would ignore.
fn ensure_no_start(start: &StartAgent) -> Result<()> {
    let StartAgent { prompt, schema, urls, strict, max_credits, effort, allow_interact, thread, output } =
        start;
    if let Some(prompt) = prompt {
        bail!("{prompt:?} and a command cannot be combined: leave out one of them");
    }
    let options = [
        ("--schema", schema.is_some()),
        ("--url", !urls.is_empty()),
        ("--strict", *strict),
        ("--max-credits", max_credits.is_some()),
        ("--effort", effort.is_some()),
        ("--allow-interact", *allow_interact),
        ("--thread", thread.is_some()),
        ("--output", output.is_some()),
    ];
    match options.into_iter().find(|(_, is_set)| *is_set) {
        None => Ok(()),
        Some((name, _)) => {
            bail!("{name} and a command cannot be combined: only a run to start has this option")
        }
    }
}

/// Returns the request of a run, and the file for its data.
fn start_request(start: StartAgent) -> Result<(AgentRequest, Option<std::path::PathBuf>)> {
    let StartAgent { prompt, schema, urls, strict, max_credits, effort, allow_interact, thread, output } =
        start;
    let request = AgentRequest {
        urls: (!urls.is_empty()).then_some(urls),
        schema: schema.as_deref().map(read_schema).transpose()?,
        strict_constrain_to_urls: strict.then_some(true),
        max_credits,
        effort,
        allow_interact: allow_interact.then_some(true),
        thread_id: thread,
        origin: Some("websvc".to_owned()),
        ..AgentRequest::new(prompt.unwrap_or_default())
    };
    Ok((request, output))
}

/// Reads a JSON Schema from a file, or from stdin for `-`.
fn read_schema(path: &Path) -> Result<Map<String, Value>> {
    let is_schema = path.to_string_lossy().trim_start().starts_with('{');
    ensure!(!is_schema, "--schema needs a file, not the schema itself; `-` reads it from stdin");
    let Input { name, text } = Input::read(path, MAX_SCHEMA_BYTES)?;
    ensure!(
        text.len() as u64 <= MAX_SCHEMA_BYTES,
        "{name}: the schema is larger than {MAX_SCHEMA_BYTES} bytes"
    );
    serde_json::from_str(&text).with_context(|| format!("{name} is not a JSON Schema in an object"))
}

/// Sends a request below the path of the agent.
async fn send(
    client: &Client,
    method: Method,
    path: &[&str],
    query: Option<String>,
    body: Option<Value>,
) -> Result<Value, ClientError> {
    client.json(method, &[&["v2", "agent"], path].concat(), query, body).await
}

async fn list(client: &Client, limit: u64, json: bool) -> Result<()> {
    let (mut runs, mut before) = (Vec::new(), None);
    let mut all = loop {
        let query = before.map(|before| format!("before={before}"));
        let mut page = send(client, Method::GET, &[], query, None).await?;
        if let Value::Array(found) = page["agents"].take() {
            runs.extend(found);
        }
        let next = page["next"].as_str().and_then(before_of);
        if runs.len() as u64 >= limit || next.is_none() || next == before {
            break page;
        }
        before = next;
    };
    runs.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    if json {
        all["agents"] = runs.into();
        return output::json(&all);
    }
    output::Table::of_objects(&runs, text::RUNS).print()
}

/// Returns the parameter `before` of the URL of a page of the list.
fn before_of(next: &str) -> Option<u64> {
    let (_, value) = next.split_once("before=")?;
    value.split('&').next()?.parse().ok()
}

async fn status(client: &Client, id: &str, json: bool) -> Result<()> {
    let run = send(client, Method::GET, &[id], None, None).await?;
    if json {
        return output::json(&run);
    }
    output::lines(&text::status_lines(&run))?;
    match (&run["data"], &run["partial"]) {
        (Value::Null, Value::Null) => Ok(()),
        (Value::Null, partial) => {
            output::line("Collected before the end, not a result:")?;
            output::json(partial)
        }
        (data, _) => output::json(data),
    }
}

async fn trace(client: &Client, id: &str, json: bool) -> Result<()> {
    let trace = send(client, Method::GET, &[id, "trace"], None, None).await?;
    if json {
        return output::json(&trace);
    }
    let events = trace["events"].as_array().map_or(&[][..], Vec::as_slice);
    for event in events {
        if let Some(step) = text::step(event) {
            output::line(&format!("{}  {}", text::time(&event["occurredAt"]), step.text))?;
        }
    }
    let sources = follow::sources(client, id, events).await?;
    output::lines(&sources.iter().map(text::source_line).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use websvc::types::agent::AgentEffort;

    use super::*;
    use crate::args::{Cli, Command};

    fn parse(arguments: &[&str]) -> Result<Agent, clap::Error> {
        let cli = Cli::try_parse_from([&["websvc", "agent"], arguments].concat())?;
        match cli.command {
            Command::Agent(agent) => Ok(*agent),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn prompt_or_command_is_required_and_options_may_come_first() {
        assert!(parse(&[]).is_err());
        let run = parse(&["--json", "What does tea cost?", "--server", "http://a.test"]).unwrap();
        assert_eq!(run.at.remote().server.unwrap().as_str(), "http://a.test/");
        assert!(run.json && run.command.is_none());
        assert_eq!(run.start.prompt.as_deref(), Some("What does tea cost?"));
        // An option before the command must not turn its name into a prompt.
        for arguments in [["--json", "list"], ["list", "--json"]] {
            let list = parse(&arguments).unwrap();
            assert!(matches!(list.command, Some(AgentCommand::List { limit: 20 })), "{list:?}");
        }
        assert!(
            matches!(parse(&["status", "7"]).unwrap().command, Some(AgentCommand::Status { id }) if id == "7")
        );
    }

    #[test]
    fn command_has_no_options_of_a_run_to_start() {
        for (arguments, expected) in [
            (["x", "list"].as_slice(), "\"x\" and a command"),
            (&["--schema", "s", "list"], "--schema and a command"),
            (&["--url", "http://a.test/", "--strict", "list"], "--url and a command"),
            (&["--max-credits", "7", "list"], "--max-credits and a command"),
            (&["--effort", "low", "list"], "--effort and a command"),
            (&["--allow-interact", "list"], "--allow-interact and a command"),
            (&["--thread", "t", "list"], "--thread and a command"),
            (&["--output", "o", "status", "7"], "--output and a command"),
        ] {
            let error = ensure_no_start(&parse(arguments).unwrap().start).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        ensure_no_start(&parse(&["--json", "list"]).unwrap().start).unwrap();
    }

    #[test]
    fn options_become_the_request() {
        let run = parse(&[
            "x",
            "--url",
            "http://a.test/",
            "--url",
            "http://b.test/",
            "--strict",
            "--max-credits",
            "7",
            "--effort",
            "low",
            "--allow-interact",
            "--thread",
            "t",
        ])
        .unwrap();
        let (request, output) = start_request(run.start).unwrap();
        let expected = AgentRequest {
            urls: Some(vec!["http://a.test/".to_owned(), "http://b.test/".to_owned()]),
            strict_constrain_to_urls: Some(true),
            max_credits: Some(7),
            effort: Some(AgentEffort::Low),
            allow_interact: Some(true),
            thread_id: Some("t".to_owned()),
            origin: Some("websvc".to_owned()),
            ..AgentRequest::new("x")
        };
        assert_eq!((request, output), (expected, None));
        for wrong in [["x", "--strict"].as_slice(), &["x", "--max-credits", "0"], &["x", "--effort", "huge"]]
        {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn schema_in_place_of_its_file_is_named_as_such() {
        let error = read_schema(Path::new(r#"{"type": "object"}"#)).unwrap_err();
        assert!(error.to_string().starts_with("--schema needs a file"), "{error}");
    }

    #[test]
    fn next_page_begins_before_the_time_in_its_url() {
        assert_eq!(before_of("http://a.test/v2/agent?before=17"), Some(17));
        assert_eq!(before_of("http://a.test/v2/agent"), None);
    }
}
