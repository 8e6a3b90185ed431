//! A page of a document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Page of a PDF.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DocumentPage {
    /// Number of the page, from 1.
    pub page_number: u32,
    /// Content of the page as markdown; empty for a page without text.
    pub markdown: String,
}

impl DocumentPage {
    /// Creates a page.
    #[must_use]
    pub fn new(page_number: u32, markdown: String) -> Self {
        Self { page_number, markdown }
    }
}
