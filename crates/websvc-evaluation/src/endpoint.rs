//! The model that is evaluated.

/// The model that the service uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelEndpoint {
    /// The [oracle](crate::Oracle).
    Oracle,
    /// An OpenAI-compatible endpoint.
    Remote {
        /// Its base URL, which usually ends in `/v1`.
        url: String,
        /// The name of the model.
        model: String,
        /// The key of the endpoint, if it needs one.
        key: Option<String>,
    },
}

impl ModelEndpoint {
    /// Returns the name of the model.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Oracle => "oracle",
            Self::Remote { url: _, model, key: _ } => model,
        }
    }
}
