//! The features of the service that use a language model.

/// A feature of the service that a request to a model is for. It selects the model and labels logs and metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// The format `json`.
    Json,
    /// The format `summary`.
    Summary,
    /// The format `question`.
    Question,
    /// The format `highlights`.
    Highlights,
    /// The format `changeTracking`.
    ChangeTracking,
    /// The format `branding`.
    Branding,
    /// The option `onlyCleanContent`.
    OnlyCleanContent,
    /// The option `redactPII`.
    RedactPii,
    /// The prompt of a crawl.
    Crawl,
    /// The judge of monitors.
    Judge,
    /// An agent run.
    Agent,
    /// A prompt of a browser session.
    Interact,
    /// An extraction.
    Extract,
    /// The order of texts. It has no completions, and a model of its own.
    Rerank,
}

impl Feature {
    /// All features, in the order of their discriminants.
    pub const ALL: [Self; 14] = [
        Self::Json,
        Self::Summary,
        Self::Question,
        Self::Highlights,
        Self::ChangeTracking,
        Self::Branding,
        Self::OnlyCleanContent,
        Self::RedactPii,
        Self::Crawl,
        Self::Judge,
        Self::Agent,
        Self::Interact,
        Self::Extract,
        Self::Rerank,
    ];

    /// Returns the name, which is that of the option in a request.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Summary => "summary",
            Self::Question => "question",
            Self::Highlights => "highlights",
            Self::ChangeTracking => "changeTracking",
            Self::Branding => "branding",
            Self::OnlyCleanContent => "onlyCleanContent",
            Self::RedactPii => "redactPII",
            Self::Crawl => "crawl",
            Self::Judge => "judge",
            Self::Agent => "agent",
            Self::Interact => "interact",
            Self::Extract => "extract",
            Self::Rerank => "rerank",
        }
    }

    /// Returns the features with completions.
    pub fn completions() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|feature| *feature != Self::Rerank)
    }

    /// Returns the feature with completions that has a name. Upper and lower case do not matter, because environment
    /// variables of the configuration lose it.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::completions().find(|feature| feature.name().eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_in_the_order_of_their_discriminants_and_are_found_by_their_names() {
        for (index, feature) in Feature::ALL.into_iter().enumerate() {
            assert_eq!(feature as usize, index);
            let expected = Some(feature).filter(|feature| *feature != Feature::Rerank);
            assert_eq!(Feature::of_name(feature.name()), expected);
            assert_eq!(Feature::of_name(&feature.name().to_ascii_lowercase()), expected);
        }
        assert_eq!(Feature::of_name("jugde"), None);
    }
}
