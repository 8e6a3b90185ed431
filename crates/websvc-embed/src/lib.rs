//! Sentence encoders that run in the process, without a server and without a runtime for neural networks.
//!
//! [`SentenceEncoder::open`] reads a directory as the model hubs publish it: `config.json`, `tokenizer.json` and
//! `model.safetensors`. Two kinds of models are supported:
//!
//! - BERT with the tokenizer WordPiece, such as `all-MiniLM-L6-v2` and `bge-small-en-v1.5`,
//! - static embeddings, one vector per token, as model2vec and the static models of sentence-transformers have them.
//!
//! The encoder reads each file once, checks all sizes and shapes when it opens a model, and has no state afterwards, so that
//! any number of threads may encode at the same time.

#![deny(missing_docs)]

mod bert;
mod config;
mod encoder;
mod error;
mod math;
mod safetensors;
mod static_embeddings;
mod tokenizer;
mod word_piece;

pub use encoder::SentenceEncoder;
pub use error::ModelFileError;
