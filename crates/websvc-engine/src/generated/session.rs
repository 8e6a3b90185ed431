//! The requests to the language model for one page.

use std::time::Instant;

use websvc_model::{CompletionContent, CompletionRequest, Feature, Model, ModelError, ResponseFormat};
use websvc_stage::{Stage, StageTimes};

/// The model, the deadline and the warnings for one page.
pub(crate) struct ModelSession<'a> {
    /// The model; `None` if there is none. The caller has been warned of that before the page was scraped.
    pub(crate) model: Option<&'a dyn Model>,
    pub(crate) stages: &'a StageTimes,
    pub(crate) deadline: Instant,
    pub(crate) warnings: Vec<String>,
}

/// A request to the model about the content of a page.
pub(super) struct ContentRequest<'a> {
    /// The format, which warnings name.
    pub(super) feature: Feature,
    pub(super) instructions: &'a str,
    pub(super) prompt: &'a str,
    pub(super) content: &'a str,
    pub(super) shape: ResponseFormat<'a>,
    pub(super) max_tokens: u32,
}

/// The content of a format, and whether the model produced it.
pub(super) struct Generated<T> {
    pub(super) content: Option<T>,
    pub(super) by_model: bool,
}

impl<T> Generated<T> {
    pub(super) fn none() -> Self {
        Self { content: None, by_model: false }
    }
}

impl ModelSession<'_> {
    /// Sends a request to the model. If it fails, adds a warning and returns `None`.
    pub(super) async fn complete(&mut self, request: ContentRequest<'_>) -> Option<CompletionContent> {
        let model = self.model?;
        let ContentRequest { feature, instructions, prompt, content, shape, max_tokens } = request;
        let completion_request = CompletionRequest {
            feature,
            instructions,
            user_prompt: prompt,
            content: Some(content),
            format: shape,
            max_tokens,
            deadline: self.deadline,
        };
        match self.stages.run(Stage::Model, model.complete(&completion_request)).await {
            Ok(completion) => {
                if completion.is_content_truncated {
                    self.warn(feature.name(), "the content was shortened for the language model");
                }
                Some(completion.content)
            }
            Err(error) => {
                self.warn_of_failure(feature.name(), &error);
                None
            }
        }
    }

    /// Reports a failed request to the caller and in the log.
    fn warn_of_failure(&mut self, format: &str, error: &ModelError) {
        tracing::warn!(format, %error, "request to the language model failed");
        self.warn(format, &format!("the language model failed: {}", error.with_advice()));
    }

    /// Adds a warning about a format.
    pub(crate) fn warn(&mut self, format: &str, text: &str) {
        let warning = format!("format {format}: {text}");
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
}
