//! The end of a run: its answer, also if the model has not ended the task itself.

use std::time::Duration;

use tokio::time::timeout_at;
use websvc_model::ModelError;
use websvc_types::counted;

use super::Run;
use super::answer::Answer;
use crate::filled::has_values;
use crate::report::RunOutcome;
use crate::task::TaskLimits;

/// The maximum time to check an answer that was written at the end of the time of the task.
const CHECK_TIME: Duration = Duration::from_secs(1);

impl Run<'_> {
    /// Writes the answer after the end of the work, and returns the outcome of the run.
    ///
    /// An end of the work that the model did not choose does not make the data worse. So there is an answer after it, too:
    /// written by the model, or else the draft, if it follows the schema and pages state most of its values. A note says that
    /// it may be incomplete.
    pub(super) async fn finish(&mut self, end: Result<(), RunOutcome>) -> RunOutcome {
        let early = match end {
            Ok(()) => None,
            Err(end) if self.can_answer() && early_reason(&end, &self.task.limits).is_some() => Some(end),
            Err(end) => return end,
        };
        self.progress("finalizing", "The answer is written.");
        let deadline = self.task.deadline + CHECK_TIME;
        let written = timeout_at(deadline, self.write_answer()).await.unwrap_or(Err(RunOutcome::Timeout));
        let end = match (early, written) {
            (None, Ok(())) => return RunOutcome::Succeeded,
            (None, Err(end)) | (Some(end), Ok(()) | Err(_)) => end,
        };
        match early_reason(&end, &self.task.limits) {
            Some(reason) if self.accept_early_answer(&reason).await => RunOutcome::Succeeded,
            Some(_) | None => end,
        }
    }

    /// Chooses the answer of a run that ended early: the written one, or else the draft. Returns whether one is good enough.
    async fn accept_early_answer(&mut self, reason: &str) -> bool {
        let is_good = |answer: &Answer| answer.is_schema_valid && answer.is_supported;
        let written = self.answer.take();
        if let Some(answer) = written.as_ref().filter(|answer| is_good(answer)) {
            let message = self.early_message(answer, reason);
            self.answer = written.map(|answer| Answer { message: Some(message), ..answer });
            return true;
        }
        if !self.is_text_wanted() {
            let draft = self.partial_answer().await;
            if is_good(&draft) {
                let message = self.early_message(&draft, reason);
                self.answer = Some(Answer { message: Some(message), ..draft });
                return true;
            }
        }
        self.answer = written.filter(|answer| answer.is_schema_valid && has_values(&answer.data));
        false
    }

    fn early_message(&self, answer: &Answer, reason: &str) -> String {
        let message = answer.message.as_deref().unwrap_or_default();
        if self.is_text_wanted() {
            return format!("{message}\n\nThe run ended early: {reason}. The answer may be incomplete.");
        }
        let space = if message.is_empty() { "" } else { " " };
        format!("The run ended early: {reason}. The data may be incomplete.{space}{message}")
    }
}

/// Returns why the work ended early, in words, if there may be an answer nevertheless.
fn early_reason(end: &RunOutcome, limits: &TaskLimits) -> Option<String> {
    match end {
        RunOutcome::StepLimit => {
            Some(format!("it reached its maximum of {}", counted(limits.max_steps, "step", "steps")))
        }
        RunOutcome::TokenLimit => Some("its token budget is exhausted".to_owned()),
        RunOutcome::Timeout => Some("its time was over".to_owned()),
        RunOutcome::Repeats => Some("the language model repeated its steps".to_owned()),
        RunOutcome::Answers(reason) => {
            Some(format!("answers of the language model could not be used, {reason}"))
        }
        RunOutcome::Model(error @ ModelError::Timeout { after: _ }) => {
            Some(format!("the language model gave {error}"))
        }
        RunOutcome::Model(error @ ModelError::Busy { places: _ }) => {
            Some(format!("a request to the language model was {error}"))
        }
        RunOutcome::Succeeded
        | RunOutcome::Refused(_)
        | RunOutcome::Stopped(_)
        | RunOutcome::InvalidData(_)
        | RunOutcome::Model(_) => None,
    }
}
