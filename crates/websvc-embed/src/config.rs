//! The small JSON files of a model.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::ModelFileError;

/// Maximum size of a JSON file. The tokenizer of a large vocabulary takes 17 MB.
const MAX_JSON_BYTES: u64 = 64 * 1024 * 1024;

/// Maximum of each dimension of a model.
const MAX_SIZE: usize = 1 << 20;

/// `config.json`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ModelConfig {
    model_type: Option<String>,
    architectures: Vec<String>,
    pub(crate) hidden_size: usize,
    pub(crate) num_hidden_layers: usize,
    pub(crate) num_attention_heads: usize,
    pub(crate) intermediate_size: usize,
    pub(crate) max_position_embeddings: usize,
    pub(crate) layer_norm_eps: Option<f32>,
    hidden_act: Option<String>,
    position_embedding_type: Option<String>,
}

/// The kinds of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Bert,
    Static,
}

impl ModelConfig {
    /// Reads `config.json`. The static models of sentence-transformers have none.
    pub(crate) fn read(dir: &Path) -> Result<(Self, Kind), ModelFileError> {
        let path = dir.join("config.json");
        if !path.exists() && dir.join("model.safetensors").exists() {
            return Ok((Self::default(), Kind::Static));
        }
        let config: Self = read_json(&path)?;
        let kind = config.kind().map_err(|reason| ModelFileError::new(&path, reason))?;
        Ok((config, kind))
    }

    fn kind(&self) -> Result<Kind, String> {
        let name = self.model_type.as_deref().unwrap_or_default();
        if name == "model2vec" || self.architectures.iter().any(|name| name.starts_with("Static")) {
            return Ok(Kind::Static);
        }
        if name != "bert" {
            return Err(format!("model_type is {name:?}: only bert and model2vec are supported"));
        }
        let activation = self.hidden_act.as_deref().unwrap_or("gelu");
        if activation != "gelu" {
            return Err(format!("hidden_act is {activation:?}: only gelu is supported"));
        }
        let positions = self.position_embedding_type.as_deref().unwrap_or("absolute");
        if positions != "absolute" {
            return Err(format!("position_embedding_type is {positions:?}: only absolute is supported"));
        }
        for (name, size) in [
            ("hidden_size", self.hidden_size),
            ("num_hidden_layers", self.num_hidden_layers),
            ("num_attention_heads", self.num_attention_heads),
            ("intermediate_size", self.intermediate_size),
            ("max_position_embeddings", self.max_position_embeddings),
        ] {
            if size == 0 || size > MAX_SIZE {
                return Err(format!("{name} is {size}: it must be from 1 to {MAX_SIZE}"));
            }
        }
        if !self.hidden_size.is_multiple_of(self.num_attention_heads) {
            return Err("hidden_size is not a multiple of num_attention_heads".to_owned());
        }
        Ok(Kind::Bert)
    }
}

/// The vector of a text, made from those of its tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pooling {
    /// The mean of all tokens.
    Mean,
    /// The vector of the first token, `[CLS]`.
    First,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PoolingConfig {
    pooling_mode_cls_token: bool,
    pooling_mode_mean_tokens: bool,
    pooling_mode_max_tokens: bool,
    pooling_mode_mean_sqrt_len_tokens: bool,
}

impl Pooling {
    /// Reads `1_Pooling/config.json`; without it, the mean.
    pub(crate) fn read(dir: &Path) -> Result<Self, ModelFileError> {
        let path = dir.join("1_Pooling").join("config.json");
        if !path.exists() {
            return Ok(Self::Mean);
        }
        let config: PoolingConfig = read_json(&path)?;
        let PoolingConfig {
            pooling_mode_cls_token: first,
            pooling_mode_mean_tokens: mean,
            pooling_mode_max_tokens: max,
            pooling_mode_mean_sqrt_len_tokens: root,
        } = config;
        match (first, mean, max || root) {
            (false, true, false) => Ok(Self::Mean),
            (true, false, false) => Ok(Self::First),
            _ => {
                Err(ModelFileError::new(&path, "only pooling of the mean or of the token [CLS] is supported"))
            }
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SentenceConfig {
    max_seq_length: Option<usize>,
}

/// Reads the maximum length of a text in tokens from `sentence_bert_config.json`.
pub(crate) fn read_max_tokens(dir: &Path) -> Result<Option<usize>, ModelFileError> {
    let path = dir.join("sentence_bert_config.json");
    if !path.exists() {
        return Ok(None);
    }
    Ok(read_json::<SentenceConfig>(&path)?.max_seq_length.filter(|tokens| *tokens > 2))
}

/// Reads a JSON file of a model.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, ModelFileError> {
    let error = |error: std::io::Error| ModelFileError::new(path, error.to_string());
    let bytes = fs::metadata(path).map_err(error)?.len();
    if bytes > MAX_JSON_BYTES {
        return Err(ModelFileError::new(
            path,
            format!("it has {bytes} bytes: the maximum is {MAX_JSON_BYTES}"),
        ));
    }
    let text = fs::read(path).map_err(error)?;
    serde_json::from_slice(&text).map_err(|error| ModelFileError::new(path, error.to_string()))
}
