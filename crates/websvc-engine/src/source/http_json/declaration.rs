//! What the configuration says of a search API, and the check of it.

use std::collections::BTreeMap;

use http::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use url::Url;
use websvc_transport::is_forbidden_header;
use websvc_validate::SourceKind;

use super::field::Fields;
use super::template::{Template, Values};

/// A search API that answers in JSON, as the configuration declares it.
#[derive(Debug, Clone, Deserialize)]
pub struct ApiDefinition {
    /// The address, with placeholders.
    pub url: String,
    /// How it answers; by the type of the answer when it is not given.
    #[serde(default)]
    pub format: Option<Format>,
    /// Sent with every request; values may name environment variables as `${NAME}`.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The JSON Pointer to the list of results; the empty one when the answer is the list.
    pub results: String,
    /// Whether the list may be missing when nothing was found; else that is a failure.
    #[serde(default)]
    pub results_may_be_absent: bool,
    /// Where the parts of a result are, from the result on.
    pub fields: Fields,
    /// What it has results of.
    #[serde(default = "web")]
    pub offers: Vec<ResultKind>,
    /// How it is asked.
    #[serde(default)]
    pub query: QuerySyntax,
    /// The largest `{limit}` it takes.
    #[serde(default = "ten")]
    pub page_size: usize,
    /// What `{page}` begins with.
    #[serde(default = "one")]
    pub first_page: usize,
    /// What `{safe}` stands for: without and with the filter.
    #[serde(default = "false_true")]
    pub safe: [String; 2],
    /// What `{language}` stands for when the request names no country.
    #[serde(default)]
    pub language: String,
}

/// A kind of results, as the configuration spells it.
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

/// How an API answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// In JSON.
    Json,
    /// With an Atom feed.
    Atom,
}

/// How an API is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuerySyntax {
    /// With the words of the query alone.
    #[default]
    Words,
    /// With operators as engines of the web read them.
    Operators,
}

/// What is wrong with a declaration; each names the key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeclarationError {
    /// The address.
    #[error("url: {0}")]
    Url(String),
    /// A header.
    #[error("headers.{name}: {what}")]
    Header {
        /// Its name.
        name: String,
        /// What is wrong with it, without its value.
        what: String,
    },
    /// A variable that is not set.
    #[error("{key} needs the environment variable {variable}, which is not set")]
    Variable {
        /// The key that names it.
        key: String,
        /// Its name.
        variable: String,
    },
    /// Something else.
    #[error("{key}: {what}")]
    Key {
        /// The key.
        key: &'static str,
        /// What is wrong with it.
        what: String,
    },
}

/// A declaration that can be used.
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
    /// The names of the keys, as the configuration spells them; `fields` and `headers` are tables.
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
            return Err(key("fields.url", "a result needs an address"));
        }
        if self.page_size == 0 {
            return Err(key("page_size", "it has to be at least 1"));
        }
        if self.offers.contains(&ResultKind::Images) && self.fields.image.is_empty() {
            return Err(key("fields.image", "images need one"));
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

/// Reads the address. Its host is fixed: what is asked must not decide who gets the headers.
fn address(
    text: &str,
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<(Url, Template), DeclarationError> {
    let text = filled(text, "url", variable)?;
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
        return Err(DeclarationError::Url("it is neither http nor https".to_owned()));
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
    let refuse = |what: &str| DeclarationError::Header { name: name.to_owned(), what: what.to_owned() };
    let value = filled(value, &format!("headers.{name}"), variable)?;
    let header = HeaderName::try_from(name).map_err(|_| refuse("not a header's name"))?;
    if is_forbidden_header(&header) {
        return Err(refuse("this header may not be set"));
    }
    let mut value = HeaderValue::try_from(value).map_err(|_| refuse("its value cannot be sent"))?;
    value.set_sensitive(true);
    Ok((header, value))
}

/// Fills in the environment variables of a text.
pub(in crate::source) fn filled(
    text: &str,
    key: &str,
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<String, DeclarationError> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, after)) = after.split_once('}') else { break };
        let missing = || DeclarationError::Variable { key: key.to_owned(), variable: name.to_owned() };
        filled.push_str(before);
        filled.push_str(&variable(name).ok_or_else(missing)?);
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

fn web() -> Vec<ResultKind> {
    vec![ResultKind::Web]
}

fn ten() -> usize {
    10
}

fn one() -> usize {
    1
}

fn false_true() -> [String; 2] {
    ["false".to_owned(), "true".to_owned()]
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(changes: &Value, expected: Option<&str>) {
        let mut declared = json!({
            "url": "https://api.test/search?q={query}",
            "headers": {"X-Token": "Bearer ${TOKEN}"},
            "results": "/items",
            "fields": {"url": "/url"},
        });
        declared.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        let declaration: ApiDefinition = serde_json::from_value(declared).unwrap();
        let checked = declaration.check(|name| (name == "TOKEN").then(|| "secret".to_owned()));
        assert_eq!(checked.err().map(|error| error.to_string()).as_deref(), expected, "{changes}");
    }

    #[test]
    fn what_cannot_work_is_named_by_its_key() {
        check(&json!({}), None);
        check(&json!({"results": ""}), None);
        check(&json!({"url": "https://{query}.test/"}), Some("url: the host must not have placeholders"));
        check(&json!({"url": "ftp://a.test/{query}"}), Some("url: it is neither http nor https"));
        check(&json!({"url": "https://a.test/?q={query"}), Some("url: {query has no closing brace"));
        check(
            &json!({"headers": {"X-Key": "${KEY}"}}),
            Some("headers.X-Key needs the environment variable KEY, which is not set"),
        );
        check(&json!({"headers": {"Host": "a"}}), Some("headers.Host: this header may not be set"));
        check(&json!({"headers": {"a b": "c"}}), Some("headers.a b: not a header's name"));
        check(&json!({"results": "items"}), Some("results: a JSON Pointer is empty or begins with a slash"));
        check(&json!({"fields": {"title": "/t"}}), Some("fields.url: a result needs an address"));
        check(&json!({"page_size": 0}), Some("page_size: it has to be at least 1"));
        check(&json!({"offers": ["images"]}), Some("fields.image: images need one"));
    }

    #[test]
    fn variables_are_filled_in() {
        let variable = |name: &str| (name == "A").then(|| "1".to_owned());
        assert_eq!(filled("x ${A} $A {A} ${A}", "k", &variable).unwrap(), "x 1 $A {A} 1");
        assert_eq!(filled("${A", "k", &variable).unwrap(), "${A");
    }
}
