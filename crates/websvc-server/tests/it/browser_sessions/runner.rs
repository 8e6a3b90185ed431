//! A program that runs code for the tests: it evaluates JavaScript in the page, over the channel that every program gets.

use serde_json::{Value, json};
use websvc_session::{CdpChannel, CodeRunner, Language, Outcome, PageTarget, Program};
use websvc_transport::BoxFuture;
use websvc_types::interact::InteractLanguage;

/// Evaluates code of the language node in the page. Nothing is printed.
#[derive(Debug)]
pub(super) struct PageEvaluator;

impl CodeRunner for PageEvaluator {
    fn language(&self, language: InteractLanguage) -> Result<Language, &'static str> {
        match language {
            InteractLanguage::Node => Ok(Language::Node),
            InteractLanguage::Python | InteractLanguage::Bash => Err("the tests evaluate JavaScript only"),
        }
    }

    fn run(
        &self,
        program: Program,
        page: PageTarget,
        channel: Box<dyn CdpChannel>,
    ) -> BoxFuture<'_, Outcome> {
        Box::pin(async move {
            let limit = program.timeout;
            let evaluating = evaluate(program, page, channel);
            tokio::time::timeout(limit, evaluating).await.unwrap_or_else(|_| Outcome {
                exit_code: 124,
                killed: true,
                error: Some("the time limit stopped the code".to_owned()),
                ..Outcome::default()
            })
        })
    }
}

async fn evaluate(program: Program, page: PageTarget, mut channel: Box<dyn CdpChannel>) -> Outcome {
    let failed = |error: String| Outcome { exit_code: 1, error: Some(error), ..Outcome::default() };
    let params = json!({
        "expression": program.code, "returnByValue": true, "awaitPromise": true, "replMode": true,
    });
    let command =
        json!({"id": 1, "method": "Runtime.evaluate", "params": params, "sessionId": page.session_id});
    if channel.send(command.to_string()).await.is_err() {
        return failed("the session has ended".to_owned());
    }
    let response = loop {
        let Some(message) = channel.receive().await else {
            return failed("the session has ended".to_owned());
        };
        let message: Value = serde_json::from_str(&message).unwrap();
        if message["id"] == 1 {
            break message;
        }
    };
    if let Some(error) = response["error"]["message"].as_str() {
        return failed(error.to_owned());
    }
    let result = &response["result"];
    if let Some(thrown) = result["exceptionDetails"]["exception"]["description"].as_str() {
        return failed(thrown.to_owned());
    }
    let value = match &result["result"]["value"] {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    Outcome { result: value, ..Outcome::default() }
}
