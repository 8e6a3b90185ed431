//! The fields of an event, and their redaction for requests with zero data retention.

use std::error::Error;
use std::fmt;

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};

use crate::output;

/// The replacement for a redacted value.
const REDACTED: &str = "withheld";

/// String fields that contain only words of websvc, of the configuration or of the API. All other string fields may
/// contain queries, URLs or content.
const SAFE_FIELDS: &[&str] = &["id", "method", "path", "source", "scanner", "kind", "rule"];

/// Fields of an event.
#[derive(Default)]
pub(super) struct Fields {
    pub(super) message: String,
    pub(super) others: Map<String, Value>,
}

impl Fields {
    /// Redacts every value that may contain content. Numbers and [`SAFE_FIELDS`] are unchanged.
    pub(super) fn redact(&mut self) {
        for (name, value) in &mut self.others {
            if value.is_string() && !SAFE_FIELDS.contains(&name.as_str()) {
                *value = REDACTED.into();
            }
        }
    }

    fn set(&mut self, field: &Field, value: impl Into<Value>) {
        self.others.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            value.clone_into(&mut self.message);
        } else {
            self.set(field, value);
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, value);
    }

    /// Records an error with its causes.
    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.set(field, output::causes(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}
