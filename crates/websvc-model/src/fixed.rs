//! A model that answers as it is told, for tests.

use std::fmt;
use std::time::Instant;

use tokio::sync::Semaphore;

use crate::error::ModelError;
use crate::model::{Answer, Asking, Completion, Model, Ordered, Ordering, Question, Usage};

type Say = dyn Fn(&Question<'_>) -> Result<Answer, ModelError> + Send + Sync;

/// A model that answers every question by a function, and orders texts by their length.
pub struct Fixed {
    say: Box<Say>,
}

impl Fixed {
    /// Makes a model of a function.
    pub fn new(say: impl Fn(&Question<'_>) -> Result<Answer, ModelError> + Send + Sync + 'static) -> Self {
        Self { say: Box::new(say) }
    }
}

impl fmt::Debug for Fixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fixed")
    }
}

impl Model for Fixed {
    fn completes(&self) -> bool {
        true
    }

    fn reranks(&self) -> bool {
        true
    }

    fn places(&self) -> usize {
        Semaphore::MAX_PERMITS
    }

    fn complete<'a>(&'a self, question: &'a Question<'a>) -> Asking<'a, Completion> {
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
    ) -> Asking<'a, Ordering> {
        Box::pin(async move {
            let worth = |(index, text): (usize, &&str)| Ordered { index, score: text.len() as f64 };
            let mut texts: Vec<Ordered> = texts.iter().enumerate().map(worth).collect();
            texts.sort_by(|a, b| b.score.total_cmp(&a.score));
            texts.truncate(most);
            Ok(Ordering { texts, total_tokens: None })
        })
    }
}
