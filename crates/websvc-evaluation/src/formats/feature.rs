//! The features that the evaluation measures.

/// A feature that uses a language model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// The format `json` of a scrape.
    Json,
    /// The format `question`.
    Question,
    /// The format `summary`.
    Summary,
    /// An extraction.
    Extract,
    /// The first step of an agent run on a page that is read already.
    AgentStep,
    /// An agent run.
    Agent,
    /// The format `highlights`.
    Highlights,
    /// The option `onlyCleanContent`.
    Clean,
    /// The option `redactPII` in mode `accurate`.
    RedactAccurate,
    /// The option `redactPII` in mode `fast`, which never asks a model.
    RedactFast,
    /// The judge of monitors.
    Judge,
    /// The prompt of a crawl.
    CrawlPrompt,
}

impl Feature {
    /// All features, in the order of the report.
    pub(crate) const ALL: [Self; 12] = [
        Self::Json,
        Self::Question,
        Self::Summary,
        Self::Extract,
        Self::AgentStep,
        Self::Agent,
        Self::Highlights,
        Self::Clean,
        Self::RedactAccurate,
        Self::RedactFast,
        Self::Judge,
        Self::CrawlPrompt,
    ];

    /// Returns the name for `--only`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Question => "question",
            Self::Summary => "summary",
            Self::Extract => "extract",
            Self::AgentStep => "agent-step",
            Self::Agent => "agent",
            Self::Highlights => "highlights",
            Self::Clean => "onlyCleanContent",
            Self::RedactAccurate => "redactPII-accurate",
            Self::RedactFast => "redactPII-fast",
            Self::Judge => "judge",
            Self::CrawlPrompt => "crawl-prompt",
        }
    }

    /// Returns whether the feature asks a model, if there is one.
    pub(crate) fn asks_model(self) -> bool {
        self != Self::RedactFast
    }

    /// Returns whether the feature has no result without a model.
    pub(crate) fn needs_model(self) -> bool {
        match self {
            Self::Json | Self::Question | Self::Summary | Self::Extract | Self::AgentStep | Self::Agent => {
                true
            }
            Self::Highlights
            | Self::Clean
            | Self::RedactAccurate
            | Self::RedactFast
            | Self::Judge
            | Self::CrawlPrompt => false,
        }
    }
}
