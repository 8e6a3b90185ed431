//! The forward pass of BERT for one text, and the pooling of its tokens.

use std::path::Path;

use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, Axis, s};

use crate::config::{ModelConfig, Pooling, read_max_tokens};
use crate::error::ModelFileError;
use crate::math::{gelu, normalize, softmax};
use crate::safetensors::Tensors;
use crate::tokenizer;
use crate::word_piece::WordPiece;

/// Maximum tokens of a text of a model that does not name one.
const DEFAULT_MAX_TOKENS: usize = 256;

/// A BERT model.
pub(crate) struct Bert {
    tokenizer: WordPiece,
    /// The tokens before and after each text.
    first: u32,
    last: u32,
    max_tokens: usize,
    heads: usize,
    pooling: Pooling,
    words: Array2<f32>,
    /// The vectors of the positions, with that of the only segment.
    positions: Array2<f32>,
    norm: LayerNorm,
    layers: Vec<Layer>,
}

/// A matrix and a bias.
struct Linear {
    weight: Array2<f32>,
    bias: Array1<f32>,
}

struct LayerNorm {
    weight: Array1<f32>,
    bias: Array1<f32>,
    epsilon: f32,
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    output_norm: LayerNorm,
    up: Linear,
    down: Linear,
    down_norm: LayerNorm,
}

impl Bert {
    pub(crate) fn open(dir: &Path, config: &ModelConfig, tensors: &Tensors) -> Result<Self, ModelFileError> {
        let tokenizer = tokenizer::read(dir)?;
        let token = |name: &str| {
            let missing =
                || ModelFileError::new(&dir.join("tokenizer.json"), format!("the token {name} is missing"));
            tokenizer.vocabulary.get(name).copied().ok_or_else(missing)
        };
        let (first, last) = (token("[CLS]")?, token("[SEP]")?);
        let prefix = if tensors.contains("bert.embeddings.word_embeddings.weight") { "bert." } else { "" };
        let reader = Reader { tensors, prefix, epsilon: config.layer_norm_eps.unwrap_or(1e-12) };
        let size = config.hidden_size;
        let words = reader.matrix("embeddings.word_embeddings.weight", None, size)?;
        if tokenizer.vocabulary.values().any(|id| *id as usize >= words.nrows()) {
            return Err(ModelFileError::new(
                &dir.join("tokenizer.json"),
                "some of its tokens have no vectors",
            ));
        }
        let segments = reader.matrix("embeddings.token_type_embeddings.weight", None, size)?;
        let length = Some(config.max_position_embeddings);
        let mut positions = reader.matrix("embeddings.position_embeddings.weight", length, size)?;
        if let Some(segment) = segments.outer_iter().next() {
            positions.outer_iter_mut().for_each(|mut position| position += &segment);
        }
        let layers = (0..config.num_hidden_layers).map(|number| reader.layer(number, config));
        let max_tokens = read_max_tokens(dir)?.unwrap_or(DEFAULT_MAX_TOKENS);
        Ok(Self {
            first,
            last,
            max_tokens: max_tokens.min(config.max_position_embeddings),
            heads: config.num_attention_heads,
            pooling: Pooling::read(dir)?,
            words,
            positions,
            norm: reader.norm("embeddings.LayerNorm", size)?,
            layers: layers.collect::<Result<_, _>>()?,
            tokenizer,
        })
    }

    pub(crate) fn dimensions(&self) -> usize {
        self.words.ncols()
    }

    /// Returns the vector of a text, of length 1.
    pub(crate) fn encode(&self, text: &str) -> Vec<f32> {
        let mut tokens = vec![self.first];
        tokens.extend(self.tokenizer.tokens(text, self.max_tokens.saturating_sub(2)));
        tokens.push(self.last);
        let mut hidden = Array2::zeros((tokens.len(), self.dimensions()));
        for ((mut row, token), position) in
            hidden.outer_iter_mut().zip(&tokens).zip(self.positions.outer_iter())
        {
            row += &self.words.row(*token as usize);
            row += &position;
        }
        self.norm.apply(&mut hidden);
        for layer in &self.layers {
            hidden = layer.apply(&hidden, self.heads);
        }
        let pooled = match self.pooling {
            Pooling::Mean => hidden.sum_axis(Axis(0)),
            Pooling::First => hidden.row(0).to_owned(),
        };
        let mut vector = pooled.to_vec();
        normalize(&mut vector);
        vector
    }
}

