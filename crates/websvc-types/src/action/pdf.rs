//! The action `pdf`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Prints the page as PDF; the answer's `actions.pdfs` has its URL.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Pdf {
    /// The paper. Default: Letter.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "Letter"))]
    pub format: Option<PaperFormat>,
    /// Wide instead of high. Default: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub landscape: Option<bool>,
    /// How much larger than usual. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = 1, "exclusiveMinimum" = 0))]
    pub scale: Option<f64>,
}

/// A size of paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the meaning")]
pub enum PaperFormat {
    A0,
    A1,
    A2,
    A3,
    A4,
    A5,
    A6,
    Letter,
    Legal,
    Tabloid,
    Ledger,
}

/// Old name of [`PaperFormat`].
#[deprecated(note = "renamed to `PaperFormat`")]
pub type Paper = PaperFormat;
