//! The action `scrape`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Records URL and HTML of the page in its current state, in `actions.scrapes` of the response.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Scrape {}
