//! Checks of the language models and of the agent runs that need them.

#[cfg(test)]
mod tests;
mod trial;

use std::time::{Duration, Instant};

use anyhow::Result;
use websvc_model::{Model, ModelError, OpenAi};

use super::finding::{Finding, State, timed};
use crate::app;
use crate::config::{Agent, Config};

pub(super) const CHECK: &str = "language model";

const AGENT_CHECK: &str = "agent runs";

/// The time for the list of models.
const LIST_TIMEOUT: Duration = Duration::from_secs(10);

/// An endpoint of the configuration.
#[derive(Debug, Clone, Copy)]
struct Place<'a> {
    index: usize,
    models: &'a [OpenAi],
}

/// Checks each language model of each configured endpoint, and says whether agent runs are possible. The endpoints are
/// checked one after the other, because several may be on one machine.
pub(super) async fn check(config: &Config) -> Result<Vec<Finding>> {
    let Some(model) = app::model(config)? else {
        return Ok(vec![Finding::ok(AGENT_CHECK, "off (no llm.base_url and llm.model)")]);
    };
    let mut findings = Vec::new();
    for (index, models) in model.models().enumerate() {
        findings.extend(Place { index, models }.check().await);
    }
    findings.push(agent_finding(config, model.can_complete(), best_state(&findings)));
    Ok(findings)
}

/// Returns the best state: agent runs are possible if one of the endpoints works.
fn best_state(findings: &[Finding]) -> State {
    findings.iter().map(|finding| finding.state).min().unwrap_or(State::Problem)
}

/// Says whether agent runs are possible with a model in this state.
fn agent_finding(config: &Config, can_complete: bool, model: State) -> Finding {
    if !can_complete {
        return Finding::ok(AGENT_CHECK, "off (no llm.model)");
    }
    let Agent { concurrency, concurrency_per_team, max_steps, max_seconds, .. } = &config.agent;
    match model {
        State::Problem => {
            Finding::warning(AGENT_CHECK, "every run would fail, because the language model does not work")
                .advice("correct the language model first")
        }
        State::Ok | State::Warning => Finding::ok(
            AGENT_CHECK,
            format!(
                "{concurrency} at the same time, {concurrency_per_team} per team, each up to {max_steps} steps and \
                 {max_seconds} s"
            ),
        ),
    }
}

impl Place<'_> {
    /// Fetches the list of models, and sends a small prompt to each model.
    async fn check(self) -> Vec<Finding> {
        let Some(default) = self.models.first() else { return Vec::new() };
        let (listed, elapsed) = timed(default.models(Instant::now() + LIST_TIMEOUT)).await;
        if let Err(error @ (ModelError::Unreachable { .. } | ModelError::Timeout { .. })) = &listed {
            return vec![self.failed(self.name_of(None), error)];
        }
        let mut findings = Vec::new();
        for (at, model) in self.models.iter().enumerate() {
            let name = self.name_of(model.model_name().filter(|_| at > 0));
            let names: Vec<&str> = model.model_name().into_iter().chain(model.rerank_model_name()).collect();
            let in_list = match &listed {
                Ok(listed) => Some(self.list_finding(&name, &names, listed, elapsed)),
                // A list that is missing or forbidden says nothing about the model if it completes prompts.
                Err(_) if model.can_complete() => None,
                Err(error) => Some(self.failed(name.clone(), error)),
            };
            let completed =
                if model.can_complete() { Some(self.try_model(&name, model).await) } else { None };
            findings.extend(in_list.into_iter().chain(completed).reduce(join));
        }
        findings
    }

    async fn try_model(self, name: &str, model: &OpenAi) -> Finding {
        let section = self.section();
        match trial::run(model).await {
            Ok(trial) => trial.finding(name),
            Err(ModelError::InvalidResponse { reason, usage: _ }) => {
                let message = format!("its response to a small prompt cannot be used: {reason}");
                Finding::warning(name, message).advice(format!(
                    "set `{section}.reasoning_effort` if the model reasons, or use another model"
                ))
            }
            Err(error @ ModelError::Timeout { .. }) => {
                Finding::warning(name, format!("a small prompt: {error}")).advice(format!(
                    "wait until the model is loaded, or use a smaller one; `{section}.timeout_ms` is the maximum for \
                     larger prompts"
                ))
            }
            Err(error) => self.failed(name.to_owned(), &error),
        }
    }

    fn list_finding(self, name: &str, names: &[&str], listed: &[String], elapsed: Duration) -> Finding {
        let unknown: Vec<&str> =
            names.iter().filter(|name| !listed.iter().any(|model| model == *name)).copied().collect();
        let message = format!("responds in {} ms", elapsed.as_millis());
        if unknown.is_empty() {
            return Finding::ok(name, format!("{message} and has {}", names.join(" and ")));
        }
        let section = self.section();
        let message = format!("{message}, but does not list {}", unknown.join(" and "));
        Finding::warning(name, message).advice(format!(
            "check `{section}.model`, `{section}.models` and `{section}.rerank_model`; a model proxy may have more \
             models than it lists"
        ))
    }

    fn failed(self, name: String, error: &ModelError) -> Finding {
        let section = self.section();
        let advice = match error {
            ModelError::Status { status: 401 | 403 } | ModelError::Rejected { status: 401 | 403, .. } => {
                format!("check `{section}.api_key`")
            }
            ModelError::Status { status: 429 } => {
                format!("check the quota of the endpoint, and lower `{section}.concurrency`")
            }
            ModelError::Status { .. }
            | ModelError::Rejected { .. }
            | ModelError::Refused { .. }
            | ModelError::InvalidResponse { .. }
            | ModelError::TooLarge { .. } => {
                format!("check `{section}.base_url`, which usually ends in /v1, and `{section}.model`")
            }
            ModelError::Timeout { .. }
            | ModelError::Busy { .. }
            | ModelError::Unreachable { .. }
            | ModelError::NotConfigured => {
                format!("check that the endpoint runs, `{section}.base_url`, and the network")
            }
        };
        Finding::problem(name, error.to_string()).advice(advice)
    }

    fn section(self) -> String {
        app::llm_section(self.index)
    }

    /// Returns the name of the check of a model, or of that for all other features.
    fn name_of(self, model: Option<&str>) -> String {
        let model = model.map_or_else(String::new, |model| format!(" {model}"));
        let place = if self.index == 0 { String::new() } else { format!(" ({})", self.section()) };
        format!("{CHECK}{model}{place}")
    }
}

/// Joins two findings of one check.
fn join(first: Finding, second: Finding) -> Finding {
    let advice: Vec<String> = first.advice.into_iter().chain(second.advice).collect();
    Finding {
        check: first.check,
        state: first.state.max(second.state),
        message: format!("{}; {}", first.message, second.message),
        advice: (!advice.is_empty()).then(|| advice.join("; ")),
    }
}
