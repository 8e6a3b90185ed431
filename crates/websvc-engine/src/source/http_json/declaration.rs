//! The definition of a search API in the configuration, and its validation.

use std::collections::BTreeMap;

use http::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use url::Url;
use websvc_transport::is_forbidden_header;
use websvc_validate::SourceKind;

use super::field::Fields;
use super::template::{Template, Values};

/// A search API that responds with JSON or Atom, as defined in the configuration.
#[derive(Debug, Clone, Deserialize)]
pub struct ApiDefinition {
    /// The URL, with placeholders.
    pub url: String,
    /// The format of responses; `None` to use the content type.
    #[serde(default)]
    pub format: Option<Format>,
    /// Headers of every request. Their values may contain environment variables as `${NAME}`.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The JSON Pointer to the list of results; empty if the response itself is the list.
    pub results: String,
    /// The list may be missing if there are no results. Otherwise a missing list is an error.
    #[serde(default)]
    pub results_may_be_absent: bool,
    /// The positions of the fields of a result, relative to the result.
    pub fields: Fields,
    /// The kinds of results that the API provides.
    #[serde(default = "default_offers")]
    pub offers: Vec<ResultKind>,
    /// The syntax of queries.
    #[serde(default)]
    pub query: QuerySyntax,
    /// The maximum of `{limit}`.
    #[serde(default = "default_page_size")]
    pub page_size: usize,
    /// The value of `{page}` for the first page.
    #[serde(default = "default_first_page")]
    pub first_page: usize,
    /// The values of `{safe}` without and with the filter.
    #[serde(default = "default_safe")]
    pub safe: [String; 2],
    /// The value of `{language}` if the request has no country.
    #[serde(default)]
    pub language: String,
}

/// A kind of results in the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResultKind {
    /// Web pages.
    Web,
    /// Images.
    Images,
    /// News.
    News,
}

/// The format of responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// JSON.
    Json,
    /// An Atom feed.
    Atom,
}

/// The syntax of queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuerySyntax {
    /// Only the words of the query.
    #[default]
    Words,
    /// Words and the operators of web search engines.
    Operators,
}

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

/// A validated definition.
pub(super) struct CheckedDefinition {
    pub(super) origin: Url,
    pub(super) url: Template,
    pub(super) format: Option<Format>,
    pub(super) headers: HeaderMap,
    pub(super) results: String,
    pub(super) results_may_be_absent: bool,
    pub(super) fields: Fields,
    pub(super) offers: Vec<SourceKind>,
    pub(super) query: QuerySyntax,
    pub(super) page_size: usize,
    pub(super) first_page: usize,
    pub(super) safe: [String; 2],
    pub(super) language: String,
}

impl ApiDefinition {
    /// The names of the configuration keys. `fields` and `headers` are tables.
    pub const KEYS: &'static [&'static str] = &[
        "url",
        "format",
        "headers",
        "results",
        "results_may_be_absent",
        "fields",
        "offers",
        "query",
        "page_size",
        "first_page",
        "safe",
        "language",
    ];

    /// The names of the keys of `fields`.
    pub const FIELD_KEYS: &'static [&'static str] = Fields::KEYS;

    pub(super) fn check(
        &self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<CheckedDefinition, DeclarationError> {
        let (origin, url) = address(&self.url, &variable)?;
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            let (name, value) = header(name, value, &variable)?;
            headers.insert(name, value);
        }
        let key = |key, what: &str| DeclarationError::Key { key, what: what.to_owned() };
        if !self.results.is_empty() && !self.results.starts_with('/') {
            return Err(key("results", "a JSON Pointer is empty or begins with a slash"));
        }
        if self.fields.url.is_empty() {
            return Err(key("fields.url", "required"));
        }
        if self.page_size == 0 {
            return Err(key("page_size", "must be at least 1"));
        }
        if self.offers.contains(&ResultKind::Images) && self.fields.image.is_empty() {
            return Err(key("fields.image", "required for images"));
        }
        Ok(CheckedDefinition {
            origin,
            url,
            format: self.format,
            headers,
            results: self.results.clone(),
            results_may_be_absent: self.results_may_be_absent,
            fields: self.fields.clone(),
            offers: self.offers.iter().map(|offer| offer.kind()).collect(),
            query: self.query,
            page_size: self.page_size,
            first_page: self.first_page,
            safe: self.safe.clone(),
            language: self.language.clone(),
        })
    }
}

impl ResultKind {
    fn kind(self) -> SourceKind {
        match self {
            Self::Web => SourceKind::Web,
            Self::Images => SourceKind::Images,
            Self::News => SourceKind::News,
        }
    }
}

