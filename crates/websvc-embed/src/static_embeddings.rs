//! Static embeddings: the vector of a text is the mean of the vectors of its tokens.

use std::path::Path;

use ndarray::Array2;

use crate::error::ModelFileError;
use crate::math::normalize;
use crate::safetensors::Tensors;
use crate::tokenizer;
use crate::word_piece::WordPiece;

/// Maximum tokens of a text that are read, as in model2vec.
const MAX_TOKENS: usize = 512;

/// A model of static embeddings.
#[derive(Debug)]
pub(crate) struct StaticEmbeddings {
    tokenizer: WordPiece,
    vectors: Array2<f32>,
    /// Weight of each token, if tokens differ in weight.
    weights: Option<Vec<f32>>,
    /// Row of each token, if tokens share rows.
    rows: Option<Vec<usize>>,
}

impl StaticEmbeddings {
    pub(crate) fn open(dir: &Path, tensors: &Tensors) -> Result<Self, ModelFileError> {
        let tokenizer = tokenizer::read(dir)?;
        let name = if tensors.contains("embeddings") { "embeddings" } else { "embedding.weight" };
        let vectors = tensors.matrix(name, None, None)?;
        let rows = tensors.contains("mapping").then(|| tensors.integers("mapping")).transpose()?;
        let tokens = rows.as_ref().map_or(vectors.nrows(), Vec::len);
        let weights = tensors.contains("weights").then(|| tensors.vector("weights", tokens)).transpose()?;
        let fits = |row: &usize| *row < vectors.nrows();
        if tokenizer.vocabulary.values().any(|id| *id as usize >= tokens) || !rows.iter().flatten().all(fits)
        {
            return Err(ModelFileError::new(
                &dir.join("tokenizer.json"),
                "some of its tokens have no vectors",
            ));
        }
        Ok(Self { tokenizer, vectors, weights: weights.map(|weights| weights.to_vec()), rows })
    }

    pub(crate) fn dimensions(&self) -> usize {
        self.vectors.ncols()
    }

    /// Returns the vector of a text, of length 1; of length 0 for a text without known tokens.
    pub(crate) fn encode(&self, text: &str) -> Vec<f32> {
        let mut sum = vec![0.0; self.dimensions()];
        for token in self.tokenizer.tokens(text, MAX_TOKENS) {
            if Some(token) == self.tokenizer.unknown {
                continue;
            }
            let token = token as usize;
            let weight = self.weights.as_ref().map_or(1.0, |weights| weights[token]);
            let row = self.rows.as_ref().map_or(token, |rows| rows[token]);
            let vector = self.vectors.row(row);
            sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += weight * value);
        }
        normalize(&mut sum);
        sum
    }
}
