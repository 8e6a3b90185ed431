//! Values of cases, as JSON and as text on the page.

use std::fmt;

use serde_json::Value;

/// Maximum length of a text on the page, in characters.
const MAX_CHARS: usize = 48;

/// Maximum number of items of a list on the page.
const MAX_ITEMS: usize = 12;

/// Value of a case.
pub(crate) struct CaseValue {
    /// JSON in the body.
    pub(crate) json: String,
    /// Text on the page.
    pub(crate) label: String,
}

/// Conversion to a value of a case.
pub(crate) trait Json {
    /// Converts the value.
    fn case_value(self) -> CaseValue;
}

/// Literal JSON, for values that a [`Value`] cannot hold.
pub(crate) struct Raw(pub(crate) &'static str);

impl Json for Raw {
    fn case_value(self) -> CaseValue {
        let label = if self.0.is_empty() { "(no body)" } else { self.0 };
        CaseValue { json: self.0.to_owned(), label: label.to_owned() }
    }
}

impl Json for Value {
    fn case_value(self) -> CaseValue {
        CaseValue { json: self.to_string(), label: short(&self) }
    }
}

macro_rules! json_values {
    ($($kind:ty),*) => {
        $(impl Json for $kind {
            fn case_value(self) -> CaseValue {
                Value::from(self).case_value()
            }
        })*
    };
}

json_values!(bool, i32, i64, u64, f64, &str, String, Vec<String>, Vec<Value>);

/// Value whose `Debug` output is JSON.
#[derive(PartialEq)]
pub(crate) struct AsJson(pub(crate) Value);

impl fmt::Debug for AsJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&short(&self.0))
    }
}

fn short(value: &Value) -> String {
    match value {
        Value::String(text) => short_text(text),
        Value::Array(items) if items.len() > MAX_ITEMS => {
            format!("[{}, ... {} items]", short(&items[0]), items.len())
        }
        Value::Array(items) => format!("[{}]", items.iter().map(short).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            // The order of fields depends on features of serde_json; that on the page must not.
            let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| (*name != "type", *name));
            let fields = fields.iter().map(|(name, value)| format!("{}: {}", short_text(name), short(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

fn short_text(text: &str) -> String {
    let count = text.chars().count();
    if count <= MAX_CHARS {
        return quoted(text);
    }
    let mut chars = text.chars();
    match chars.next().filter(|first| chars.all(|c| c == *first)) {
        Some(repeated) => format!("{count} x {}", quoted(&repeated.to_string())),
        None => {
            format!("{} ({count} characters)", quoted(&(text.chars().take(12).collect::<String>() + "...")))
        }
    }
}

/// Returns a text as a JSON string in which all control characters are escaped.
fn quoted(text: &str) -> String {
    let json = Value::from(text).to_string();
    let visible = |c: char| match c.is_control() {
        true => format!("\\u{:04x}", u32::from(c)),
        false => c.to_string(),
    };
    json.chars().map(visible).collect()
}
