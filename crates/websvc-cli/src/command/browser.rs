//! `websvc browser`: starts, uses and ends browser sessions of a running server.

mod current;
mod outcome;
mod page_command;

use std::io::{IsTerminal, Read};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use websvc::types::Profile;
use websvc::types::ScrapeOptions;
use websvc::types::interact::{
    BrowserListResponse, BrowserSession, BrowserSessionStatus, CreateBrowserRequest, CreateBrowserResponse,
    EndBrowserResponse, ExecuteRequest, ExecuteResponse, InteractLanguage,
};
use websvc::types::limits::INTERACT_CODE_MAX_CHARS;
use websvc::{Client, ClientError, StatusCode};
use websvc_types::counted;

use super::search::client;
use crate::CommandContext;
use crate::args::{Browser, BrowserCommand, LanguageArg, RunCode, StartBrowser, StatusArg};
use crate::output::{self, Table, printable};
use current::{CurrentSession, SessionChoice};

pub(crate) use outcome::FailedCode;
pub(crate) use page_command::help as page_commands_help;

/// The largest code that is read, in bytes: a character has at most four.
const MAX_CODE_BYTES: u64 = INTERACT_CODE_MAX_CHARS as u64 * 4;

/// Runs `websvc browser`.
pub(crate) async fn browser(context: CommandContext, arguments: Browser) -> Result<()> {
    let client = client(&arguments.remote())?;
    let current = CurrentSession::new(&context.data_dir, arguments.server());
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
    let work = match command {
        BrowserCommand::Run(run) => run_code(&client, &choice, run, json).await,
        BrowserCommand::Page(words) => page_command::run(&client, &choice, words, json).await,
        BrowserCommand::Live { interactive } => live(&client, &choice, interactive, json).await,
        BrowserCommand::End => end(&client, &choice, json).await,
        BrowserCommand::Start(_) | BrowserCommand::List { .. } => unreachable!("these ran above"),
    };
    let is_end = work.as_ref().is_ok_and(|used| *used == SessionUse::Ended);
    if is_end || work.as_ref().is_err_and(anyhow::Error::is::<EndedSession>) {
        current.forget(choice.id());
    }
    work.map(|_| ())
}

/// The state of a session after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SessionUse {
    Active,
    Ended,
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
fn session_error(choice: &SessionChoice, error: ClientError) -> anyhow::Error {
    match error.status() {
        Some(StatusCode::NOT_FOUND | StatusCode::GONE) => {
            EndedSession { id: choice.id().to_owned(), source: Some(error) }.into()
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
    let CreateBrowserResponse {
        success: _,
        id,
        cdp_url,
        live_view_url,
        interactive_live_view_url,
        expires_at,
        warning,
    } = &session;
    if let Some(warning) = warning {
        output::note(&format!("warning: {}", printable(warning)));
    }
    for (name, value) in [
        ("Session", id),
        ("Ends", expires_at),
        ("Live view", live_view_url),
        ("Interactive", interactive_live_view_url),
        ("DevTools", cdp_url),
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
    status: Option<StatusArg>,
    json: bool,
) -> Result<()> {
    let status = status.map(|status| match status {
        StatusArg::Active => BrowserSessionStatus::Active,
        StatusArg::Destroyed => BrowserSessionStatus::Destroyed,
    });
    let response = client.browser_sessions(status).await?;
    if json {
        return output::json(&response);
    }
    let used = current.choose(session).ok();
    let BrowserListResponse { success: _, sessions } = &response;
    let mut table = Table::new(["", "SESSION", "STATUS", "STARTED", "LAST USE"]);
    for session in sessions {
        let is_used = used.as_ref().is_some_and(|choice| choice.id() == session.id);
        table.row([
            if is_used { "*" } else { "" },
            &printable(&session.id),
            match session.status {
                BrowserSessionStatus::Active => "active",
                BrowserSessionStatus::Destroyed => "destroyed",
            },
            &printable(&session.created_at),
            &printable(&session.last_activity),
        ]);
    }
    table.print()
}

async fn run_code(client: &Client, choice: &SessionChoice, run: RunCode, json: bool) -> Result<SessionUse> {
    let RunCode { code, file, language, timeout } = run;
    let language = match language {
        LanguageArg::Node => InteractLanguage::Node,
        LanguageArg::Bash => InteractLanguage::Bash,
        LanguageArg::Python => InteractLanguage::Python,
    };
    let request = ExecuteRequest {
        code: read_code(code, file.as_deref())?,
        language: Some(language),
        timeout,
        ..ExecuteRequest::default()
    };
    let response = execute(client, choice, &request).await?;
    outcome::print(&response, language, json)?;
    outcome::check(&response)?;
    Ok(SessionUse::Active)
}

async fn execute(
    client: &Client,
    choice: &SessionChoice,
    request: &ExecuteRequest,
) -> Result<ExecuteResponse> {
    client.execute_code(choice.id(), request).await.map_err(|error| session_error(choice, error))
}

/// Returns the code in the argument, in the file, or on stdin.
fn read_code(code: Option<String>, file: Option<&Path>) -> Result<String> {
    if let Some(code) = code {
        return Ok(code);
    }
    let mut text = String::new();
    match file {
        Some(path) if path != Path::new("-") => {
            let file = std::fs::File::open(path).with_context(|| path.display().to_string())?;
            let reading = file.take(MAX_CODE_BYTES + 1).read_to_string(&mut text);
            reading.with_context(|| path.display().to_string())?;
        }
        Some(_) | None => {
            let stdin = std::io::stdin();
            if file.is_none() && stdin.is_terminal() {
                bail!("there is no code: pass it as an argument, with --file, or on stdin");
            }
            stdin.lock().take(MAX_CODE_BYTES + 1).read_to_string(&mut text).context("stdin")?;
        }
    }
    ensure!(
        text.len() as u64 <= MAX_CODE_BYTES,
        "the code is too long: the maximum is {INTERACT_CODE_MAX_CHARS} characters"
    );
    Ok(text)
}

async fn live(client: &Client, choice: &SessionChoice, interactive: bool, json: bool) -> Result<SessionUse> {
    let BrowserListResponse { success: _, sessions } =
        client.browser_sessions(Some(BrowserSessionStatus::Active)).await?;
    let Some(session) = sessions.into_iter().find(|session| session.id == choice.id()) else {
        return Err(EndedSession { id: choice.id().to_owned(), source: None }.into());
    };
    if json {
        output::json(&session)?;
        return Ok(SessionUse::Active);
    }
    let BrowserSession { live_view_url, interactive_live_view_url, .. } = &session;
    let url = if interactive { interactive_live_view_url } else { live_view_url };
    ensure!(!url.is_empty(), "the session {} runs in another process of the service", choice.id());
    output::line(&printable(url))?;
    Ok(SessionUse::Active)
}

async fn end(client: &Client, choice: &SessionChoice, json: bool) -> Result<SessionUse> {
    let response = client.end_browser(choice.id()).await.map_err(|error| session_error(choice, error))?;
    if json {
        output::json(&response)?;
        return Ok(SessionUse::Ended);
    }
    let EndBrowserResponse { success: _, session_duration_ms, credits_billed } = response;
    let seconds = session_duration_ms.div_ceil(1000);
    let id = choice.id();
    output::line(&match credits_billed {
        Some(credits) => {
            format!("ended {id} after {seconds} s, {}", counted(credits, "credit", "credits"))
        }
        None => format!("{id} had ended before, after {seconds} s"),
    })?;
    Ok(SessionUse::Ended)
}
