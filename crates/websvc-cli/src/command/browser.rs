//! `websvc browser`: starts, uses and ends browser sessions of a running server.

mod current;
mod outcome;
mod page_command;

use std::io::IsTerminal;
use std::path::Path;

use anyhow::{Result, ensure};
use serde_json::to_value;
use websvc::types::Profile;
use websvc::types::ScrapeOptions;
use websvc::types::interact::{BrowserSessionStatus, CreateBrowserRequest, ExecuteRequest, ExecuteResponse};
use websvc::types::limits::INTERACT_CODE_MAX_CHARS;
use websvc::{Client, ClientError, StatusCode};
use websvc_types::counted;

use super::input::Input;
use super::search::client;
use crate::CommandContext;
use crate::args::{Browser, BrowserCommand, RunCode, StartBrowser};
use crate::output::{self, Table, printable};
use current::CurrentSession;

pub(crate) use outcome::FailedCode;
pub(crate) use page_command::help as page_commands_help;

/// The largest code that is read, in bytes: a character has at most four.
const MAX_CODE_BYTES: u64 = INTERACT_CODE_MAX_CHARS as u64 * 4;

/// Runs `websvc browser`.
pub(crate) async fn run(context: CommandContext, arguments: Browser) -> Result<()> {
    let client = client(&arguments.at.remote())?;
    let current = CurrentSession::new(&context.data_dir, &arguments.at.server);
    let Browser { command, session, json, .. } = arguments;
    let command = match command {
        BrowserCommand::Start(start) => {
            ensure!(session.is_none(), "`start` starts another session: it has no option --session");
            return run_start(&client, &current, start, json).await;
        }
        BrowserCommand::List { status } => return list(&client, &current, session, status, json).await,
        BrowserCommand::Page(words) if page_command::is_help(&words) => {
            return output::line(&page_command::usage(&words)?);
        }
        command => command,
    };
    let choice = current.choose(session)?;
    let is_end = matches!(command, BrowserCommand::End);
    let work = match command {
        BrowserCommand::Run(run) => run_code(&client, &choice, run, json).await,
        BrowserCommand::Page(words) => page_command::run(&client, &choice, words, json).await,
        BrowserCommand::Live { interactive } => live(&client, &choice, interactive, json).await,
        BrowserCommand::End => end(&client, &choice, json).await,
        BrowserCommand::Start(_) | BrowserCommand::List { .. } => unreachable!("these ran above"),
    };
    if (is_end && work.is_ok()) || work.as_ref().is_err_and(anyhow::Error::is::<EndedSession>) {
        current.forget(&choice);
    }
    work
}

/// The error of a command for a session that does not exist any more.
#[derive(Debug, thiserror::Error)]
#[error("the session {id} has ended or does not exist; `websvc browser start` starts another")]
struct EndedSession {
    id: String,
    #[source]
    source: Option<ClientError>,
}

/// Returns an error of the server, or that the session has ended.
fn session_error(choice: &str, error: ClientError) -> anyhow::Error {
    match error.status() {
        Some(StatusCode::NOT_FOUND | StatusCode::GONE) => {
            EndedSession { id: choice.to_owned(), source: Some(error) }.into()
        }
        _ => error.into(),
    }
}

async fn run_start(
    client: &Client,
    current: &CurrentSession,
    arguments: StartBrowser,
    json: bool,
) -> Result<()> {
    let session = client.start_browser(&start_request(arguments)).await?;
    if let Err(error) = current.store(&session.id) {
        output::note(&format!(
            "warning: the session is not remembered, name it with --session: {}",
            output::causes(error.as_ref())
        ));
    }
    if json {
        return output::json(&session);
    }
    session.warning.iter().for_each(|warning| output::warn(warning));
    for (name, value) in [
        ("Session", &session.id),
        ("Ends", &session.expires_at),
        ("Live view", &session.live_view_url),
        ("Interactive", &session.interactive_live_view_url),
        ("DevTools", &session.cdp_url),
    ] {
        output::line(&format!("{name:<13}{}", printable(value)))?;
    }
    Ok(())
}

