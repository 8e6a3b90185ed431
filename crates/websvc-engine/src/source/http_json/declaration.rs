//! The definition of a search API in the configuration, and its validation.

use std::collections::BTreeMap;

use http::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use url::Url;
use websvc_transport::is_forbidden_header;
use websvc_validate::SourceKind;

use super::body::BodyTemplate;
use super::field::Fields;
use super::template::{Placeholder, Template, Values};
use super::variables::{DeclarationError, expand_optional, expand_variables};
use crate::source::coverage::{Coverage, Topic};

/// A search API that responds with JSON or Atom, as defined in the configuration.
#[derive(Debug, Clone, Deserialize)]
pub struct ApiDefinition {
    /// The URL, with placeholders.
    pub url: String,
    /// The format of responses; `None` to use the content type.
    #[serde(default)]
    pub format: Option<Format>,
    /// Headers of every request. Their values may contain environment variables as `${NAME}`. A header with `${NAME?}` is
    /// left out if the variable is not set.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The JSON body of a POST request, with placeholders in its texts; `None` for GET.
    #[serde(default)]
    pub body: Option<serde_json::Value>,
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
    /// The topics that the API covers; empty for all. Web searches for others do not query it.
    #[serde(default)]
    pub topics: Vec<Topic>,
    /// The languages that the API covers, as ISO 639-1 codes; empty for all. Searches in others do not query it.
    #[serde(default)]
    pub languages: Vec<String>,
    /// The hosts of all results, or the domains that they are subdomains of; empty for any. Searches for others do not
    /// query it.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Words of which a query must have one, in lower case; empty for any query. Web searches without do not query it.
    #[serde(default)]
    pub words: Vec<String>,
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

/// A validated definition.
pub(super) struct CheckedDefinition {
    pub(super) origins: Vec<Url>,
    pub(super) url: Template,
    pub(super) format: Option<Format>,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<BodyTemplate>,
    pub(super) results: String,
    pub(super) results_may_be_absent: bool,
    pub(super) fields: Fields,
    pub(super) offers: Vec<SourceKind>,
    pub(super) query: QuerySyntax,
    pub(super) page_size: usize,
    pub(super) first_page: usize,
    pub(super) safe: [String; 2],
    pub(super) language: String,
    pub(super) coverage: Coverage,
}

impl ApiDefinition {
    /// The names of the configuration keys. `fields` and `headers` are tables.
    pub const KEYS: &'static [&'static str] = &[
        "url",
        "format",
        "headers",
        "body",
        "results",
        "results_may_be_absent",
        "fields",
        "offers",
        "query",
        "page_size",
        "first_page",
        "safe",
        "language",
        "topics",
        "languages",
        "hosts",
        "words",
    ];

    /// The names of the keys of `fields`.
    pub const FIELD_KEYS: &'static [&'static str] = Fields::KEYS;

    /// Returns the URL for the first language.
    #[must_use]
    pub fn example_url(&self) -> String {
        self.url.replace("{language}", self.languages.first().map_or(&*self.language, String::as_str))
    }

    pub(super) fn check(
        &self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<CheckedDefinition, DeclarationError> {
        let key = |key, what: &str| DeclarationError::Key { key, what: what.to_owned() };
        if self
            .languages
            .iter()
            .any(|code| code.len() != 2 || !code.bytes().all(|byte| byte.is_ascii_lowercase()))
        {
            return Err(key(
                "languages",
                "a language is an ISO 639-1 code of two lower-case letters, such as en",
            ));
        }
        let (origins, url) = address(&self.url, &self.languages, &variable)?;
        let headers = self.headers(&variable)?;
        let body = self.body.as_ref().map(|body| BodyTemplate::parse(body, &variable)).transpose()?.flatten();
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
            origins,
            url,
            format: self.format,
            headers,
            body,
            results: self.results.clone(),
            results_may_be_absent: self.results_may_be_absent,
            fields: self.fields.clone(),
            offers: self.offers.iter().map(|offer| offer.kind()).collect(),
            query: self.query,
            page_size: self.page_size,
            first_page: self.first_page,
            safe: self.safe.clone(),
            language: self.language.clone(),
            coverage: Coverage {
                topics: self.topics.clone(),
                languages: self.languages.clone(),
                hosts: self.hosts.iter().map(|host| host.to_ascii_lowercase()).collect(),
                words: self.words.iter().map(|word| word.to_lowercase()).collect(),
            },
        })
    }

    fn headers(&self, variable: &impl Fn(&str) -> Option<String>) -> Result<HeaderMap, DeclarationError> {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            if let Some((name, value)) = header(name, value, variable)? {
                headers.insert(name, value);
            }
        }
        Ok(headers)
    }
}

