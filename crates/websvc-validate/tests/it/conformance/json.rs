//! Values of cases: how a body has them, and how the page shows them.

use serde_json::Value;

/// Longer texts and lists are shown shortened.
const SHOWN_CHARS: usize = 48;
const SHOWN_ITEMS: usize = 12;

/// A value of a body.
pub(crate) trait Json {
    /// Returns the value as the body has it.
    fn text(&self) -> String;

    /// Returns the value short enough for a cell of a table.
    fn shown(&self) -> String {
        let text = self.text();
        serde_json::from_str(&text).map_or(text, |value| short(&value))
    }
}

/// A value as it is written, for what a [`Value`] cannot hold.
pub(crate) struct Raw(pub(crate) &'static str);

impl Json for Raw {
    fn text(&self) -> String {
        self.0.to_owned()
    }

    fn shown(&self) -> String {
        self.text()
    }
}

impl Json for Value {
    fn text(&self) -> String {
        self.to_string()
    }
}

macro_rules! json_values {
    ($($kind:ty),*) => {
        $(impl Json for $kind {
            fn text(&self) -> String {
                Value::from(self.clone()).to_string()
            }
        })*
    };
}

json_values!(bool, i64, u64, f64, &str, String, Vec<String>, Vec<Value>);

impl Json for i32 {
    fn text(&self) -> String {
        self.to_string()
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
            let fields = fields.iter().map(|(name, value)| format!("{}: {}", short_text(name), short(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

fn short_text(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next();
    match text.chars().count() {
        count if count <= SHOWN_CHARS => Value::from(text).to_string(),
        count => match first.filter(|first| letters.all(|letter| letter == *first)) {
            Some(letter) => format!("{count} x {:?}", letter.to_string()),
            None => format!(
                "{} ({count} characters)",
                Value::from(text.chars().take(12).collect::<String>() + "...")
            ),
        },
    }
}
