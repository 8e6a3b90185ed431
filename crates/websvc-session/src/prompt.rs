//! Prompts: a language model does a task in a session (operations.md, section 1.6).

use std::sync::Arc;
use std::time::Duration;

use crate::page_agent::{CommandOutput, PageCommands, PageTask, TaskOutcome, TaskReport, run_task};
use tokio::time::Instant;
use websvc_engine::SessionUse;
use websvc_sandbox::TIMEOUT_EXIT_CODE;
use websvc_store::CreditHold;
use websvc_transport::BoxFuture;
use websvc_types::counted;
use websvc_types::interact::InteractLanguage;
use websvc_types::limits::{INTERACT_PROMPT_STEPS_MAX, INTERACT_PROMPT_TIMEOUT_DEFAULT_S};

use crate::active::ActiveSession;
use crate::code::{CodeRunner, Language, Outcome, Program};
use crate::error::SessionError;
use crate::model::{Execution, SessionView};
use crate::program_run::{Author, run_program};
use crate::prompt_metrics::PromptMetrics;
use crate::sessions::Sessions;

/// The time limit of a prompt without one.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(INTERACT_PROMPT_TIMEOUT_DEFAULT_S as u64);

/// The outcome of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptExecution {
    /// The outcome as one of code: the steps as standard output, the last outline of the page as result.
    pub execution: Execution,
    /// The answer; `None` if there is none.
    pub output: Option<String>,
}

impl Sessions {
    /// Checks that prompts can be run.
    ///
    /// # Errors
    /// [`SessionError::NoModel`]; [`SessionError::Language`] if nothing runs the commands of a prompt.
    pub fn check_prompts(&self) -> Result<(), SessionError> {
        if self.0.engine.completion_model().is_none() {
            return Err(SessionError::NoModel);
        }
        self.check_language(InteractLanguage::Bash)
    }

    /// Returns the credits that prompts add to those of [`credits_to_hold`](Self::credits_to_hold).
    #[must_use]
    pub fn credits_to_hold_for_prompts(&self, ttl: Duration) -> u64 {
        let price = |usage| self.0.engine.session_bill(ttl, usage).total();
        price(SessionUse::Prompt).saturating_sub(price(SessionUse::Code))
    }

    /// Returns the credits that a session has to hold before its first prompt; `None` if it holds them.
    ///
    /// # Errors
    /// [`SessionError::OnOtherReplica`], [`SessionError::Ended`] and [`SessionError::Unavailable`].
    pub fn missing_credits_for_prompts(&self, session: &SessionView) -> Result<Option<u64>, SessionError> {
        let active = self.active(session)?;
        Ok((!active.has_prompt_hold()).then(|| self.credits_to_hold_for_prompts(active.ttl())))
    }

    /// Adds the credits that prompts need to a session. If no prompt runs, they are released at its end.
    ///
    /// # Errors
    /// As [`missing_credits_for_prompts`](Self::missing_credits_for_prompts).
    pub fn hold_for_prompts(&self, session: &SessionView, hold: CreditHold) -> Result<(), SessionError> {
        self.active(session)?.set_prompt_hold(hold);
        Ok(())
    }

    /// Runs a prompt in a session, after the requests that came before. From now on, the session has the price of prompts.
    ///
    /// # Errors
    /// [`SessionError`]; a model that fails is not an error.
    pub async fn prompt(
        &self,
        session: &SessionView,
        prompt: &str,
        timeout: Option<Duration>,
    ) -> Result<PromptExecution, SessionError> {
        let model = self.0.engine.completion_model().ok_or(SessionError::NoModel)?;
        let (runner, language) = self.runner(InteractLanguage::Bash)?;
        let active = self.active(session)?;
        let time = timeout.unwrap_or(DEFAULT_TIMEOUT);
        let running = async {
            let _turn = active.take_turn().await?;
            active.record_prompt();
            let run = self.0.prompt_metrics.begin();
            let page = SessionPage { active: &active, runner, language };
            let deadline = Instant::now() + time;
            let report =
                run_task(&page, model, PageTask { prompt, max_steps: INTERACT_PROMPT_STEPS_MAX, deadline });
            let report = report.await?;
            run.end(&report);
            Ok(report)
        };
        let report = active.work(running).await?;
        let TaskReport { outcome, steps, .. } = &report;
        // Neither the prompt nor what the model wrote is logged.
        tracing::info!(
            id = active.record.id,
            steps,
            outcome = TaskOutcome::NAMES[outcome.index()],
            "prompt ended"
        );
        self.record_use(&active).await;
        Ok(PromptExecution::new(report, time))
    }

