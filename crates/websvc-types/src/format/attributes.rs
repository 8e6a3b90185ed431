//! The format `attributes`.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{ATTRIBUTE_NAME_MAX_CHARS, ATTRIBUTE_SELECTORS_MAX, SELECTOR_MAX_CHARS};
use crate::pattern::NOT_BLANK;

/// Values of attributes of the elements that CSS selectors match. Official clients send this format; the specification does
/// not have it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct Attributes {
    /// Selectors with the attributes to read, 1 to 50.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1, max = ATTRIBUTE_SELECTORS_MAX)))]
    pub selectors: Vec<AttributeSelector>,
}

/// A CSS selector, and the attribute of its elements to read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct AttributeSelector {
    /// CSS selector of the elements, at most 2000 characters.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1, max = SELECTOR_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub selector: String,
    /// Name of the attribute, such as `href`, at most 200 characters.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1, max = ATTRIBUTE_NAME_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub attribute: String,
}

/// Values of an attribute of the elements that a selector matches.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[non_exhaustive]
pub struct AttributeValues {
    /// Selector of the request.
    pub selector: String,
    /// Name of the attribute, as in the request.
    pub attribute: String,
    /// Values in the order of the page, as written. Elements without the attribute have none.
    pub values: Vec<String>,
}
