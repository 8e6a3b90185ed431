//! The share of a model for work that nobody waits for, so that the rest is always there for requests that somebody waits for.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::error::ModelError;
use crate::model::{Completion, CompletionRequest, Model, ModelFuture, Ranking};

/// A model of which a part of the places is taken at most.
#[derive(Debug)]
pub struct LimitedModel {
    model: Arc<dyn Model>,
    count: usize,
    places: Semaphore,
}

impl LimitedModel {
    /// Takes half of the places of a model, at least one. Who waits for one of the share does not wait for the model itself.
    #[must_use]
    pub fn half_of(model: Arc<dyn Model>) -> Self {
        let count = (model.places() / 2).clamp(1, Semaphore::MAX_PERMITS);
        Self { model, count, places: Semaphore::new(count) }
    }

    async fn place(&self, deadline: Instant) -> Result<SemaphorePermit<'_>, ModelError> {
        place(&self.places, Instant::now(), deadline).await
    }
}

/// Waits from `started` until `ends` for one of the places of a model.
pub(crate) async fn place(
    places: &Semaphore,
    started: Instant,
    ends: Instant,
) -> Result<SemaphorePermit<'_>, ModelError> {
    match tokio::time::timeout_at(ends.into(), places.acquire()).await {
        Ok(place) => Ok(place.expect("the places are never closed")),
        Err(_elapsed) => Err(ModelError::Late { after: ends.saturating_duration_since(started) }),
    }
}

impl Model for LimitedModel {
    fn completes(&self) -> bool {
        self.model.completes()
    }

    fn reranks(&self) -> bool {
        self.model.reranks()
    }

    fn places(&self) -> usize {
        self.count
    }

    fn complete<'a>(&'a self, question: &'a CompletionRequest<'a>) -> ModelFuture<'a, Completion> {
        Box::pin(async move {
            let _place = self.place(question.deadline).await?;
            self.model.complete(question).await
        })
    }

    fn rerank<'a>(
        &'a self,
        query: &'a str,
        texts: &'a [&'a str],
        most: usize,
        deadline: Instant,
    ) -> ModelFuture<'a, Ranking> {
        Box::pin(async move {
            let _place = self.place(deadline).await?;
            self.model.rerank(query, texts, most, deadline).await
        })
    }
}
