//! A concurrency limit for background work with a model, which reserves capacity for requests of callers.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::error::ModelError;
use crate::metrics::ModelMetrics;
use crate::model::{Completion, CompletionRequest, Model, ModelFuture, Ranking};

/// A model with a lower concurrency limit than the model that it uses.
#[derive(Debug)]
pub struct LimitedModel {
    model: Arc<dyn Model>,
    concurrency: usize,
    permits: Semaphore,
}

impl LimitedModel {
    /// Limits the concurrency to half of that of a model, at least 1. Requests that wait for this limit do not count for the
    /// limit of the model.
    #[must_use]
    pub fn half_of(model: Arc<dyn Model>) -> Self {
        let concurrency = (model.concurrency() / 2).clamp(1, Semaphore::MAX_PERMITS);
        Self { model, concurrency, permits: Semaphore::new(concurrency) }
    }

    async fn acquire(&self, deadline: Instant) -> Result<SemaphorePermit<'_>, ModelError> {
        acquire(&self.permits, self.concurrency, deadline).await
    }
}

/// Waits for one of `places` permits until the deadline.
///
/// # Errors
/// [`ModelError::Busy`]
pub(crate) async fn acquire(
    permits: &Semaphore,
    places: usize,
    deadline: Instant,
) -> Result<SemaphorePermit<'_>, ModelError> {
    match tokio::time::timeout_at(deadline.into(), permits.acquire()).await {
        Ok(permit) => Ok(permit.expect("the semaphore is never closed")),
        Err(_elapsed) => Err(ModelError::Busy { places }),
    }
}

impl Model for LimitedModel {
    fn can_complete(&self) -> bool {
        self.model.can_complete()
    }

    fn can_rerank(&self) -> bool {
        self.model.can_rerank()
    }

    fn concurrency(&self) -> usize {
        self.concurrency
    }

    fn max_input_chars(&self) -> usize {
        self.model.max_input_chars()
    }

    fn combines(&self) -> bool {
        self.model.combines()
    }

    fn complete<'a>(&'a self, request: &'a CompletionRequest<'a>) -> ModelFuture<'a, Completion> {
        Box::pin(async move {
            let _permit = self.acquire(request.deadline).await?;
            self.model.complete(request).await
        })
    }

    fn rerank<'a>(
        &'a self,
        query: &'a str,
        texts: &'a [&'a str],
        max_results: usize,
        deadline: Instant,
    ) -> ModelFuture<'a, Ranking> {
        Box::pin(async move {
            let _permit = self.acquire(deadline).await?;
            self.model.rerank(query, texts, max_results, deadline).await
        })
    }

    fn metrics(&self) -> Option<ModelMetrics<'_>> {
        self.model.metrics()
    }
}
