//! The sources of collected values.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::report::ValueSource;

/// The maximum number of sources that are kept for pages that are dropped.
const MAX_EVIDENCE: usize = 2_000;

/// The sources of collected values, by the value. They outlast the pages.
#[derive(Debug, Default)]
pub(crate) struct Evidence(HashMap<String, ValueSource>);

impl Evidence {
    pub(crate) fn add(&mut self, value: &Value, source: &ValueSource) {
        if self.0.len() < MAX_EVIDENCE {
            self.0.entry(value.to_string()).or_insert_with(|| source.clone());
        }
    }

    /// Returns the source of a value, for another place in the data.
    pub(crate) fn find(&self, value: &Value, pointer: &str) -> Option<ValueSource> {
        let ValueSource { pointer: _, url, passage } = self.0.get(&value.to_string())?.clone();
        Some(ValueSource { pointer: pointer.to_owned(), url, passage })
    }

    /// Returns the values as JSON.
    pub(crate) fn values(&self) -> HashSet<String> {
        self.0.keys().cloned().collect()
    }

    pub(crate) fn has(&self, value: &Value) -> bool {
        self.0.contains_key(&value.to_string())
    }
}