impl Layer {
    fn apply(&self, hidden: &Array2<f32>, heads: usize) -> Array2<f32> {
        let mut attended = self.output.apply(&self.attention(hidden, heads));
        attended += hidden;
        self.output_norm.apply(&mut attended);
        let mut inner = self.up.apply(&attended);
        if let Some(values) = inner.as_slice_mut() {
            values.iter_mut().for_each(|value| *value = gelu(*value));
        }
        let mut hidden = self.down.apply(&inner);
        hidden += &attended;
        self.down_norm.apply(&mut hidden);
        hidden
    }

    /// Returns the mean of the values that each token attends to, for all heads.
    fn attention(&self, hidden: &Array2<f32>, heads: usize) -> Array2<f32> {
        let (tokens, size) = hidden.dim();
        let width = size / heads;
        let scale = 1.0 / (width as f32).sqrt();
        let (query, key, value) =
            (self.query.apply(hidden), self.key.apply(hidden), self.value.apply(hidden));
        let mut context = Array2::zeros((tokens, size));
        let mut scores = Array2::zeros((tokens, tokens));
        for head in 0..heads {
            let columns = s![.., head * width..(head + 1) * width];
            general_mat_mul(scale, &query.slice(columns), &key.slice(columns).t(), 0.0, &mut scores);
            for mut row in scores.outer_iter_mut() {
                if let Some(row) = row.as_slice_mut() {
                    softmax(row);
                }
            }
            general_mat_mul(1.0, &scores, &value.slice(columns), 0.0, &mut context.slice_mut(columns));
        }
        context
    }
}

impl Linear {
    fn apply(&self, input: &Array2<f32>) -> Array2<f32> {
        let mut output = Array2::zeros((input.nrows(), self.bias.len()));
        output.outer_iter_mut().for_each(|mut row| row.assign(&self.bias));
        general_mat_mul(1.0, input, &self.weight.t(), 1.0, &mut output);
        output
    }
}

impl LayerNorm {
    fn apply(&self, matrix: &mut Array2<f32>) {
        for mut row in matrix.outer_iter_mut() {
            let size = row.len() as f32;
            let mean = row.sum() / size;
            let variance = row.iter().map(|value| (value - mean) * (value - mean)).sum::<f32>() / size;
            let scale = 1.0 / (variance + self.epsilon).sqrt();
            for ((value, weight), bias) in row.iter_mut().zip(&self.weight).zip(&self.bias) {
                *value = (*value - mean) * scale * weight + bias;
            }
        }
    }
}

/// Reads the tensors of a model by their names.
struct Reader<'a> {
    tensors: &'a Tensors,
    prefix: &'a str,
    epsilon: f32,
}

impl Reader<'_> {
    fn matrix(&self, name: &str, rows: Option<usize>, columns: usize) -> Result<Array2<f32>, ModelFileError> {
        self.tensors.matrix(&format!("{}{name}", self.prefix), rows, Some(columns))
    }

    fn vector(&self, name: &str, length: usize) -> Result<Array1<f32>, ModelFileError> {
        self.tensors.vector(&format!("{}{name}", self.prefix), length)
    }

    fn linear(&self, name: &str, input: usize, output: usize) -> Result<Linear, ModelFileError> {
        let weight = self.matrix(&format!("{name}.weight"), Some(output), input)?;
        Ok(Linear { weight, bias: self.vector(&format!("{name}.bias"), output)? })
    }

    fn norm(&self, name: &str, size: usize) -> Result<LayerNorm, ModelFileError> {
        let weight = self.vector(&format!("{name}.weight"), size)?;
        Ok(LayerNorm { weight, bias: self.vector(&format!("{name}.bias"), size)?, epsilon: self.epsilon })
    }

    fn layer(&self, number: usize, config: &ModelConfig) -> Result<Layer, ModelFileError> {
        let (size, inner) = (config.hidden_size, config.intermediate_size);
        let name = |part: &str| format!("encoder.layer.{number}.{part}");
        Ok(Layer {
            query: self.linear(&name("attention.self.query"), size, size)?,
            key: self.linear(&name("attention.self.key"), size, size)?,
            value: self.linear(&name("attention.self.value"), size, size)?,
            output: self.linear(&name("attention.output.dense"), size, size)?,
            output_norm: self.norm(&name("attention.output.LayerNorm"), size)?,
            up: self.linear(&name("intermediate.dense"), size, inner)?,
            down: self.linear(&name("output.dense"), inner, size)?,
            down_norm: self.norm(&name("output.LayerNorm"), size)?,
        })
    }
}