    /// Returns the metrics of prompts.
    #[must_use]
    pub fn prompt_metrics(&self) -> &PromptMetrics {
        &self.0.prompt_metrics
    }
}

/// The page of a session whose turn the prompt has.
struct SessionPage<'a> {
    active: &'a Arc<ActiveSession>,
    runner: &'a dyn CodeRunner,
    /// The language of `agent-browser` commands.
    language: Language,
}

impl PageCommands for SessionPage<'_> {
    type Error = SessionError;

    fn run(&self, commands: String, timeout: Duration) -> BoxFuture<'_, Result<CommandOutput, SessionError>> {
        Box::pin(async move {
            let program = Program { language: self.language, code: commands, timeout };
            let outcome = run_program(self.active, self.runner, program, Author::Model).await?;
            let Outcome { stdout, stderr, exit_code, killed, result: _, error: _, truncated: _, page: _ } =
                outcome;
            Ok(CommandOutput { stdout, stderr, exit_code, killed })
        })
    }
}

impl PromptExecution {
    fn new(report: TaskReport, time: Duration) -> Self {
        let TaskReport { outcome, output, snapshot, log, steps, usage: _ } = report;
        let (exit_code, stderr) = match outcome {
            TaskOutcome::Done => (0, String::new()),
            TaskOutcome::StepLimit => (
                1,
                format!(
                    "the prompt was not done after {}, which is the maximum",
                    counted(steps, "step", "steps")
                ),
            ),
            TaskOutcome::Repeats => (
                1,
                format!(
                    "the prompt was ended after {}: the model chose the same action three times and the page did not \
                     change, and then it gave no answer",
                    counted(steps, "step", "steps")
                ),
            ),
            TaskOutcome::TokenLimit => {
                (1, format!("the prompt exhausted its token budget in {}", counted(steps, "step", "steps")))
            }
            TaskOutcome::Timeout => (
                TIMEOUT_EXIT_CODE,
                format!("the prompt was stopped after its timeout of {} seconds", time.as_secs_f64()),
            ),
            TaskOutcome::Model(error) => (1, format!("the language model failed: {}", error.with_advice())),
            TaskOutcome::Answers => {
                (1, "the language model gave no usable answer several times in a row".to_owned())
            }
            TaskOutcome::Page(reason) => (1, format!("the page could not be read: {reason}")),
        };
        let outcome = Outcome {
            stdout: log,
            stderr,
            result: Some(snapshot),
            exit_code,
            killed: exit_code == TIMEOUT_EXIT_CODE,
            ..Outcome::default()
        };
        Self {
            execution: Execution::limited(outcome),
            output: Some(output).filter(|output| !output.is_empty()),
        }
    }
}

#[cfg(test)]
mod tests {
    use websvc_model::{ModelError, Usage};

    use super::*;

    #[track_caller]
    fn check(outcome: TaskOutcome, exit_code: i32, words: &str) {
        let is_killed = outcome == TaskOutcome::Timeout;
        let report = TaskReport {
            outcome,
            output: "so far".to_owned(),
            snapshot: "- button".to_owned(),
            log: "1. back: done\n".to_owned(),
            steps: 25,
            usage: Usage::default(),
        };
        let PromptExecution { execution, output } =
            PromptExecution::new(report, Duration::from_millis(2_500));
        let Outcome { stdout, stderr, result, exit_code: found, killed, .. } = execution.outcome;
        assert_eq!((found, killed, output.as_deref()), (exit_code, is_killed, Some("so far")));
        assert_eq!((stdout.as_str(), result.as_deref()), ("1. back: done\n", Some("- button")));
        assert!(stderr.contains(words) && stderr.is_empty() == (exit_code == 0), "{stderr}");
    }

    #[test]
    fn outcome_of_a_task_is_one_of_code() {
        check(TaskOutcome::Done, 0, "");
        check(TaskOutcome::StepLimit, 1, "25 steps");
        check(TaskOutcome::Repeats, 1, "the same action three times");
        check(TaskOutcome::TokenLimit, 1, "token budget");
        check(TaskOutcome::Timeout, 124, "timeout of 2.5 seconds");
        check(TaskOutcome::Model(ModelError::Status { status: 500 }), 1, "responded with status 500");
        check(TaskOutcome::Answers, 1, "no usable answer");
        check(TaskOutcome::Page("it took too long".to_owned()), 1, "it took too long");
    }
}
