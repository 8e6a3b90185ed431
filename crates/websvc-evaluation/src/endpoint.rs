//! The model that is evaluated.

use crate::service::ORACLE_URL;

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

    /// Returns the base URL.
    pub(crate) fn url(&self) -> &str {
        match self {
            Self::Oracle => ORACLE_URL,
            Self::Remote { url, model: _, key: _ } => url,
        }
    }

    /// Returns the settings of the service for this model.
    pub(crate) fn settings(&self) -> Vec<(&'static str, String)> {
        let mut settings = vec![
            ("WEBSVC__LLM__BASE_URL", self.url().to_owned()),
            ("WEBSVC__LLM__MODEL", self.name().to_owned()),
        ];
        if let Self::Remote { key, url: _, model: _ } = self {
            // A model on a small machine takes minutes for a long prompt.
            settings.push(("WEBSVC__LLM__TIMEOUT_MS", "300000".to_owned()));
            settings.extend(key.iter().map(|key| ("WEBSVC__LLM__API_KEY", key.clone())));
        }
        settings
    }
}
