//! An endpoint with embeddings.

use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use websvc_index::{EncodeError, PassageEncoder};
use websvc_model::Embeddings;

use super::EncoderPrefixes;

/// The time that is left for the search itself after the query was encoded.
const SEARCH_TIME: Duration = Duration::from_millis(200);

/// A model behind an OpenAI-compatible endpoint. It blocks the thread that encodes, which must not be one of the runtime.
#[derive(Debug)]
pub struct RemoteEncoder {
    client: Embeddings,
    prefixes: EncoderPrefixes,
    runtime: Handle,
    /// Maximum time for the vector of a query.
    query_timeout: Duration,
    /// Maximum time for the vectors of a batch of passages.
    batch_timeout: Duration,
}

impl RemoteEncoder {
    /// Creates the encoder. It sends its requests on a runtime.
    #[must_use]
    pub fn new(
        client: Embeddings,
        prefixes: EncoderPrefixes,
        runtime: Handle,
        (query_timeout, batch_timeout): (Duration, Duration),
    ) -> Self {
        Self { client, prefixes, runtime, query_timeout, batch_timeout }
    }

    fn embed(&self, texts: &[&str], deadline: Instant) -> Result<Vec<Vec<f32>>, EncodeError> {
        let vectors = self.runtime.block_on(self.client.embed(texts, deadline));
        vectors.map_err(|error| EncodeError(format!("the endpoint with embeddings: {error}")))
    }
}

impl PassageEncoder for RemoteEncoder {
    fn identity(&self) -> Result<String, EncodeError> {
        Ok(format!("endpoint {:?} {:?}", self.client.model_name(), self.prefixes.passage))
    }

    fn encode_query(&self, query: &str, deadline: Option<Instant>) -> Result<Vec<f32>, EncodeError> {
        let own = Instant::now() + self.query_timeout;
        let deadline =
            deadline.and_then(|deadline| deadline.checked_sub(SEARCH_TIME)).unwrap_or(own).min(own);
        let query = self.prefixes.query(query);
        let vectors = self.embed(&[&query], deadline)?;
        vectors.into_iter().next().ok_or_else(|| EncodeError("the endpoint returned no vector".to_owned()))
    }

    fn encode_passages(&self, passages: &[String]) -> Result<Vec<Vec<f32>>, EncodeError> {
        let passages = self.prefixes.passages(passages);
        let mut vectors = Vec::with_capacity(passages.len());
        for batch in passages.chunks(Embeddings::MAX_TEXTS) {
            let texts: Vec<&str> = batch.iter().map(String::as_str).collect();
            vectors.append(&mut self.embed(&texts, Instant::now() + self.batch_timeout)?);
        }
        Ok(vectors)
    }
}
