//! A model that answers as it is told, for tests.

use std::fmt;
use std::time::Instant;

use tokio::sync::Semaphore;

use crate::error::ModelError;
use crate::model::{
    Completion, CompletionContent, CompletionRequest, Model, ModelFuture, RankedText, Ranking, Usage,
};

type Say = dyn Fn(&CompletionRequest<'_>) -> Result<CompletionContent, ModelError> + Send + Sync;

/// A model that answers every question by a function, and orders texts by their length.
pub struct FakeModel {
    say: Box<Say>,
}

impl FakeModel {
    /// Makes a model of a function.
    pub fn new(
        say: impl Fn(&CompletionRequest<'_>) -> Result<CompletionContent, ModelError> + Send + Sync + 'static,
    ) -> Self {
        Self { say: Box::new(say) }
    }
}

impl fmt::Debug for FakeModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fixed")
    }
}

impl Model for FakeModel {
    fn completes(&self) -> bool {
        true
    }

    fn reranks(&self) -> bool {
        true
    }

    fn places(&self) -> usize {
        Semaphore::MAX_PERMITS
    }

    fn complete<'a>(&'a self, question: &'a CompletionRequest<'a>) -> ModelFuture<'a, Completion> {
        let answer = (self.say)(question);
        Box::pin(
            async move { Ok(Completion { answer: answer?, usage: Usage::default(), is_content_cut: false }) },
        )
    }

    fn rerank<'a>(
        &'a self,
        _query: &'a str,
        texts: &'a [&'a str],
        most: usize,
        _deadline: Instant,
    ) -> ModelFuture<'a, Ranking> {
        Box::pin(async move {
            let worth = |(index, text): (usize, &&str)| RankedText { index, score: text.len() as f64 };
            let mut texts: Vec<RankedText> = texts.iter().enumerate().map(worth).collect();
            texts.sort_by(|a, b| b.score.total_cmp(&a.score));
            texts.truncate(most);
            Ok(Ranking { texts, total_tokens: None })
        })
    }
}
