//! Check of the language model.

use std::time::{Duration, Instant};

use websvc_model::{Completion, CompletionRequest, Model, ModelError, OpenAi, ResponseFormat};

use super::finding::Finding;
use crate::app;
use crate::config::Config;
use crate::output;

const CHECK: &str = "language model";

const TIMEOUT: Duration = Duration::from_secs(10);

/// Fetches the list of models, if an endpoint is configured. If it has no such list, sends one short prompt.
pub(super) async fn check(config: &Config) -> Option<Finding> {
    let model = match app::model(config) {
        Ok(model) => model?,
        Err(error) => {
            let advice = "correct the named value; `serve` does not start";
            return Some(Finding::problem(CHECK, output::causes(error.as_ref()), advice));
        }
    };
    let (started, deadline) = (Instant::now(), Instant::now() + TIMEOUT);
    let listed = model.models(deadline).await;
    let names: Vec<&str> =
        [&config.llm.model, &config.llm.rerank_model].into_iter().flatten().map(String::as_str).collect();
    Some(match listed {
        Ok(listed) => list_finding(&names, &listed, started.elapsed()),
        Err(ModelError::Status { status: 404 | 405 } | ModelError::InvalidResponse { .. })
            if model.can_complete() =>
        {
            completion_finding(&complete(&model, deadline).await, started.elapsed())
        }
        Err(error) => failed(&error),
    })
}

async fn complete(model: &OpenAi, deadline: Instant) -> Result<Completion, ModelError> {
    let request = CompletionRequest {
        instructions: "You answer in one word.",
        user_prompt: "Say: ready",
        content: None,
        format: ResponseFormat::Text,
        max_tokens: 16,
        deadline,
    };
    model.complete(&request).await
}

fn list_finding(names: &[&str], listed: &[String], elapsed: Duration) -> Finding {
    let unknown: Vec<&str> =
        names.iter().filter(|name| !listed.iter().any(|model| model == *name)).copied().collect();
    let message = format!("responds in {} ms", elapsed.as_millis());
    if unknown.is_empty() {
        return Finding::ok(CHECK, format!("{message} and has {}", names.join(" and ")));
    }
    Finding::warning(
        CHECK,
        format!("{message}, but does not list {}", unknown.join(" and ")),
        "check `llm.model` and `llm.rerank_model`; a model proxy may have more models than it lists",
    )
}

fn completion_finding(result: &Result<Completion, ModelError>, elapsed: Duration) -> Finding {
    match result {
        // A reasoning model may return no text within so few tokens. It works nevertheless.
        Ok(_) | Err(ModelError::InvalidResponse { .. }) => {
            Finding::ok(CHECK, format!("completes a prompt in {} ms", elapsed.as_millis()))
        }
        Err(error) => failed(error),
    }
}

fn failed(error: &ModelError) -> Finding {
    let advice = match error {
        ModelError::Status { status: 401 | 403 } => "check `llm.api_key`",
        ModelError::Status { .. } | ModelError::InvalidResponse { .. } | ModelError::TooLarge { .. } => {
            "check `llm.base_url`, which usually ends in /v1, and `llm.model`"
        }
        ModelError::Timeout { .. } | ModelError::Unreachable { .. } | ModelError::NotConfigured => {
            "check that the endpoint runs, `llm.base_url`, and the network"
        }
    };
    Finding::problem(CHECK, error.to_string(), advice)
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    #[test]
    fn unlisted_model_is_a_warning() {
        let elapsed = Duration::from_millis(3);
        let listed = ["tiny".to_owned(), "other".to_owned()];
        assert_eq!(list_finding(&["tiny"], &listed, elapsed).state, State::Ok);
        let warned = list_finding(&["tiny", "huge"], &listed, elapsed);
        assert_eq!(warned.state, State::Warning);
        assert!(warned.message.ends_with("does not list huge"), "{}", warned.message);
    }

    #[test]
    fn model_error_advice_names_the_key() {
        let check = |error: ModelError, expected: &str| {
            let finding = failed(&error);
            assert_eq!(finding.state, State::Problem);
            assert!(finding.advice.is_some_and(|advice| advice.contains(expected)), "{error}");
        };
        check(ModelError::Status { status: 401 }, "llm.api_key");
        check(ModelError::Status { status: 500 }, "llm.base_url");
        check(ModelError::Unreachable { reason: "x" }, "the endpoint runs");
    }
}
