//! Values of cases: how a body has them, and how the page shows them.

use std::fmt;

use serde_json::Value;

/// Longer texts and lists are shown shortened.
const SHOWN_CHARS: usize = 48;
const SHOWN_ITEMS: usize = 12;

/// A value of a body.
pub(crate) struct Written {
    /// As the body has it.
    pub(crate) text: String,
    /// As the page shows it.
    pub(crate) shown: String,
}

/// Values of a body.
pub(crate) trait Json {
    /// Writes the value down.
    fn written(self) -> Written;
}

/// A value as it is written, for what a [`Value`] cannot hold.
pub(crate) struct Raw(pub(crate) &'static str);

impl Json for Raw {
    fn written(self) -> Written {
        let shown = if self.0.is_empty() { "(no body)" } else { self.0 };
        Written { text: self.0.to_owned(), shown: shown.to_owned() }
    }
}

impl Json for Value {
    fn written(self) -> Written {
        Written { text: self.to_string(), shown: short(&self) }
    }
}

macro_rules! json_values {
    ($($kind:ty),*) => {
        $(impl Json for $kind {
            fn written(self) -> Written {
                Value::from(self).written()
            }
        })*
    };
}

json_values!(bool, i32, i64, u64, f64, &str, String, Vec<String>, Vec<Value>);

/// A value that is printed as JSON.
#[derive(PartialEq)]
pub(crate) struct Shown(pub(crate) Value);

impl fmt::Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&short(&self.0))
    }
}

fn short(value: &Value) -> String {
    match value {
        Value::String(text) => short_text(text),
        Value::Array(items) if items.len() > SHOWN_ITEMS => {
            format!("[{}, ... {} items]", short(&items[0]), items.len())
        }
        Value::Array(items) => format!("[{}]", items.iter().map(short).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            // The order of an object depends on how serde_json was built, the page may not.
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
    if count <= SHOWN_CHARS {
        return quoted(text);
    }
    let mut letters = text.chars();
    match letters.next().filter(|first| letters.all(|letter| letter == *first)) {
        Some(letter) => format!("{count} x {}", quoted(&letter.to_string())),
        None => {
            format!("{} ({count} characters)", quoted(&(text.chars().take(12).collect::<String>() + "...")))
        }
    }
}

/// Returns a text as JSON has it; what JSON need not escape but nobody sees is escaped too.
fn quoted(text: &str) -> String {
    let json = Value::from(text).to_string();
    let seen = |letter: char| match letter.is_control() {
        true => format!("\\u{:04x}", u32::from(letter)),
        false => letter.to_string(),
    };
    json.chars().map(seen).collect()
}
