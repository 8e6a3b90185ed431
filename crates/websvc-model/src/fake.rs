//! A fake model for tests.

use std::fmt;
use std::time::Instant;

use tokio::sync::Semaphore;

use crate::error::ModelError;
use crate::model::{
    Completion, CompletionContent, CompletionRequest, Model, ModelFuture, RankedText, Ranking, Usage,
};

type RespondFn = dyn Fn(&CompletionRequest<'_>) -> Result<CompletionContent, ModelError> + Send + Sync;

/// A model that computes its responses with a function, and ranks texts by their length.
pub struct FakeModel {
    respond: Box<RespondFn>,
}

impl FakeModel {
    /// Creates a model from a function.
    pub fn new(
        respond: impl Fn(&CompletionRequest<'_>) -> Result<CompletionContent, ModelError> + Send + Sync + 'static,
    ) -> Self {
        Self { respond: Box::new(respond) }
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
        usize::MAX
    }

    fn complete<'a>(&'a self, request: &'a CompletionRequest<'a>) -> ModelFuture<'a, Completion> {
        let content = (self.respond)(request);
        Box::pin(async move {
            Ok(Completion { content: content?, usage: Usage::default(), is_content_truncated: false })
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
