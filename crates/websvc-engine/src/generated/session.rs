//! The requests to the language model for one page.

use std::borrow::Cow;
use std::time::Instant;

use websvc_model::{CompletionContent, CompletionRequest, Model, ModelError, ResponseFormat};
use websvc_stage::{Stage, StageTimes};

use super::selection::{SelectedText, select_text};
use crate::blocking::run_blocking;

/// The model, the deadline and the warnings for one page.
pub(crate) struct ModelSession<'a> {
    /// The model; `None` if there is none. The caller has been warned of that before the page was scraped.
    pub(crate) model: Option<&'a dyn Model>,
    pub(crate) stages: &'a StageTimes,
    pub(crate) deadline: Instant,
    pub(crate) warnings: Vec<String>,
}

/// A request to the model about the content of a page.
#[derive(Clone, Copy)]
pub(super) struct ContentRequest<'a> {
    /// The name of the format, for warnings.
    pub(super) format: &'a str,
    pub(super) instructions: &'a str,
    pub(super) prompt: &'a str,
    pub(super) content: &'a str,
    pub(super) shape: ResponseFormat<'a>,
    pub(super) max_tokens: u32,
}

/// The text of a page for a model: its URL, title and description, and then its markdown.
pub(super) struct PageText {
    pub(super) text: String,
    /// The start of the markdown, in bytes.
    pub(super) markdown_start: usize,
}

/// Space for the texts that the model client adds to a request, in characters: the rule about the content, its delimiters and
/// that of the schema.
const RESERVED_CHARS: usize = 1_200;

/// Returns the space for the content of a request, in characters; 0 if there is none.
pub(super) fn content_space(
    model: &dyn Model,
    instructions: &str,
    prompt: &str,
    shape: ResponseFormat<'_>,
) -> usize {
    let schema = match shape {
        ResponseFormat::Schema(schema) | ResponseFormat::SchemaOrText(schema) => {
            schema.to_string().chars().count()
        }
        ResponseFormat::Text | ResponseFormat::Json => 0,
    };
    let used = instructions.chars().count() + prompt.chars().count() + schema + RESERVED_CHARS;
    model.max_input_chars().saturating_sub(used)
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
        let ContentRequest { format, instructions, prompt, content, shape, max_tokens } = request;
        let completion_request = CompletionRequest {
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
                    self.warn(format, "the content was shortened for the language model");
                }
                Some(completion.content)
            }
            Err(error) => {
                self.warn_of_failure(format, &error);
                None
            }
        }
    }

    /// Returns the text of a page for a request. Of a page that is too long for the model, it has the beginning and the passages
    /// with the words of the request, and a warning says so. Without words, the client cuts the end.
    pub(super) async fn fitting<'t>(
        &mut self,
        page: &'t PageText,
        request: &ContentRequest<'_>,
        words: &str,
    ) -> Cow<'t, str> {
        let PageText { text, markdown_start } = page;
        let Some(model) = self.model else { return Cow::Borrowed(text) };
        let space = content_space(model, request.instructions, request.prompt, request.shape);
        if text.len() <= space || words.trim().is_empty() {
            return Cow::Borrowed(text);
        }
        let (head, markdown) = text.split_at(*markdown_start);
        let chars = markdown.chars().count();
        let available = space.saturating_sub(head.chars().count());
        if chars <= available || available == 0 {
            return Cow::Borrowed(text);
        }
        let (words, copy, deadline) = (words.to_owned(), markdown.to_owned(), self.deadline);
        let selecting = run_blocking(deadline, move || select_text(&words, copy, available, deadline));
        match selecting.await.flatten() {
            Ok(SelectedText { text: selected, kept_chars }) => {
                let warning = format!(
                    "the page has {chars} characters, and a prompt of the language model may have {} \
                     (llm.max_input_chars): it read the beginning and the passages with the words of the request, \
                     {kept_chars} characters",
                    model.max_input_chars()
                );
                self.warn(request.format, &warning);
                Cow::Owned(format!("{head}{selected}"))
            }
            Err(error) => {
                self.warn(request.format, &format!("no passages of the long page were chosen: {error}"));
                Cow::Borrowed(text)
            }
        }
    }

    /// Reports a failed request to the caller and in the log.
    fn warn_of_failure(&mut self, format: &str, error: &ModelError) {
        tracing::warn!(format, %error, "request to the language model failed");
        self.warn(format, &format!("the language model failed: {error}"));
    }

    /// Adds a warning about a format.
    pub(crate) fn warn(&mut self, format: &str, text: &str) {
        let warning = format!("format {format}: {text}");
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
}
