//! One request's questions to the model: what becomes of answers that do not come.

use std::time::Instant;

use websvc_model::{CompletionContent, CompletionRequest, Model, ModelError, ResponseFormat};
use websvc_stage::{Stage, StageTimes};

/// What is asked with, and what the caller is told.
pub(super) struct ModelSession<'a> {
    /// `None` where there is none: that was told before the page was got.
    pub(super) model: Option<&'a dyn Model>,
    pub(super) stages: &'a StageTimes,
    pub(super) deadline: Instant,
    pub(super) warnings: Vec<String>,
}

impl ModelSession<'_> {
    /// Asks about content; without an answer, a warning says why.
    pub(super) async fn ask(
        &mut self,
        format: &str,
        (instructions, wish): (&str, &str),
        content: &str,
        shape: ResponseFormat<'_>,
        max_tokens: u32,
    ) -> Option<CompletionContent> {
        let model = self.model?;
        let (content, deadline) = (Some(content), self.deadline);
        let question = CompletionRequest {
            instructions,
            user_prompt: wish,
            content,
            format: shape,
            max_tokens,
            deadline,
        };
        match self.stages.run(Stage::Model, model.complete(&question)).await {
            Ok(completion) => {
                if completion.is_content_truncated {
                    self.warn(format, "the content was shortened for the language model");
                }
                Some(completion.content)
            }
            Err(error) => {
                self.failed(format, &error);
                None
            }
        }
    }

    /// Says why there is no answer, to the caller and in the log.
    fn failed(&mut self, format: &str, error: &ModelError) {
        tracing::warn!(format, %error, "the language model gave no answer");
        self.warn(format, &format!("the language model gave no answer: {error}"));
    }

    /// Tells the caller something of a format.
    pub(super) fn warn(&mut self, format: &str, text: &str) {
        let warning = format!("format {format}: {text}");
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
}
