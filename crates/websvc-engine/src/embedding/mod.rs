//! The encoders of the search by meaning: a model in this process, or an endpoint with embeddings.

mod local;
mod remote;

pub use local::LocalEncoder;
pub use remote::RemoteEncoder;

/// Texts that some models expect before each query and each passage, such as `query: `.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EncoderPrefixes {
    /// The text before a query.
    pub query: String,
    /// The text before a passage.
    pub passage: String,
}

impl EncoderPrefixes {
    fn query(&self, text: &str) -> String {
        format!("{}{text}", self.query)
    }

    fn passages(&self, texts: &[String]) -> Vec<String> {
        texts.iter().map(|text| format!("{}{text}", self.passage)).collect()
    }
}
