//! A fake model for tests.

use std::fmt;
use std::time::Instant;

use tokio::sync::Semaphore;

use crate::error::ModelError;
use crate::model::{
    Completion, CompletionContent, CompletionRequest, Model, ModelFuture, RankedText, Ranking,
};
use crate::usage::Usage;

type RespondFn = dyn Fn(&CompletionRequest<'_>) -> Result<CompletionContent, ModelError> + Send + Sync;

/// A model that computes its responses with a function, and ranks texts by their length.
pub struct FakeModel {
    respond: Box<RespondFn>,
    max_input_chars: usize,
}

impl FakeModel {
    /// Creates a model from a function.
    pub fn new(
        respond: impl Fn(&CompletionRequest<'_>) -> Result<CompletionContent, ModelError> + Send + Sync + 'static,
    ) -> Self {
        Self { respond: Box::new(respond), max_input_chars: usize::MAX }
    }

    /// Sets the maximum length of the content of a request. Longer content counts as truncated.
    #[must_use]
    pub fn with_max_input_chars(self, max_input_chars: usize) -> Self {
        Self { max_input_chars, ..self }
    }
}

impl fmt::Debug for FakeModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FakeModel")
    }
}

impl Model for FakeModel {
    fn can_complete(&self) -> bool {
        true
    }

    fn can_rerank(&self) -> bool {
        true
    }

    fn concurrency(&self) -> usize {
        Semaphore::MAX_PERMITS
    }

    fn max_input_chars(&self) -> usize {
        self.max_input_chars
    }

    fn complete<'a>(&'a self, request: &'a CompletionRequest<'a>) -> ModelFuture<'a, Completion> {
        let content = (self.respond)(request);
        let chars = request.content.map_or(0, |content| content.chars().count());
        let is_content_truncated = chars > self.max_input_chars;
        Box::pin(async move {
            Ok(Completion {
                content: content?,
                usage: Usage::default(),
                is_content_truncated,
                is_cut_by_server: false,
            })
        })
    }

    fn rerank<'a>(
        &'a self,
        _query: &'a str,
        texts: &'a [&'a str],
        max_results: usize,
        _deadline: Instant,
    ) -> ModelFuture<'a, Ranking> {
        Box::pin(async move {
            let rank = |(index, text): (usize, &&str)| RankedText { index, score: text.len() as f64 };
            let mut texts: Vec<RankedText> = texts.iter().enumerate().map(rank).collect();
            texts.sort_by(|a, b| b.score.total_cmp(&a.score));
            texts.truncate(max_results);
            Ok(Ranking { texts, total_tokens: None })
        })
    }
}
