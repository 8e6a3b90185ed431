//! The storage of origins: read and written by scripts in empty documents of the origins.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::command::Command;
use super::intercept::FAIL_REQUEST;
use super::open_page::Page;
use crate::connection::CdpError;
use crate::error::BrowserError;
use crate::state::{MAX_ORIGIN_CHARS, MAX_ORIGINS, State};

const READ: &str = include_str!("read_storage.js");
const WRITE: &str = include_str!("write_storage.js");

/// The empty document. It has an icon, so that Chromium requests none.
const EMPTY_DOCUMENT: &str = "<!DOCTYPE html><link rel=icon href=data:,>";
/// The maximum number of lost items that a warning names.
const MAX_NAMED: usize = 5;

/// Answers the requests of a page in place of the network: it serves one empty document at a time and fails all other
/// requests.
#[derive(Clone, Default)]
struct EmptyDocumentServer(Arc<Mutex<String>>);

impl EmptyDocumentServer {
    /// Returns the URL of the document.
    fn url(&self) -> MutexGuard<'_, String> {
        self.0.lock()
    }

    fn respond(&self, paused: &Value) -> Command {
        let request_id = &paused["requestId"];
        if paused["resourceType"] != "Document" || paused["request"]["url"] != self.url().as_str() {
            let params = json!({"requestId": request_id, "errorReason": "Aborted"});
            return Command::new(FAIL_REQUEST, params);
        }
        let params = json!({
            "requestId": request_id,
            "responseCode": 200,
            "responseHeaders": [
                {"name": "Content-Type", "value": "text/html; charset=utf-8"},
                {"name": "Cache-Control", "value": "no-store"},
            ],
            "body": STANDARD.encode(EMPTY_DOCUMENT),
        });
        Command::new("Fetch.fulfillRequest", params)
    }
}

impl Page<'_> {
    /// Restores a captured state in the context of the page.
    pub(super) async fn restore(&self, state: &State) -> Result<(), BrowserError> {
        self.restore_cookies(state).await?;
        if state.origins.is_empty() {
            return Ok(());
        }
        let server = self.serve_empty_documents().await?;
        for (origin, storage) in &state.origins {
            match self.call_at_origin(origin, &server, WRITE, storage.as_str().into()).await? {
                Ok(lost) => self.warn_lost(origin, &lost, "restored"),
                Err(reason) => {
                    self.warn(format!("the storage of {origin} could not be restored: {reason}"));
                }
            }
        }
        self.call("Fetch.disable", json!({})).await?;
        self.call("Page.resetNavigationHistory", json!({})).await?;
        Ok(())
    }

    /// Returns the current state of the context. The page leaves its document for that. Returns `None` with a warning
    /// if the state is not complete by `deadline`.
    pub(crate) async fn capture(
        &self,
        before: &State,
        deadline: Instant,
    ) -> Result<Option<State>, BrowserError> {
        match timeout_at(deadline, self.capture_all(before)).await {
            Ok(captured) => captured.map(Some),
            Err(_) => {
                self.warn("there was no time to save the profile, which stays as it was".to_owned());
                Ok(None)
            }
        }
    }

    async fn capture_all(&self, before: &State) -> Result<State, BrowserError> {
        let visited = self.visited();
        // Otherwise a service worker of the page could answer for its origin.
        self.call("Network.setBypassServiceWorker", json!({"bypass": true})).await?;
        let server = self.serve_empty_documents().await?;
        let mut state = before.clone();
        for origin in visited {
            self.capture_origin(&origin, &server, &mut state).await?;
        }
        // Last, because a page may set cookies while it unloads.
        state.cookies = self.capture_cookies(before).await?;
        Ok(state)
    }

    async fn capture_origin(
        &self,
        origin: &str,
        server: &EmptyDocumentServer,
        state: &mut State,
    ) -> Result<(), BrowserError> {
        let mut storage = match self.call_at_origin(origin, server, READ, MAX_ORIGIN_CHARS.into()).await? {
            Ok(storage) => storage,
            Err(reason) => {
                self.warn(format!("the storage of {origin} could not be read and was not saved: {reason}"));
                return Ok(());
            }
        };
        self.warn_lost(origin, &storage["lost"], "saved");
        if storage["large"] == true {
            let limit = MAX_ORIGIN_CHARS / (1024 * 1024);
            self.warn(format!("the storage of {origin} is larger than {limit} MiB and was not saved"));
            return Ok(());
        }
        match storage["text"].take() {
            Value::String(text)
                if state.origins.contains_key(origin) || state.origins.len() < MAX_ORIGINS =>
            {
                state.origins.insert(origin.to_owned(), text);
            }
            Value::String(_) => self.warn(format!(
                "the storage of {origin} was not saved: the profile already has {MAX_ORIGINS} origins"
            )),
            _ => drop(state.origins.remove(origin)),
        }
        Ok(())
    }

    /// Answers all requests of the page with empty documents from now on.
    async fn serve_empty_documents(&self) -> Result<EmptyDocumentServer, CdpError> {
        let server = EmptyDocumentServer::default();
        let responder = server.clone();
        self.intercept_requests(move |paused| responder.respond(paused));
        let patterns = json!([{"urlPattern": "*", "requestStage": "Request"}]);
        self.call("Fetch.enable", json!({"patterns": patterns})).await?;
        Ok(server)
    }

    /// Calls a function with an origin and an argument, in an empty document of the origin.
    ///
    /// # Errors
    /// `Ok(Err(..))` is an exception of the function, or the reason why the document could not be loaded.
    async fn call_at_origin(
        &self,
        origin: &str,
        server: &EmptyDocumentServer,
        function: &str,
        argument: Value,
    ) -> Result<Result<Value, String>, BrowserError> {
        let url = format!("{origin}/");
        server.url().clone_from(&url);
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
        let mut response = match self.call("Runtime.callFunctionOn", params).await {
            Ok(response) => response,
            Err(CdpError::Lost) => return Err(BrowserError::Crashed),
            Err(error) => return Ok(Err(error.to_string())),
        };
        if response["exceptionDetails"].is_null() {
            return Ok(Ok(response["result"]["value"].take()));
        }
        let thrown = &response["exceptionDetails"]["exception"]["description"];
        let first_line = thrown.as_str().unwrap_or_default().lines().next().unwrap_or_default();
        Ok(Err(first_line.chars().take(200).collect()))
    }

    /// Adds a warning that names the items of a storage that could not be restored or saved.
    fn warn_lost(&self, origin: &str, lost: &Value, verb: &str) {
        let lost: Vec<&str> = lost.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        if lost.is_empty() {
            return;
        }
        let mut names: String = lost[..lost.len().min(MAX_NAMED)].join(", ").chars().take(500).collect();
        if lost.len() > MAX_NAMED {
            names.push_str(&format!(" and {} more", lost.len() - MAX_NAMED));
        }
        self.warn(format!("parts of the storage of {origin} could not be {verb}: {names}"));
    }
}
