//! A sentence encoder of any supported kind.

use std::fmt;
use std::path::Path;

use crate::bert::Bert;
use crate::config::{Kind, ModelConfig};
use crate::error::ModelFileError;
use crate::safetensors::Tensors;
use crate::static_embeddings::StaticEmbeddings;

/// A sentence encoder: text -> a vector of length 1. Texts of similar meaning have vectors with a large scalar product.
pub struct SentenceEncoder {
    model: Model,
    fingerprint: u64,
}

enum Model {
    Bert(Bert),
    Static(StaticEmbeddings),
}

impl SentenceEncoder {
    /// Reads a model from its directory.
    ///
    /// # Errors
    /// [`ModelFileError`] with the file, if it is missing, damaged or of a kind that is not supported.
    pub fn open(dir: &Path) -> Result<Self, ModelFileError> {
        let (config, kind) = ModelConfig::read(dir)?;
        let tensors = Tensors::read(&dir.join("model.safetensors"))?;
        let model = match kind {
            Kind::Bert => Model::Bert(Bert::open(dir, &config, &tensors)?),
            Kind::Static => Model::Static(StaticEmbeddings::open(dir, &tensors)?),
        };
        Ok(Self { model, fingerprint: tensors.fingerprint() })
    }

    /// Returns a hash that differs for another model. It is the same on all machines.
    #[must_use]
    pub const fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Returns the length of the vectors.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        match &self.model {
            Model::Bert(model) => model.dimensions(),
            Model::Static(model) => model.dimensions(),
        }
    }

    /// Returns the vector of a text. The end of a text that is longer than the model reads is left out. CPU work of this
    /// thread: milliseconds for a query, about a tenth of a second for a long passage with a BERT model, and microseconds
    /// with static embeddings.
    #[must_use]
    pub fn encode(&self, text: &str) -> Vec<f32> {
        match &self.model {
            Model::Bert(model) => model.encode(text),
            Model::Static(model) => model.encode(text),
        }
    }
}

impl fmt::Debug for SentenceEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SentenceEncoder").field("dimensions", &self.dimensions()).finish_non_exhaustive()
    }
}
