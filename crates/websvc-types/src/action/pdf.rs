//! The action `pdf`.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

/// Prints the page as PDF. `actions.pdfs` of the response has its URL.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(default)]
pub struct Pdf {
    /// Paper size. Default: Letter.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = "Letter")))]
    pub format: Option<PaperFormat>,
    /// True prints in landscape orientation. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub landscape: Option<bool>,
    /// Scale factor, above 0. Default: 1.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = 1, "exclusiveMinimum" = 0)))]
    pub scale: Option<f64>,
}

/// Paper sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
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
