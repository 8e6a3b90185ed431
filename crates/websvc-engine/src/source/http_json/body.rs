//! Bodies of POST requests: JSON with placeholders in its texts.

use serde_json::{Map, Value};

use super::template::{Placeholder, Text, Values};
use super::variables::{DeclarationError, expand_optional};

/// A JSON value with placeholders. A text that is one number placeholder, such as `{limit}`, becomes a number. Members
/// whose placeholders are all empty are left out.
#[derive(Debug, Clone)]
pub(super) enum BodyTemplate {
    Fixed(Value),
    Text(Text),
    List(Vec<BodyTemplate>),
    Object(Vec<(String, BodyTemplate)>),
}

impl BodyTemplate {
    /// Parses a value, and replaces the environment variables in it; `None` if an optional one is not set.
    pub(super) fn parse(
        value: &Value,
        variable: &impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, DeclarationError> {
        Ok(Some(match value {
            Value::String(text) => {
                let Some(text) = expand_optional(text, "body", variable)? else { return Ok(None) };
                let text = Text::parse(&text);
                Self::Text(text.map_err(|what| DeclarationError::Key { key: "body", what })?)
            }
            Value::Array(items) => {
                let items = items.iter().filter_map(|item| Self::parse(item, variable).transpose());
                Self::List(items.collect::<Result<_, _>>()?)
            }
            Value::Object(members) => {
                let members = members.iter().filter_map(|(name, member)| {
                    let member = Self::parse(member, variable).transpose()?;
                    Some(member.map(|member| (name.clone(), member)))
                });
                Self::Object(members.collect::<Result<_, _>>()?)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Self::Fixed(value.clone()),
        }))
    }

    /// Returns whether a text in it has a placeholder.
    pub(super) fn has(&self, placeholder: Placeholder) -> bool {
        match self {
            Self::Fixed(_) => false,
            Self::Text(text) => text.has(placeholder),
            Self::List(items) => items.iter().any(|item| item.has(placeholder)),
            Self::Object(members) => members.iter().any(|(_, member)| member.has(placeholder)),
        }
    }

    /// Replaces the placeholders by their values; `None` if all of them are empty.
    pub(super) fn expand(&self, values: &Values<'_>) -> Option<Value> {
        match self {
            Self::Fixed(value) => Some(value.clone()),
            Self::Text(text) => text.expand(values),
            Self::List(items) => Some(items.iter().filter_map(|item| item.expand(values)).collect()),
            Self::Object(members) => {
                let members =
                    members.iter().filter_map(|(name, member)| Some((name.clone(), member.expand(values)?)));
                Some(Value::Object(members.collect::<Map<_, _>>()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn placeholders_become_texts_and_numbers() {
        let body = json!({
            "q": "{query}", "num": "{limit}", "gl": "{country}", "title": "results for {query}", "page": "p{page}",
            "nested": {"languages": ["{language}", "{country}"]}, "fixed": true, "key": "${KEY}", "other": "${OTHER?}",
        });
        let body = BodyTemplate::parse(&body, &|name| (name == "KEY").then(|| "secret".to_owned()));
        let body = body.unwrap().unwrap();
        let values = Values {
            query: "a \"b\" {limit}",
            limit: 20,
            offset: 0,
            page: 2,
            language: "en",
            country: "",
            safe: "off",
        };
        let expected = json!({
            "q": "a \"b\" {limit}", "num": 20, "title": "results for a \"b\" {limit}", "page": "p2",
            "nested": {"languages": ["en"]}, "fixed": true, "key": "secret",
        });
        assert_eq!(body.expand(&values), Some(expected));
    }
}