impl CheckedDefinition {
    /// Returns whether the URL or the body has a placeholder.
    pub(super) fn has(&self, placeholder: Placeholder) -> bool {
        self.url.has(placeholder) || self.body.as_ref().is_some_and(|body| body.has(placeholder))
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

/// Parses the URL, and returns the origins that it may have. Its host must be constant except for one of `languages`,
/// because a query must not decide which host gets the headers.
fn address(
    text: &str,
    languages: &[String],
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<(Vec<Url>, Template), DeclarationError> {
    const LANGUAGE: &str = "{language}";

    let text = expand_url(text, variable)?;
    let host_end = text.find("://").and_then(|at| text[at + 3..].find('/').map(|slash| at + 3 + slash));
    let host = &text[..host_end.unwrap_or(text.len())];
    let has_language = host.contains(LANGUAGE) && !languages.is_empty();
    if host.replace(if has_language { LANGUAGE } else { "" }, "").contains('{') {
        return Err(DeclarationError::Url(
            "the host must not have placeholders, except {language} with a list of languages".to_owned(),
        ));
    }
    let template = Template::parse(&text).map_err(DeclarationError::Url)?;
    let languages = if has_language { languages.iter().map(String::as_str).collect() } else { vec!["en"] };
    let origins =
        languages.into_iter().map(|language| origin(&template, language)).collect::<Result<_, _>>()?;
    Ok((origins, template))
}

fn origin(template: &Template, language: &str) -> Result<Url, DeclarationError> {
    let sample = Values { query: "x", limit: 1, offset: 0, page: 1, language, country: "US", safe: "x" };
    let mut origin =
        Url::parse(&template.expand(&sample)).map_err(|error| DeclarationError::Url(error.to_string()))?;
    if !matches!(origin.scheme(), "http" | "https") || !origin.has_host() {
        return Err(DeclarationError::Url("neither http nor https".to_owned()));
    }
    origin.set_path("/");
    origin.set_query(None);
    Ok(origin)
}

/// Replaces the environment variables in a URL, without the parameters whose optional variables are not set.
fn expand_url(text: &str, variable: &impl Fn(&str) -> Option<String>) -> Result<String, DeclarationError> {
    let Some((base, query)) = text.split_once('?').filter(|(_, query)| !query.starts_with('}')) else {
        return expand_variables(text, "url", variable);
    };
    let base = expand_variables(base, "url", variable)?;
    let pairs = query.split('&').filter_map(|pair| expand_optional(pair, "url", variable).transpose());
    let pairs = pairs.collect::<Result<Vec<_>, _>>()?;
    Ok(if pairs.is_empty() { base } else { format!("{base}?{}", pairs.join("&")) })
}

/// Parses a header; `None` if an optional variable in its value is not set.
fn header(
    name: &str,
    value: &str,
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<Option<(HeaderName, HeaderValue)>, DeclarationError> {
    let invalid = |what: &str| DeclarationError::Header { name: name.to_owned(), what: what.to_owned() };
    let value = expand_optional(value, &format!("headers.{name}"), variable)?;
    let header = HeaderName::try_from(name).map_err(|_| invalid("not a valid header name"))?;
    if is_forbidden_header(&header) {
        return Err(invalid("this header must not be set"));
    }
    let Some(value) = value else { return Ok(None) };
    let mut value =
        HeaderValue::try_from(value).map_err(|_| invalid("its value is not allowed in a header"))?;
    value.set_sensitive(true);
    Ok(Some((header, value)))
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
        let host = "url: the host must not have placeholders, except {language} with a list of languages";
        check(&json!({"url": "https://{query}.test/"}), Some(host));
        check(&json!({"url": "https://{language}.a.test/"}), Some(host));
        check(&json!({"url": "https://{language}.a.test/", "languages": ["en", "de"]}), None);
        let language = "languages: a language is an ISO 639-1 code of two lower-case letters, such as en";
        check(&json!({"languages": ["en-US"]}), Some(language));
        check(&json!({"languages": ["a."]}), Some(language));
        check(&json!({"url": "ftp://a.test/{query}"}), Some("url: neither http nor https"));
        check(&json!({"url": "https://a.test/?q={query"}), Some("url: {query has no closing brace"));
        check(
            &json!({"headers": {"X-Key": "${KEY}"}}),
            Some("headers.X-Key needs the environment variable KEY, which is not set"),
        );
        check(&json!({"headers": {"X-Key": "${KEY?}"}}), None);
        check(&json!({"headers": {"Host": "${KEY?}"}}), Some("headers.Host: this header must not be set"));
        check(
            &json!({"body": {"q": "{quary}"}}),
            Some(
                "body: {quary} is not a placeholder; available are {query}, {limit}, {offset}, {start}, {page}, {language}, {country}, {safe}",
            ),
        );
        check(
            &json!({"body": {"key": "${KEY}"}}),
            Some("body needs the environment variable KEY, which is not set"),
        );
        check(&json!({"headers": {"Host": "a"}}), Some("headers.Host: this header must not be set"));
        check(&json!({"headers": {"a b": "c"}}), Some("headers.a b: not a valid header name"));
        check(&json!({"results": "items"}), Some("results: a JSON Pointer is empty or begins with a slash"));
        check(&json!({"fields": {"title": "/t"}}), Some("fields.url: required"));
        check(&json!({"page_size": 0}), Some("page_size: must be at least 1"));
        check(&json!({"offers": ["images"]}), Some("fields.image: required for images"));
    }

    #[test]
    fn parameters_with_missing_variables_are_left_out() {
        let variable = |name: &str| (name == "A").then(|| "1".to_owned());
        for (url, expected) in [
            ("https://a.test/?q=1&k=${B?}", "https://a.test/?q=1"),
            ("https://a.test/?k=${B?}", "https://a.test/"),
            ("https://a.test/?k=${A?}&q=1", "https://a.test/?k=1&q=1"),
            ("https://a.test/${A}/", "https://a.test/1/"),
        ] {
            assert_eq!(expand_url(url, &variable).unwrap(), expected, "{url}");
        }
        assert!(expand_url("https://a.test/${B?}/", &variable).is_err());
    }
}
