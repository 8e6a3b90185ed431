//! Short forms of the formats that programs request most.

use serde_json::{Map, Value};

use super::{
    Format, Highlights, Html, Images, Json, Links, Markdown, Question, RawHtml, Screenshot, Summary,
};

/// Each is the format with its default options, or with the one that it needs.
///
/// ```
/// use websvc_types::{Format, format};
///
/// assert_eq!(Format::markdown(), Format::Markdown(format::Markdown {}));
/// assert_eq!(Format::question("Who wrote it?").name(), "question");
/// ```
impl Format {
    /// Content as markdown.
    #[must_use]
    pub fn markdown() -> Self {
        Self::Markdown(Markdown {})
    }

    /// Content as cleaned HTML.
    #[must_use]
    pub fn html() -> Self {
        Self::Html(Html::default())
    }

    /// Page as received, decoded to UTF-8.
    #[must_use]
    pub fn raw_html() -> Self {
        Self::RawHtml(RawHtml::default())
    }

    /// Absolute URLs of the links in the content.
    #[must_use]
    pub fn links() -> Self {
        Self::Links(Links::default())
    }

    /// Absolute URLs of the images of the page.
    #[must_use]
    pub fn images() -> Self {
        Self::Images(Images::default())
    }

    /// Summary of the content.
    #[must_use]
    pub fn summary() -> Self {
        Self::Summary(Summary::default())
    }

    /// Screenshot of the window.
    #[must_use]
    pub fn screenshot() -> Self {
        Self::Screenshot(Screenshot::default())
    }

    /// Data with this JSON Schema, extracted by a language model.
    #[must_use]
    pub fn json(schema: Map<String, Value>) -> Self {
        Self::Json(Json { schema: Some(schema), ..Json::default() })
    }

    /// Answer to a question about the page.
    #[must_use]
    pub fn question(question: impl Into<String>) -> Self {
        Self::Question(Question { question: question.into() })
    }

    /// Passages of the page that match a query.
    #[must_use]
    pub fn highlights(query: impl Into<String>) -> Self {
        Self::Highlights(Highlights { query: query.into() })
    }
}
