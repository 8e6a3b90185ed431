//! Scripts of ours in a page: they run in an isolated world, which shares the document but no variables with the page.

use serde_json::{Value, json};

use super::open_page::Page;
use crate::connection::CdpError;
use crate::error::BrowserError;

/// The maximum number of attempts to run a script whose document is replaced meanwhile.
const MAX_ATTEMPTS: usize = 5;

/// The outcome of a script.
pub(crate) enum ScriptOutcome {
    /// The result, as a `Runtime.RemoteObject`.
    Returned(Value),
    /// The description of the exception.
    Threw(String),
}

impl Page<'_> {
    /// Calls a function, given as a JavaScript expression, with arguments, and returns its result.
    ///
    /// # Errors
    /// `Ok(Err(..))` is the exception that the function threw, for example for an invalid selector.
    pub(crate) async fn call_function(
        &self,
        function: &str,
        arguments: &[Value],
    ) -> Result<Result<Value, String>, BrowserError> {
        let arguments: Vec<String> = arguments.iter().map(Value::to_string).collect();
        let expression = format!("({function})({})", arguments.join(","));
        let mut last_error = CdpError::Lost;
        for _ in 0..MAX_ATTEMPTS {
            let world = match self.world().await {
                Ok(world) => world,
                Err(error) => {
                    last_error = self.await_new_document(error).await?;
                    continue;
                }
            };
            let params = json!({
                "expression": expression,
                "contextId": world,
                "returnByValue": true,
                "awaitPromise": true,
            });
            match self.evaluate(params).await {
                Ok(ScriptOutcome::Returned(mut result)) => return Ok(Ok(result["value"].take())),
                Ok(ScriptOutcome::Threw(description)) => return Ok(Err(description)),
                Err(error) => last_error = self.await_new_document(error).await?,
            }
        }
        Err(last_error.into())
    }

    /// Runs a script with the parameters of `Runtime.evaluate`.
    pub(crate) async fn evaluate(&self, params: Value) -> Result<ScriptOutcome, CdpError> {
        let mut response = self.call("Runtime.evaluate", params).await?;
        let exception = &response["exceptionDetails"];
        if exception.is_null() {
            return Ok(ScriptOutcome::Returned(response["result"].take()));
        }
        let thrown = &exception["exception"];
        let text = thrown["description"].as_str().or(exception["text"].as_str()).unwrap_or_default();
        let text = match &thrown["value"] {
            Value::Null => text.to_owned(),
            value => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
        };
        Ok(ScriptOutcome::Threw(first_line(&text)))
    }

    /// Returns the execution context of our isolated world in the current document, creating it if necessary.
    async fn world(&self) -> Result<i64, CdpError> {
        if let Some(world) = self.events.lock().world {
            return Ok(world);
        }
        let params = json!({"frameId": self.target, "worldName": "websvc"});
        let response = self.call("Page.createIsolatedWorld", params).await?;
        let world = response["executionContextId"].as_i64().unwrap_or_default();
        self.events.lock().world = Some(world);
        Ok(world)
    }

    /// Waits for the next document if `error` says that the previous one was replaced, and returns `error`.
    ///
    /// # Errors
    /// Any other error.
    async fn await_new_document(&self, error: CdpError) -> Result<CdpError, CdpError> {
        let CdpError::Refused { message, .. } = &error else { return Err(error) };
        let is_replaced =
            ["context", "navigated", "destroyed", "No frame"].iter().any(|word| message.contains(word));
        if !is_replaced {
            return Err(error);
        }
        self.events.lock().world = None;
        self.events.wait_until(|state| !state.is_navigating).await;
        Ok(error)
    }
}

/// Returns the first line of a message, with at most 500 characters.
fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(500).collect()
}
