//! A model in this process.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use websvc_embed::SentenceEncoder;
use websvc_index::{EncodeError, PassageEncoder};

use super::EncoderPrefixes;

/// A model in a directory, which is read on first use.
#[derive(Debug)]
pub struct LocalEncoder {
    dir: PathBuf,
    prefixes: EncoderPrefixes,
    /// The model, or the reason why it cannot be used.
    model: OnceLock<Result<Arc<SentenceEncoder>, EncodeError>>,
}

impl LocalEncoder {
    /// Creates the encoder without reading the model.
    #[must_use]
    pub fn new(dir: PathBuf, prefixes: EncoderPrefixes) -> Self {
        Self { dir, prefixes, model: OnceLock::new() }
    }

    /// Returns the model.
    ///
    /// # Errors
    /// The reason why it cannot be used. It stays until the end of the process.
    pub fn model(&self) -> Result<&SentenceEncoder, EncodeError> {
        let open = || {
            let model = SentenceEncoder::open(&self.dir).map_err(|error| EncodeError(error.to_string()))?;
            tracing::info!(dimensions = model.dimensions(), "read the model for the search by meaning");
            Ok(Arc::new(model))
        };
        self.model.get_or_init(open).as_deref().map_err(Clone::clone)
    }
}

impl PassageEncoder for LocalEncoder {
    fn identity(&self) -> Result<String, EncodeError> {
        let model = self.model()?;
        let (fingerprint, dimensions) = (model.fingerprint(), model.dimensions());
        Ok(format!("local {fingerprint:016x} {dimensions} {:?}", self.prefixes.passage))
    }

    fn encode_query(&self, query: &str, deadline: Option<Instant>) -> Result<Vec<f32>, EncodeError> {
        let model = self.model()?;
        if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            return Err(EncodeError("no time was left to encode the query".to_owned()));
        }
        Ok(model.encode(&self.prefixes.query(query)))
    }

    fn encode_passages(&self, passages: &[String]) -> Result<Vec<Vec<f32>>, EncodeError> {
        let model = self.model()?;
        Ok(self.prefixes.passages(passages).iter().map(|passage| model.encode(passage)).collect())
    }
}
