//! The action `scrape`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Scrapes the page as it is now; the answer has its URL and HTML.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Scrape {}
