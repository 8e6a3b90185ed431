//! The command `agent-browser` of shells in the sandbox: runs one command of the embedded engine over the relay.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

use super::interpreter::{DEVTOOLS_PORT, read_outcome, worker_program, write_outcome};
use crate::channel::{BoxFuture, CdpChannel, ChannelClosed};
use crate::frame::MAX_TO_WORKER;
use crate::guest_settings::AGENT_BROWSER;
use crate::program::{Language, Outcome, PageTarget, Program, WorkerConfig};

/// The maximum time of one command. The program that it belongs to usually ends before.
const TIMEOUT: Duration = Duration::from_secs(300);
/// The first ID of the commands of the channel itself, far from those of the worker.
const FIRST_ID: u64 = 1_000_000_000;

/// Runs one command if this process was started by the name `agent-browser`, and returns its exit code.
#[must_use]
pub fn agent_browser() -> Option<ExitCode> {
    let mut arguments = std::env::args_os();
    let name = arguments.next()?;
    if Path::new(&name).file_name()? != AGENT_BROWSER {
        return None;
    }
    let words: Vec<String> = arguments.map(|word| quote(&word.to_string_lossy())).collect();
    let outcome = run(words.join(" ")).unwrap_or_else(|error| crate::run::failure(error.to_string()));
    let printed = io::stdout().write_all(outcome.stdout.as_bytes());
    let reported = io::stderr().write_all(outcome.stderr.as_bytes());
    let is_written = printed.and(reported).is_ok() || io::stdout().is_terminal();
    let code = u8::try_from(outcome.exit_code).unwrap_or(1);
    Some(if is_written { ExitCode::from(code) } else { ExitCode::FAILURE })
}

/// Returns a word as one of a shell.
fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn run(command: String) -> io::Result<Outcome> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let mut outcome = read_outcome();
        let target = outcome.target_id.clone().unwrap_or_default();
        let mut socket = Socket::connect().await?;
        let page = socket.attach(&target).await?;
        let worker = WorkerConfig::new(worker_program(), outcome.worker_arguments.clone());
        let program = Program { language: Language::Bash, code: command, timeout: TIMEOUT };
        let run = crate::run::run(program, page, Box::new(socket), &worker).await;
        if let Some(target) = &run.page {
            outcome.target_id = Some(target.clone());
            write_outcome(&outcome)?;
        }
        Ok(run)
    })
}

/// A connection to the relay.
struct Socket(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Socket {
    async fn connect() -> io::Result<Self> {
        let limits = WebSocketConfig::default()
            .max_message_size(Some(MAX_TO_WORKER))
            .max_frame_size(Some(MAX_TO_WORKER));
        let url = format!("ws://127.0.0.1:{DEVTOOLS_PORT}/");
        let connected = connect_async_with_config(url, Some(limits), true).await;
        Ok(Self(connected.map_err(io::Error::other)?.0))
    }

    /// Attaches to the current page, or to the first tab if it is gone.
    async fn attach(&mut self, target: &str) -> io::Result<PageTarget> {
        if let Ok(page) = self.attach_to(target, FIRST_ID).await {
            return Ok(page);
        }
        let targets = self.call(FIRST_ID + 1, "Target.getTargets", json!({})).await?;
        let infos = targets["targetInfos"].as_array().cloned().unwrap_or_default();
        let page =
            infos.iter().find(|info| info["type"] == "page").and_then(|info| info["targetId"].as_str());
        let page = page.ok_or_else(|| io::Error::other("the session has no tab"))?.to_owned();
        self.attach_to(&page, FIRST_ID + 2).await
    }

    async fn attach_to(&mut self, target: &str, id: u64) -> io::Result<PageTarget> {
        let params = json!({"targetId": target, "flatten": true});
        let attached = self.call(id, "Target.attachToTarget", params).await?;
        let session = attached["sessionId"].as_str().unwrap_or_default().to_owned();
        Ok(PageTarget { target_id: target.to_owned(), session_id: session })
    }

    async fn call(&mut self, id: u64, method: &str, params: Value) -> io::Result<Value> {
        let command = json!({"id": id, "method": method, "params": params});
        self.0.send(Message::text(command.to_string())).await.map_err(io::Error::other)?;
        loop {
            let text = self.next().await.ok_or_else(|| io::Error::other("the browser session has ended"))?;
            let mut message: Value = serde_json::from_str(&text)?;
            if message["id"] == id {
                return match message["error"]["message"].as_str() {
                    Some(error) => Err(io::Error::other(error.to_owned())),
                    None => Ok(message["result"].take()),
                };
            }
        }
    }

    async fn next(&mut self) -> Option<String> {
        loop {
            match self.0.next().await?.ok()? {
                Message::Text(text) => return Some(text.to_string()),
                Message::Close(_) => return None,
                Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
            }
        }
    }
}

impl CdpChannel for Socket {
    fn send(&mut self, message: String) -> BoxFuture<'_, Result<(), ChannelClosed>> {
        Box::pin(async move { self.0.send(Message::text(message)).await.map_err(|_| ChannelClosed) })
    }

    fn receive(&mut self) -> BoxFuture<'_, Option<String>> {
        Box::pin(self.next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_the_engine() {
        assert_eq!(quote("it's a \"test\" $x"), r#"'it'\''s a "test" $x'"#);
    }
}
