//! Running our own scripts in a page: in a world that shares its document and none of its variables.

use serde_json::{Value, json};

use super::open_page::Page;
use crate::connection::CdpError;
use crate::error::BrowserError;

/// How often a script is run again because its document went away under it.
const ATTEMPTS: usize = 5;

/// What became of a script.
pub(crate) enum Outcome {
    /// The description of its result, as the protocol has it.
    Returned(Value),
    /// What it threw.
    Threw(String),
}

impl Page<'_> {
    /// Calls a function, written as an expression, with arguments, and returns what it returns.
    ///
    /// # Errors
    /// What it throws is `Ok(Err(..))`: for example that a selector is none.
    pub(crate) async fn ask(
        &self,
        function: &str,
        arguments: &[Value],
    ) -> Result<Result<Value, String>, BrowserError> {
        let arguments: Vec<String> = arguments.iter().map(Value::to_string).collect();
        let expression = format!("({function})({})", arguments.join(","));
        let mut last = CdpError::Lost;
        for _ in 0..ATTEMPTS {
            let world = match self.world().await {
                Ok(world) => world,
                Err(error) => {
                    last = self.recover(error).await?;
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
                Ok(Outcome::Returned(mut result)) => return Ok(Ok(result["value"].take())),
                Ok(Outcome::Threw(what)) => return Ok(Err(what)),
                Err(error) => last = self.recover(error).await?,
            }
        }
        Err(last.into())
    }

    /// Runs a script and tells a result from an exception.
    pub(crate) async fn evaluate(&self, params: Value) -> Result<Outcome, CdpError> {
        let mut answer = self.call("Runtime.evaluate", params).await?;
        let exception = &answer["exceptionDetails"];
        if exception.is_null() {
            return Ok(Outcome::Returned(answer["result"].take()));
        }
        let thrown = &exception["exception"];
        let text = thrown["description"].as_str().or(exception["text"].as_str()).unwrap_or_default();
        let text = match &thrown["value"] {
            Value::Null => text.to_owned(),
            value => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
        };
        Ok(Outcome::Threw(first_line(&text)))
    }

    /// Returns the world of our scripts in the current document.
    async fn world(&self) -> Result<i64, CdpError> {
        if let Some(world) = self.watch.lock().world {
            return Ok(world);
        }
        let params = json!({"frameId": self.target, "worldName": "websvc"});
        let answer = self.call("Page.createIsolatedWorld", params).await?;
        let world = answer["executionContextId"].as_i64().unwrap_or_default();
        self.watch.lock().world = Some(world);
        Ok(world)
    }

    /// Gets ready to try again after a document went away; other errors are returned.
    async fn recover(&self, error: CdpError) -> Result<CdpError, CdpError> {
        let CdpError::Refused { message, .. } = &error else { return Err(error) };
        let is_gone =
            ["context", "navigated", "destroyed", "No frame"].iter().any(|word| message.contains(word));
        if !is_gone {
            return Err(error);
        }
        self.watch.lock().world = None;
        self.watch.wait_until(|state| !state.is_navigating).await;
        Ok(error)
    }
}

/// Cuts a message at its first line, and at a length that fits into an answer.
fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(500).collect()
}
