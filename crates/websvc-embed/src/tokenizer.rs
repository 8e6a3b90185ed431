//! Reads `tokenizer.json`.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

use crate::config::read_json;
use crate::error::ModelFileError;
use crate::word_piece::{Normalization, WordPiece};

#[derive(Deserialize)]
struct TokenizerFile {
    normalizer: Option<NormalizerFile>,
    model: ModelFile,
}

#[derive(Deserialize)]
struct NormalizerFile {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    lowercase: bool,
    strip_accents: Option<bool>,
    #[serde(default)]
    handle_chinese_chars: bool,
}

#[derive(Deserialize)]
struct ModelFile {
    /// Left out by older versions of the format.
    #[serde(rename = "type")]
    kind: Option<String>,
    unk_token: Option<String>,
    continuing_subword_prefix: Option<String>,
    vocab: Option<serde_json::Value>,
}

/// Reads the tokenizer of a model.
pub(crate) fn read(dir: &Path) -> Result<WordPiece, ModelFileError> {
    let path = dir.join("tokenizer.json");
    let TokenizerFile { normalizer, model } = read_json(&path)?;
    let fail = |reason: String| ModelFileError::new(&path, reason);
    let kind = model.kind.as_deref().unwrap_or("WordPiece");
    if kind != "WordPiece" {
        return Err(fail(format!("the tokenizer is {kind}: only WordPiece is supported")));
    }
    let vocabulary = model.vocab.unwrap_or_default();
    let vocabulary: HashMap<String, u32> =
        serde_json::from_value(vocabulary).map_err(|error| fail(format!("the vocabulary: {error}")))?;
    if vocabulary.is_empty() {
        return Err(fail("the vocabulary is empty".to_owned()));
    }
    let normalization = match normalizer {
        None => Normalization { lowercase: false, strip_accents: false, split_chinese: false },
        Some(NormalizerFile { kind, lowercase, strip_accents, handle_chinese_chars })
            if kind == "BertNormalizer" =>
        {
            Normalization {
                lowercase,
                strip_accents: strip_accents.unwrap_or(lowercase),
                split_chinese: handle_chinese_chars,
            }
        }
        Some(other) => {
            return Err(fail(format!("the normalizer is {}: only BertNormalizer is supported", other.kind)));
        }
    };
    let unknown = vocabulary.get(model.unk_token.as_deref().unwrap_or("[UNK]")).copied();
    let prefix = model.continuing_subword_prefix.unwrap_or_else(|| "##".to_owned());
    Ok(WordPiece { vocabulary, prefix, unknown, normalization })
}