/// Parses the URL. Its host must be constant, because a query must not decide which host gets the headers.
fn address(
    text: &str,
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<(Url, Template), DeclarationError> {
    let text = expand_variables(text, "url", variable)?;
    let host_end = text.find("://").and_then(|at| text[at + 3..].find('/').map(|slash| at + 3 + slash));
    if text[..host_end.unwrap_or(text.len())].contains('{') {
        return Err(DeclarationError::Url("the host must not have placeholders".to_owned()));
    }
    let template = Template::parse(&text).map_err(DeclarationError::Url)?;
    let sample =
        Values { query: "x", limit: 1, offset: 0, page: 1, language: "en", country: "US", safe: "x" };
    let mut origin =
        Url::parse(&template.expand(&sample)).map_err(|error| DeclarationError::Url(error.to_string()))?;
    if !matches!(origin.scheme(), "http" | "https") || !origin.has_host() {
        return Err(DeclarationError::Url("neither http nor https".to_owned()));
    }
    origin.set_path("/");
    origin.set_query(None);
    Ok((origin, template))
}

fn header(
    name: &str,
    value: &str,
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<(HeaderName, HeaderValue), DeclarationError> {
    let invalid = |what: &str| DeclarationError::Header { name: name.to_owned(), what: what.to_owned() };
    let value = expand_variables(value, &format!("headers.{name}"), variable)?;
    let header = HeaderName::try_from(name).map_err(|_| invalid("not a valid header name"))?;
    if is_forbidden_header(&header) {
        return Err(invalid("this header must not be set"));
    }
    let mut value =
        HeaderValue::try_from(value).map_err(|_| invalid("its value is not allowed in a header"))?;
    value.set_sensitive(true);
    Ok((header, value))
}

/// Replaces the environment variables in a text.
pub(in crate::source) fn expand_variables(
    text: &str,
    key: &str,
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<String, DeclarationError> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, after)) = after.split_once('}') else { break };
        let missing = || DeclarationError::Variable { key: key.to_owned(), variable: name.to_owned() };
        expanded.push_str(before);
        expanded.push_str(&variable(name).ok_or_else(missing)?);
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

fn default_offers() -> Vec<ResultKind> {
    vec![ResultKind::Web]
}

fn default_page_size() -> usize {
    10
}

fn default_first_page() -> usize {
    1
}

fn default_safe() -> [String; 2] {
    ["false".to_owned(), "true".to_owned()]
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(changes: &Value, expected: Option<&str>) {
        let mut definition = json!({
            "url": "https://api.test/search?q={query}",
            "headers": {"X-Token": "Bearer ${TOKEN}"},
            "results": "/items",
            "fields": {"url": "/url"},
        });
        definition.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        let definition: ApiDefinition = serde_json::from_value(definition).unwrap();
        let checked = definition.check(|name| (name == "TOKEN").then(|| "secret".to_owned()));
        assert_eq!(checked.err().map(|error| error.to_string()).as_deref(), expected, "{changes}");
    }

    #[test]
    fn invalid_definitions_are_rejected_with_the_key() {
        check(&json!({}), None);
        check(&json!({"results": ""}), None);
        check(&json!({"url": "https://{query}.test/"}), Some("url: the host must not have placeholders"));
        check(&json!({"url": "ftp://a.test/{query}"}), Some("url: neither http nor https"));
        check(&json!({"url": "https://a.test/?q={query"}), Some("url: {query has no closing brace"));
        check(
            &json!({"headers": {"X-Key": "${KEY}"}}),
            Some("headers.X-Key needs the environment variable KEY, which is not set"),
        );
        check(&json!({"headers": {"Host": "a"}}), Some("headers.Host: this header must not be set"));
        check(&json!({"headers": {"a b": "c"}}), Some("headers.a b: not a valid header name"));
        check(&json!({"results": "items"}), Some("results: a JSON Pointer is empty or begins with a slash"));
        check(&json!({"fields": {"title": "/t"}}), Some("fields.url: required"));
        check(&json!({"page_size": 0}), Some("page_size: must be at least 1"));
        check(&json!({"offers": ["images"]}), Some("fields.image: required for images"));
    }

    #[test]
    fn environment_variables_are_replaced() {
        let variable = |name: &str| (name == "A").then(|| "1".to_owned());
        assert_eq!(expand_variables("x ${A} $A {A} ${A}", "k", &variable).unwrap(), "x 1 $A {A} 1");
        assert_eq!(expand_variables("${A", "k", &variable).unwrap(), "${A");
    }
}
