//! Check of the language model.

use std::time::{Duration, Instant};

use websvc_model::{Completion, CompletionRequest, Model, ModelError, OpenAi, ResponseFormat};

use super::finding::Finding;
use crate::app;
use crate::config::Config;
use crate::output;

const CHECK: &str = "language model";

const PATIENCE: Duration = Duration::from_secs(10);

/// Asks the endpoint for its models, and where it has no such list one short question, if there is an endpoint.
pub(super) async fn check(config: &Config) -> Option<Finding> {
    let model = match app::model(config) {
        Ok(model) => model?,
        Err(error) => {
            let advice = "correct what is named; `serve` does not start";
            return Some(Finding::problem(CHECK, output::causes(error.as_ref()), advice));
        }
    };
    let (started, deadline) = (Instant::now(), Instant::now() + PATIENCE);
    let listed = model.models(deadline).await;
    let names: Vec<&str> =
        [&config.llm.model, &config.llm.rerank_model].into_iter().flatten().map(String::as_str).collect();
    Some(match listed {
        Ok(listed) => of_list(&names, &listed, started.elapsed()),
        Err(ModelError::Status { status: 404 | 405 } | ModelError::InvalidResponse { .. })
            if model.can_complete() =>
        {
            of_answer(&ask(&model, deadline).await, started.elapsed())
        }
        Err(error) => failed(&error),
    })
}

async fn ask(model: &OpenAi, deadline: Instant) -> Result<Completion, ModelError> {
    let question = CompletionRequest {
        instructions: "You answer in one word.",
        user_prompt: "Say: ready",
        content: None,
        format: ResponseFormat::Text,
        max_tokens: 16,
        deadline,
    };
    model.complete(&question).await
}

fn of_list(names: &[&str], listed: &[String], taken: Duration) -> Finding {
    let unknown: Vec<&str> =
        names.iter().filter(|name| !listed.iter().any(|known| known == *name)).copied().collect();
    let message = format!("answers in {} ms", taken.as_millis());
    if unknown.is_empty() {
        return Finding::ok(CHECK, format!("{message}, and has {}", names.join(" and ")));
    }
    Finding::warning(
        CHECK,
        format!("{message}, and does not list {}", unknown.join(" and ")),
        "check `llm.model` and `llm.rerank_model`; a proxy of models may know more than it lists",
    )
}

fn of_answer(answer: &Result<Completion, ModelError>, taken: Duration) -> Finding {
    match answer {
        // Of so few tokens, a model that thinks first says nothing: it works all the same.
        Ok(_) | Err(ModelError::InvalidResponse { .. }) => {
            Finding::ok(CHECK, format!("answers a question in {} ms", taken.as_millis()))
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
            "check that it runs, `llm.base_url`, and the way to it"
        }
    };
    Finding::problem(CHECK, error.to_string(), advice)
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    #[test]
    fn a_model_is_as_good_as_the_list_it_is_on() {
        let taken = Duration::from_millis(3);
        let listed = ["tiny".to_owned(), "other".to_owned()];
        assert_eq!(of_list(&["tiny"], &listed, taken).state, State::Ok);
        let warned = of_list(&["tiny", "huge"], &listed, taken);
        assert_eq!(warned.state, State::Warning);
        assert!(warned.message.ends_with("does not list huge"), "{}", warned.message);
    }

    #[test]
    fn failures_are_problems_with_the_key_to_look_at() {
        let check = |error: ModelError, expected: &str| {
            let finding = failed(&error);
            assert_eq!(finding.state, State::Problem);
            assert!(finding.advice.is_some_and(|advice| advice.contains(expected)), "{error}");
        };
        check(ModelError::Status { status: 401 }, "llm.api_key");
        check(ModelError::Status { status: 500 }, "llm.base_url");
        check(ModelError::Unreachable { reason: "x" }, "that it runs");
    }
}