fn start_request(arguments: StartBrowser) -> CreateBrowserRequest {
    let StartBrowser { ttl, activity_ttl, profile, no_save_changes, location, no_block_ads } = arguments;
    let mut options = ScrapeOptions::default();
    location.fill(&mut options);
    CreateBrowserRequest {
        ttl,
        activity_ttl,
        profile: profile.map(|name| Profile { name, save_changes: no_save_changes.then_some(false) }),
        block_ads: no_block_ads.then_some(false),
        location: options.location,
        ..CreateBrowserRequest::default()
    }
}

async fn list(
    client: &Client,
    current: &CurrentSession,
    session: Option<String>,
    status: Option<BrowserSessionStatus>,
    json: bool,
) -> Result<()> {
    let response = client.browser_sessions(status).await?;
    if json {
        return output::json(&response);
    }
    let used = current.choose(session).ok();
    let mut table = Table::new(&["", "SESSION", "STATUS", "STARTED", "LAST USE"]);
    for session in &response.sessions {
        let is_used = used.as_ref().is_some_and(|choice| *choice == session.id);
        let mark = if is_used { "*" } else { "" };
        let status = to_value(session.status)?;
        let texts =
            [&session.id, status.as_str().unwrap_or_default(), &session.created_at, &session.last_activity];
        let [id, status, created, used] = texts.map(printable);
        table.row(&[mark, &id, &status, &created, &used]);
    }
    table.print()
}

async fn run_code(client: &Client, choice: &str, run: RunCode, json: bool) -> Result<()> {
    let RunCode { code, file, language, timeout } = run;
    let request = ExecuteRequest {
        code: read_code(code, file.as_deref())?,
        language: Some(language),
        timeout,
        ..ExecuteRequest::default()
    };
    let response = execute(client, choice, &request).await?;
    outcome::print(&response, language, json)?;
    outcome::check(&response)
}

async fn execute(client: &Client, choice: &str, request: &ExecuteRequest) -> Result<ExecuteResponse> {
    client.execute_code(choice, request).await.map_err(|error| session_error(choice, error))
}

/// Returns the code in the argument, in the file, or on stdin.
fn read_code(code: Option<String>, file: Option<&Path>) -> Result<String> {
    if let Some(code) = code {
        return Ok(code);
    }
    ensure!(
        file.is_some() || !std::io::stdin().is_terminal(),
        "there is no code: pass it as an argument, with --file, or on stdin"
    );
    let text = Input::read(file.unwrap_or(Path::new("-")), MAX_CODE_BYTES)?.text;
    ensure!(
        text.len() as u64 <= MAX_CODE_BYTES,
        "the code is too long: the maximum is {INTERACT_CODE_MAX_CHARS} characters"
    );
    Ok(text)
}

async fn live(client: &Client, choice: &str, interactive: bool, json: bool) -> Result<()> {
    let active = client.browser_sessions(Some(BrowserSessionStatus::Active)).await?;
    let Some(session) = active.sessions.into_iter().find(|session| session.id == choice) else {
        return Err(EndedSession { id: choice.to_owned(), source: None }.into());
    };
    if json {
        return output::json(&session);
    }
    let url = if interactive { &session.interactive_live_view_url } else { &session.live_view_url };
    ensure!(!url.is_empty(), "the session {choice} runs in another process of the service");
    output::line(&printable(url))
}

async fn end(client: &Client, choice: &str, json: bool) -> Result<()> {
    let response = client.end_browser(choice).await.map_err(|error| session_error(choice, error))?;
    output::json_or_line(json, &response, || {
        let (id, seconds) = (choice, response.session_duration_ms.div_ceil(1000));
        match response.credits_billed {
            Some(credits) => {
                format!("ended {id} after {seconds} s, {}", counted(credits, "credit", "credits"))
            }
            None => format!("{id} had ended before, after {seconds} s"),
        }
    })
}
