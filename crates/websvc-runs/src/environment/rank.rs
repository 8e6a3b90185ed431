//! Rankings of texts, and checks of data against a schema.

use std::time::{Duration, Instant};

use serde_json::Value;
use websvc_engine::{rerank, run_blocking, schema_violation};
use websvc_model::Model;

use super::RunEnvironment;

/// The maximum time of a ranking.
const RANK_TIMEOUT: Duration = Duration::from_secs(10);

/// The maximum number of texts that a model ranks. More are ranked by their words.
const MAX_MODEL_TEXTS: usize = 100;

/// The maximum time of a check.
const CHECK_TIMEOUT: Duration = Duration::from_secs(30);

impl RunEnvironment {
    /// Ranks texts with the configured model, or by their words if there is none or it fails.
    pub(super) async fn rank_texts(&self, query: &str, texts: &[&str]) -> Vec<usize> {
        let model = self.tools.engine.model().filter(|model| model.can_rerank());
        if let Some(model) = model.filter(|_| texts.len() <= MAX_MODEL_TEXTS)
            && let Some(ranked) = rank_by_model(&**model, query, texts).await
        {
            return ranked;
        }
        rank_by_words(query, texts).await
    }
}

async fn rank_by_model(model: &dyn Model, query: &str, texts: &[&str]) -> Option<Vec<usize>> {
    match model.rerank(query, texts, texts.len(), Instant::now() + RANK_TIMEOUT).await {
        Ok(ranking) => {
            let indexes = ranking.texts.into_iter().map(|ranked| ranked.index);
            Some(indexes.filter(|index| *index < texts.len()).collect())
        }
        Err(error) => {
            tracing::warn!(%error, "reranking for an agent run failed; the texts are ranked by their words");
            None
        }
    }
}

/// Returns the texts with words of the query, the best first; none if that takes too long.
async fn rank_by_words(query: &str, texts: &[&str]) -> Vec<usize> {
    let deadline = Instant::now() + RANK_TIMEOUT;
    let (query, texts) = (query.to_owned(), texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
    let ranking = run_blocking(deadline, move || {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        rerank(&query, &texts, deadline)
    });
    match ranking.await.flatten() {
        Ok(ranking) => {
            let relevant = ranking.ranked.into_iter().filter(|ranked| ranked.score > 0.0);
            relevant.map(|ranked| ranked.index).collect()
        }
        Err(error) => {
            tracing::warn!(%error, "the texts of an agent run could not be ranked");
            Vec::new()
        }
    }
}

/// Returns the violation of a schema by a value. A check that fails counts as one: unchecked data must not pass.
pub(crate) async fn violation(schema: &Value, value: &Value) -> Option<String> {
    let (schema, value) = (schema.clone(), value.clone());
    let check = run_blocking(Instant::now() + CHECK_TIMEOUT, move || schema_violation(&schema, &value));
    match check.await {
        Ok(Ok(violation)) => violation,
        Ok(Err(error)) => Some(format!("it could not be checked: {error}")),
        Err(error) => Some(format!("it could not be checked: {error}")),
    }
}
