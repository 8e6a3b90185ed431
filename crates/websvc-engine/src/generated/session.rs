//! The requests to the language model for one page.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use websvc_model::{CompletionContent, CompletionRequest, Feature, Model, ModelError, ResponseFormat};
use websvc_stage::{Stage, StageTimes};

use super::selection::{SelectedText, select_text};
use crate::blocking::run_blocking;

/// The time of a page that the model does not get, so that work without an answer of it is done in time, such as a choice by
/// words.
const FALLBACK_TIME: Duration = Duration::from_millis(200);

/// The warning about a prompt that the server of the model has cut.
pub(super) const CUT_BY_SERVER: &str = "the server of the language model read only a part of the request \
    (llm.context_tokens; OLLAMA_CONTEXT_LENGTH of Ollama)";

/// Returns the deadline of the model for work with this deadline.
pub(crate) fn model_deadline(deadline: Instant) -> Instant {
    deadline.checked_sub(FALLBACK_TIME).unwrap_or(deadline)
}

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
    /// The format, which warnings name.
    pub(super) feature: Feature,
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

fn is_object(content: &CompletionContent) -> bool {
    matches!(content, CompletionContent::Json(value) if value.is_object())
}

impl ModelSession<'_> {
    /// Sends a request to the model. If it fails, or if its answer without a schema is not an object, adds a warning and returns
    /// `None`.
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
            deadline: model_deadline(self.deadline),
        };
        match self.stages.run(Stage::Model, model.complete(&completion_request)).await {
            Ok(completion) => {
                if completion.is_cut_by_server {
                    self.warn(feature.name(), CUT_BY_SERVER);
                } else if completion.is_content_truncated {
                    self.warn(feature.name(), "the content was shortened for the language model");
                }
                if shape == ResponseFormat::Json && !is_object(&completion.content) {
                    self.warn(feature.name(), "the language model failed: its answer is not an object");
                    return None;
                }
                Some(completion.content)
            }
            Err(error) => {
                self.warn_of_failure(feature.name(), &error);
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
                self.warn(request.feature.name(), &warning);
                Cow::Owned(format!("{head}{selected}"))
            }
            Err(error) => {
                self.warn(
                    request.feature.name(),
                    &format!("no passages of the long page were chosen: {error}"),
                );
                Cow::Borrowed(text)
            }
        }
    }

    /// Reports a failed request to the caller and in the log.
    fn warn_of_failure(&mut self, format: &str, error: &ModelError) {
        tracing::warn!(format, %error, "request to the language model failed");
        self.warn(format, &format!("the language model failed: {}", error.explanation()));
    }

    /// Adds a warning about a format.
    pub(crate) fn warn(&mut self, format: &str, text: &str) {
        let warning = format!("format {format}: {text}");
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use websvc_model::{Completion, FakeModel, ModelFuture, Ranking, Usage};

    use super::super::highlights;
    use super::*;

    /// A model whose requests all end in the same way.
    #[derive(Debug)]
    enum EndingModel {
        /// It uses all of its time.
        Late,
        /// Its server cuts the prompt.
        Cut,
        /// It refuses.
        Refusing,
    }

    impl EndingModel {
        async fn end(&self, deadline: Instant) -> Result<Completion, ModelError> {
            match self {
                Self::Late => {
                    tokio::time::sleep_until(deadline.into()).await;
                    Err(ModelError::Timeout { after: Duration::ZERO })
                }
                Self::Cut => Ok(Completion {
                    content: CompletionContent::Text("yes".to_owned()),
                    usage: Usage::default(),
                    is_content_truncated: true,
                    is_cut_by_server: true,
                }),
                Self::Refusing => {
                    Err(ModelError::Refused { text: "I may not.".to_owned(), usage: Usage::default() })
                }
            }
        }
    }

    impl Model for EndingModel {
        fn can_complete(&self) -> bool {
            true
        }

        fn can_rerank(&self) -> bool {
            false
        }

        fn concurrency(&self) -> usize {
            1
        }

        fn max_input_chars(&self) -> usize {
            usize::MAX
        }

        fn complete<'a>(&'a self, request: &'a CompletionRequest<'a>) -> ModelFuture<'a, Completion> {
            Box::pin(self.end(request.deadline))
        }

        fn rerank<'a>(
            &'a self,
            _: &'a str,
            _: &'a [&'a str],
            _: usize,
            _: Instant,
        ) -> ModelFuture<'a, Ranking> {
            Box::pin(async { Err(ModelError::NotConfigured) })
        }
    }

    fn session<'a>(model: &'a dyn Model, stages: &'a StageTimes, time: Duration) -> ModelSession<'a> {
        ModelSession { model: Some(model), stages, deadline: Instant::now() + time, warnings: Vec::new() }
    }

    fn request(feature: Feature, shape: ResponseFormat<'_>) -> ContentRequest<'_> {
        ContentRequest { feature, instructions: "", prompt: "", content: "", shape, max_tokens: 1 }
    }

    #[tokio::test]
    async fn answer_without_a_schema_is_an_object() {
        let list = json!([1, 2, 3]);
        for (answer, is_valid) in [(json!({ "a": 1 }), true), (list.clone(), false), (json!("a"), false)] {
            let model = FakeModel::new(move |_| Ok(CompletionContent::Json(answer.clone())));
            let stages = StageTimes::default();
            let mut session = session(&model, &stages, Duration::from_secs(60));
            let found = session.complete(request(Feature::Json, ResponseFormat::Json)).await;
            assert_eq!((found.is_some(), session.warnings.is_empty()), (is_valid, is_valid), "{found:?}");
            // The caller checks the schema, and may ask for a correction.
            assert!(session.complete(request(Feature::Json, ResponseFormat::Schema(&list))).await.is_some());
        }
    }

    #[tokio::test]
    async fn words_decide_in_time_if_the_model_uses_all_of_its_time() {
        let stages = StageTimes::default();
        let mut session = session(&EndingModel::Late, &stages, Duration::from_millis(700));
        let deadline = session.deadline;
        let markdown = "Coffee is roasted.\n\nSencha is a green tea.\n";
        let Generated { content, by_model } =
            highlights::choose_passages(&mut session, "green tea", markdown).await;
        assert_eq!(content.unwrap()[0].text, "Sencha is a green tea.", "{:?}", session.warnings);
        assert!(!by_model && Instant::now() < deadline);
    }

    #[tokio::test]
    async fn warnings_name_the_key_of_a_cut_prompt_and_the_reason_of_a_refusal() {
        for (model, expected) in [
            (
                EndingModel::Cut,
                "format question: the server of the language model read only a part of the request (llm.context_tokens",
            ),
            (
                EndingModel::Refusing,
                "format question: the language model failed: the model refused: I may not.",
            ),
        ] {
            let stages = StageTimes::default();
            let mut session = session(&model, &stages, Duration::from_secs(60));
            session.complete(request(Feature::Question, ResponseFormat::Text)).await;
            assert!(session.warnings[0].starts_with(expected), "{:?}", session.warnings);
        }
    }
}
