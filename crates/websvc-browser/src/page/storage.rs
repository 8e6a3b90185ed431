//! Empty documents of an origin, where its storage is written and read.

use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::open_page::Page;
use crate::connection::CdpError;
use crate::error::BrowserError;
use crate::state::{MAX_ORIGIN_CHARS, MAX_ORIGINS, State};

const READ: &str = include_str!("read_storage.js");
const WRITE: &str = include_str!("write_storage.js");

/// The document. It has an icon, so that nobody looks for one.
const EMPTY: &str = "<!DOCTYPE html><link rel=icon href=data:,>";
/// What a warning names of all that was lost.
const MAX_NAMED: usize = 5;

/// Answers the requests of a page in place of the network: the one document that is wanted, and nothing else.
#[derive(Clone, Default)]
struct Local(Arc<Mutex<String>>);

impl Local {
    fn wanted(&self) -> std::sync::MutexGuard<'_, String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, paused: &Value) -> (&'static str, Value) {
        let id = &paused["requestId"];
        if paused["resourceType"] != "Document" || paused["request"]["url"] != self.wanted().as_str() {
            return ("Fetch.failRequest", json!({"requestId": id, "errorReason": "Aborted"}));
        }
        let headers = json!([
            {"name": "Content-Type", "value": "text/html; charset=utf-8"},
            {"name": "Cache-Control", "value": "no-store"},
        ]);
        let body = STANDARD.encode(EMPTY);
        let answer = json!({"requestId": id, "responseCode": 200, "responseHeaders": headers, "body": body});
        ("Fetch.fulfillRequest", answer)
    }
}

impl Page<'_> {
    /// Makes the page's context what it was when the state was taken.
    pub(super) async fn restore(&self, state: &State) -> Result<(), BrowserError> {
        self.give_cookies(state).await?;
        if state.origins.is_empty() {
            return Ok(());
        }
        let local = self.stay_local().await?;
        for (origin, text) in &state.origins {
            match self.run_at(origin, &local, WRITE, text.as_str().into()).await? {
                Ok(lost) => self.warn_lost(origin, &lost, "restored"),
                Err(why) => self.warn(format!("the storage of {origin} could not be restored: {why}")),
            }
        }
        self.call("Fetch.disable", json!({})).await?;
        self.call("Page.resetNavigationHistory", json!({})).await?;
        Ok(())
    }

    /// Returns the state of the context now, which the page leaves for that. `None`, with a warning, when there is not
    /// the time for it.
    pub(super) async fn capture(
        &self,
        before: &State,
        until: Instant,
    ) -> Result<Option<State>, BrowserError> {
        match timeout_at(until, self.take(before)).await {
            Ok(taken) => taken.map(Some),
            Err(_) => {
                self.warn("there was no time to save the profile, which stays as it was".to_owned());
                Ok(None)
            }
        }
    }

    async fn take(&self, before: &State) -> Result<State, BrowserError> {
        let visited = self.visited();
        // A worker of the page must not answer for its origin.
        self.call("Network.setBypassServiceWorker", json!({"bypass": true})).await?;
        let local = self.stay_local().await?;
        let mut state = before.clone();
        for origin in visited {
            self.take_origin(&origin, &local, &mut state).await?;
        }
        // Last, because a page may write cookies when it is left.
        state.cookies = self.take_cookies(before).await?;
        Ok(state)
    }

    async fn take_origin(&self, origin: &str, local: &Local, state: &mut State) -> Result<(), BrowserError> {
        let mut read = match self.run_at(origin, local, READ, MAX_ORIGIN_CHARS.into()).await? {
            Ok(read) => read,
            Err(why) => {
                self.warn(format!("the storage of {origin} could not be read and stays as it was: {why}"));
                return Ok(());
            }
        };
        self.warn_lost(origin, &read["lost"], "kept");
        if read["large"] == true {
            let limit = MAX_ORIGIN_CHARS / (1024 * 1024);
            self.warn(format!("the storage of {origin} is larger than {limit} MiB and stays as it was"));
            return Ok(());
        }
        match read["text"].take() {
            Value::String(text)
                if state.origins.contains_key(origin) || state.origins.len() < MAX_ORIGINS =>
            {
                state.origins.insert(origin.to_owned(), text);
            }
            Value::String(_) => self.warn(format!(
                "the storage of {origin} was not kept: the profile has that of {MAX_ORIGINS} origins already"
            )),
            _ => drop(state.origins.remove(origin)),
        }
        Ok(())
    }

    /// Answers all requests of the page here from now on.
    async fn stay_local(&self) -> Result<Local, CdpError> {
        let local = Local::default();
        let answering = local.clone();
        self.answer_requests(move |paused| answering.answer(paused));
        let patterns = json!([{"urlPattern": "*", "requestStage": "Request"}]);
        self.call("Fetch.enable", json!({"patterns": patterns})).await?;
        Ok(local)
    }

    /// Calls a function with an origin and an argument in an empty document of the origin. Its exception, and that the
    /// document cannot be shown, are values.
    async fn run_at(
        &self,
        origin: &str,
        local: &Local,
        function: &str,
        argument: Value,
    ) -> Result<Result<Value, String>, BrowserError> {
        let url = format!("{origin}/");
        local.wanted().clone_from(&url);
        let navigated = self.call("Page.navigate", json!({"url": url})).await?;
        if let Some(error) = navigated["errorText"].as_str() {
            return Ok(Err(error.to_owned()));
        }
        let world = json!({"frameId": self.target(), "worldName": "websvc"});
        let world = self.call("Page.createIsolatedWorld", world).await?;
        let params = json!({
            "functionDeclaration": function,
            "executionContextId": world["executionContextId"],
            "arguments": [{"value": origin}, {"value": argument}],
            "returnByValue": true,
            "awaitPromise": true,
        });
        let mut answer = match self.call("Runtime.callFunctionOn", params).await {
            Ok(answer) => answer,
            Err(CdpError::Lost) => return Err(BrowserError::Crashed),
            Err(error) => return Ok(Err(error.to_string())),
        };
        if answer["exceptionDetails"].is_null() {
            return Ok(Ok(answer["result"]["value"].take()));
        }
        let thrown = &answer["exceptionDetails"]["exception"]["description"];
        let first_line = thrown.as_str().unwrap_or_default().lines().next().unwrap_or_default();
        Ok(Err(first_line.chars().take(200).collect()))
    }

    /// Warns of what did not make its way.
    fn warn_lost(&self, origin: &str, lost: &Value, what: &str) {
        let lost: Vec<&str> = lost.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        if lost.is_empty() {
            return;
        }
        let mut named: String = lost[..lost.len().min(MAX_NAMED)].join(", ").chars().take(500).collect();
        if lost.len() > MAX_NAMED {
            named.push_str(&format!(" and {} more", lost.len() - MAX_NAMED));
        }
        self.warn(format!("of the storage of {origin} could not be {what}: {named}"));
    }
}
