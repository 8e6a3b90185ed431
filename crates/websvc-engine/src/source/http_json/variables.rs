//! Environment variables in the values of the configuration, and the error of an invalid value.

use std::cell::Cell;

/// An invalid configuration value.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeclarationError {
    /// The URL is invalid.
    #[error("url: {0}")]
    Url(String),
    /// A header is invalid.
    #[error("headers.{name}: {what}")]
    Header {
        /// The name of the header.
        name: String,
        /// The problem, without the value.
        what: String,
    },
    /// An environment variable is not set.
    #[error("{key} needs the environment variable {variable}, which is not set")]
    Variable {
        /// The key that contains the variable.
        key: String,
        /// The name of the variable.
        variable: String,
    },
    /// Another key is invalid.
    #[error("{key}: {what}")]
    Key {
        /// The key.
        key: &'static str,
        /// The problem.
        what: String,
    },
}

/// Replaces the environment variables in a text: `${NAME}`, and `${NAME:-DEFAULT}` with a value if it is not set.
pub(in crate::source) fn expand_variables(
    text: &str,
    key: &str,
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<String, DeclarationError> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, after)) = after.split_once('}') else { break };
        let (name, default) = name.split_once(":-").map_or((name, None), |(name, value)| (name, Some(value)));
        let missing = || DeclarationError::Variable { key: key.to_owned(), variable: name.to_owned() };
        expanded.push_str(before);
        expanded.push_str(&variable(name).or(default.map(str::to_owned)).ok_or_else(missing)?);
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

/// Replaces the environment variables in a text; `None` if one that is written as `${NAME?}` is not set.
pub(super) fn expand_optional(
    text: &str,
    key: &str,
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<Option<String>, DeclarationError> {
    let is_missing = Cell::new(false);
    let expanded = expand_variables(text, key, &|name: &str| match name.strip_suffix('?') {
        None => variable(name),
        Some(name) => Some(variable(name).unwrap_or_else(|| {
            is_missing.set(true);
            String::new()
        })),
    })?;
    Ok((!is_missing.get()).then_some(expanded))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_variables_are_replaced() {
        let variable = |name: &str| (name == "A").then(|| "1".to_owned());
        assert_eq!(expand_variables("x ${A} $A {A} ${A}", "k", &variable).unwrap(), "x 1 $A {A} 1");
        assert_eq!(expand_variables("${A", "k", &variable).unwrap(), "${A");
        assert_eq!(expand_variables("${A:-x} ${B:-y z}", "k", &variable).unwrap(), "1 y z");
        assert_eq!(expand_optional("x ${A?}${A}", "k", &variable).unwrap().as_deref(), Some("x 11"));
        assert_eq!(expand_optional("x ${A} ${B?}", "k", &variable).unwrap(), None);
    }
}
