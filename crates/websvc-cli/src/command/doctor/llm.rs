//! Checks of the language model and of the agent runs that need it.

use std::time::{Duration, Instant};

use websvc_model::{Completion, CompletionRequest, Model, ModelError, OpenAi, ResponseFormat};

use super::finding::{Finding, State};
use crate::app;
use crate::config::{Agent, Config};
use crate::output;

const CHECK: &str = "language model";

const AGENT_CHECK: &str = "agent runs";

const TIMEOUT: Duration = Duration::from_secs(10);

/// Checks the language model, if an endpoint is configured, and says whether agent runs are possible.
pub(super) async fn check(config: &Config) -> Vec<Finding> {
    let model = match app::model(config) {
        Ok(model) => model,
        Err(error) => {
            let advice = "correct the named value; `serve` does not start";
            return vec![Finding::problem(CHECK, output::causes(error.as_ref()), advice)];
        }
    };
    let Some(model) = model else {
        return vec![Finding::ok(AGENT_CHECK, "off (no llm.base_url and llm.model)")];
    };
    let found = check_model(config, &model).await;
    let agent = agent_finding(config, model.can_complete(), found.state);
    vec![found, agent]
}

/// Says whether agent runs are possible with a model in this state.
fn agent_finding(config: &Config, can_complete: bool, model: State) -> Finding {
    if !can_complete {
        return Finding::ok(AGENT_CHECK, "off (no llm.model)");
    }
    let Agent { concurrency, concurrency_per_team, max_steps, max_seconds, .. } = &config.agent;
    match model {
        State::Problem => Finding::warning(
            AGENT_CHECK,
            "every run would fail, because the language model does not work",
            "correct the language model first",
        ),
        State::Ok | State::Warning => Finding::ok(
            AGENT_CHECK,
            format!(
                "{concurrency} at the same time, {concurrency_per_team} per team, each up to {max_steps} steps and \
                 {max_seconds} s"
            ),
        ),
    }
}

/// Fetches the list of models. If the endpoint has no such list, sends one short prompt.
async fn check_model(config: &Config, model: &OpenAi) -> Finding {
    let (started, deadline) = (Instant::now(), Instant::now() + TIMEOUT);
    let listed = model.models(deadline).await;
    let names: Vec<&str> =
        [&config.llm.model, &config.llm.rerank_model].into_iter().flatten().map(String::as_str).collect();
    match listed {
        Ok(listed) => list_finding(&names, &listed, started.elapsed()),
        Err(ModelError::Status { status: 404 | 405 } | ModelError::InvalidResponse { .. })
            if model.can_complete() =>
        {
            completion_finding(&complete(model, deadline).await, started.elapsed())
        }
        Err(error) => failed(&error),
    }
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
        ModelError::Status { .. }
        | ModelError::Rejected { .. }
        | ModelError::Refused { .. }
        | ModelError::InvalidResponse { .. }
        | ModelError::TooLarge { .. } => "check `llm.base_url`, which usually ends in /v1, and `llm.model`",
        ModelError::Timeout { .. }
        | ModelError::Busy { .. }
        | ModelError::Unreachable { .. }
        | ModelError::NotConfigured => "check that the endpoint runs, `llm.base_url`, and the network",
    };
    Finding::problem(CHECK, error.to_string(), advice)
}

#[cfg(test)]
mod tests {
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
    fn agent_runs_need_a_model_that_completes_and_works() {
        let config = Config::default();
        let check = |can_complete, model, (state, words): (State, &str)| {
            let finding = agent_finding(&config, can_complete, model);
            assert_eq!(finding.state, state);
            assert!(finding.message.contains(words), "{}", finding.message);
        };
        check(false, State::Ok, (State::Ok, "off"));
        check(true, State::Problem, (State::Warning, "would fail"));
        check(true, State::Ok, (State::Ok, "4 at the same time, 2 per team, each up to 60 steps and 900 s"));
        check(true, State::Warning, (State::Ok, "900 s"));
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
