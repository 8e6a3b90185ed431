//! The URLs, the credentials and the dialect of a server.

mod teams;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;
use websvc_transport::FetchRequest;

use super::mapping::{self, IndexLayout};
use super::stems::Stems;
use crate::source::EndpointConfig;
use crate::source::http_json::{DeclarationError, expand_variables};

/// The configuration of a server.
#[derive(Debug, Clone, Deserialize)]
pub struct ElasticsearchDeclaration {
    /// The URL; for Quickwit it ends with `/api/v1/_elastic`.
    pub url: String,
    /// The name of the index.
    pub index: String,
    /// New pages are written to it.
    #[serde(default)]
    pub write: bool,
    /// The number of primary shards of an index that websvc creates; the default of the server if not set.
    #[serde(default)]
    pub shards: Option<u32>,
    /// The number of copies of each shard of an index that websvc creates; the default of the server if not set.
    #[serde(default)]
    pub replicas: Option<u32>,
    /// The two-letter codes of the languages whose words are stemmed, the main language first.
    #[serde(default)]
    pub languages: Option<Vec<String>>,
    /// The number of waiting pages from which on no page is accepted.
    #[serde(default)]
    pub outbox_max_pages: Option<u64>,
    /// The size of waiting pages, before compression, from which on no page is accepted.
    #[serde(default)]
    pub outbox_max_bytes: Option<u64>,
    /// The time for which the oldest page waits before warnings, in milliseconds.
    #[serde(default)]
    pub outbox_max_lag_ms: Option<u64>,
    /// The user name for basic authentication, with `password`. Both may contain environment variables as `${NAME}`.
    #[serde(default)]
    pub username: Option<String>,
    /// The password for basic authentication.
    #[serde(default)]
    pub password: Option<String>,
    /// An API key of the server, instead of a user name and a password.
    #[serde(default)]
    pub api_key: Option<String>,
}

/// A validated server configuration with its secrets.
#[derive(Debug, Clone)]
pub struct ElasticsearchConfig {
    pub(super) name: String,
    pub(super) server: Server,
    pub(super) endpoint: EndpointConfig,
    pub(super) outbox_limits: OutboxLimits,
}

/// The limits of the outbox of pages that wait for a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutboxLimits {
    /// The number of waiting pages from which on no page is accepted.
    pub max_pages: u64,
    /// The size of waiting pages, before compression, from which on no page is accepted.
    pub max_bytes: u64,
    /// The time for which the oldest page waits before the server counts as late.
    pub max_lag: Duration,
}

impl Default for OutboxLimits {
    fn default() -> Self {
        Self { max_pages: 100_000, max_bytes: 2 * 1024 * 1024 * 1024, max_lag: Duration::from_secs(60) }
    }
}

/// The kind of a server. OpenSearch does not differ from Elasticsearch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Elasticsearch,
    /// It has no document IDs, and an API of its own to create indexes.
    Quickwit,
}

/// The URL and the credentials of a server.
#[derive(Clone)]
pub(super) struct Server {
    url: Url,
    index: String,
    headers: HeaderMap,
    pub(super) dialect: Dialect,
    layout: IndexLayout,
    /// The stemmed languages; `None` if the server cannot stem them.
    pub(super) stems: Option<Stems>,
    /// The beginning of the names of the indexes of single teams; `None` if teams have no index of their own.
    team_prefix: Option<String>,
    /// The index may not exist yet, and is then empty for searches and deletions.
    is_optional: bool,
}

impl ElasticsearchDeclaration {
    /// The names of the configuration keys.
    pub const KEYS: &'static [&'static str] = &[
        "url",
        "index",
        "write",
        "shards",
        "replicas",
        "languages",
        "outbox_max_pages",
        "outbox_max_bytes",
        "outbox_max_lag_ms",
        "username",
        "password",
        "api_key",
    ];
}

impl ElasticsearchConfig {
    /// Validates a declaration. `variable` returns the values of environment variables.
    ///
    /// # Errors
    /// [`DeclarationError`] with the invalid key.
    pub fn new(
        name: String,
        declaration: &ElasticsearchDeclaration,
        endpoint: EndpointConfig,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, DeclarationError> {
        let ElasticsearchDeclaration {
            url,
            index,
            write,
            shards,
            replicas,
            languages,
            outbox_max_pages,
            outbox_max_bytes,
            outbox_max_lag_ms,
            username,
            password,
            api_key,
        } = declaration;
        let mut url = Url::parse(&expand_variables(url, "url", &variable)?)
            .map_err(|error| DeclarationError::Url(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(DeclarationError::Url("neither http nor https".to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            let what = "use the keys username and password for credentials".to_owned();
            return Err(DeclarationError::Url(what));
        }
        url.set_query(None);
        url.set_fragment(None);
        let path = url.path().trim_end_matches('/').to_owned();
        url.set_path(&path);
        let dialect = if path.ends_with("/_elastic") { Dialect::Quickwit } else { Dialect::Elasticsearch };
        check_index(index)?;
        let layout = IndexLayout { shards: *shards, replicas: *replicas };
        layout.check(*write, dialect)?;
        let stems = match (dialect, languages) {
            (Dialect::Elasticsearch, languages) => Some(Stems::new(languages.as_deref())?),
            (Dialect::Quickwit, None) => None,
            (Dialect::Quickwit, Some(_)) => {
                let what = "Quickwit has no analyzers for them: remove the key".to_owned();
                return Err(DeclarationError::Key { key: "languages", what });
            }
        };
        let outbox_limits = outbox_limits(*write, *outbox_max_pages, *outbox_max_bytes, *outbox_max_lag_ms)?;
        let fill = |key: &str, value: &Option<String>| {
            value.as_deref().map(|value| expand_variables(value, key, &variable)).transpose()
        };
        let headers =
            credentials(fill("username", username)?, fill("password", password)?, fill("api_key", api_key)?)?;
        let index = index.clone();
        let (team_prefix, is_optional) = (None, false);
        let server = Server { url, index, headers, dialect, layout, stems, team_prefix, is_optional };
        Ok(Self { name, server, endpoint, outbox_limits })
    }

    /// Returns the URL of the server, which the address guard of the client must allow.
    #[must_use]
    pub fn origin(&self) -> &Url {
        &self.server.url
    }
}

impl Server {
    pub(super) fn index(&self) -> &str {
        &self.index
    }

    /// Returns a search request. The server ends the search before `timeout`, with the results so far.
    pub(super) fn search(&self, body: &Value, timeout: Duration) -> FetchRequest {
        let mut url = self.url_of(&[&self.index, "_search"]);
        url.query_pairs_mut().append_pair("timeout", &format!("{}ms", (timeout * 4 / 5).as_millis()));
        self.post(self.optional(url), "application/json", body.to_string())
    }

    pub(super) fn bulk(&self, lines: Bytes) -> FetchRequest {
        self.post(self.url_of(&[&self.index, "_bulk"]), "application/x-ndjson", lines)
    }

    /// Returns the request for the mapping of the index, which fails if the index does not exist.
    pub(super) fn index_exists_request(&self) -> FetchRequest {
        let url = match self.dialect {
            Dialect::Elasticsearch => self.url_of(&[&self.index, "_mapping"]),
            Dialect::Quickwit => self.quickwit_url(&["indexes", &self.index]),
        };
        let mut request = FetchRequest::get(url);
        request.headers.clone_from(&self.headers);
        request
    }

    /// Returns the request that creates the index.
    pub(super) fn create_index_request(&self) -> FetchRequest {
        let (method, url, body) = match &self.stems {
            Some(stems) => {
                let body = mapping::elasticsearch_index(self.layout, stems);
                (Method::PUT, self.url_of(&[&self.index]), body)
            }
            None => (Method::POST, self.quickwit_url(&["indexes"]), mapping::quickwit_index(&self.index)),
        };
        FetchRequest { method, ..self.post(url, "application/json", body.to_string()) }
    }

    /// Returns the request that adds fields to the mapping of an index of Elasticsearch or OpenSearch. `index` is the
    /// index of the configuration, or one to which it is an alias.
    pub(super) fn add_fields(&self, index: &str, properties: &Value) -> FetchRequest {
        let url = self.url_of(&[index, "_mapping"]);
        let body = json!({"properties": properties}).to_string();
        FetchRequest { method: Method::PUT, ..self.post(url, "application/json", body) }
    }

    /// Returns the request that makes all written documents searchable.
    pub(super) fn refresh(&self) -> FetchRequest {
        self.post(self.optional(self.url_of(&[&self.index, "_refresh"])), "application/json", "")
    }

    /// Returns the request that deletes at most `max` documents that match a query, and makes that searchable.
    pub(super) fn delete_by_query(&self, query: &Value, max: usize) -> FetchRequest {
        let mut url = self.url_of(&[&self.index, "_delete_by_query"]);
        let pairs = [("conflicts", "proceed"), ("refresh", "true"), ("max_docs", &max.to_string())];
        url.query_pairs_mut().extend_pairs(pairs);
        self.post(self.optional(url), "application/json", json!({ "query": query }).to_string())
    }

    /// Adds that the index may be missing, if it may.
    fn optional(&self, mut url: Url) -> Url {
        if self.is_optional {
            url.query_pairs_mut().append_pair("ignore_unavailable", "true");
        }
        url
    }

    /// Returns the request that lets Quickwit delete documents later. `query` is in its own query language.
    pub(super) fn quickwit_delete_task(&self, query: &str) -> FetchRequest {
        let url = self.quickwit_url(&[&self.index, "delete-tasks"]);
        self.post(url, "application/json", json!({ "query": query }).to_string())
    }

    /// Returns the request for the size of the index.
    pub(super) fn stats(&self) -> FetchRequest {
        let url = match self.dialect {
            Dialect::Elasticsearch => self.url_of(&[&self.index, "_stats", "docs,store,segments"]),
            Dialect::Quickwit => self.quickwit_url(&["indexes", &self.index, "describe"]),
        };
        let mut request = FetchRequest::get(url);
        request.headers.clone_from(&self.headers);
        request
    }

    fn post(&self, url: Url, content_type: &'static str, body: impl Into<Bytes>) -> FetchRequest {
        let mut request = FetchRequest::post(url, body);
        request.headers.clone_from(&self.headers);
        request.headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        request
    }

    fn url_of(&self, segments: &[&str]) -> Url {
        let mut url = self.url.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }

    /// Returns a URL of Quickwit's own API, which is next to `_elastic`.
    fn quickwit_url(&self, segments: &[&str]) -> Url {
        let mut url = self.url.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().pop().extend(segments);
        }
        url
    }
}

/// Omits the credentials.
impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("index", &self.index).finish_non_exhaustive()
    }
}

/// The maximum number of primary shards, as in Elasticsearch and OpenSearch.
const MAX_SHARDS: u32 = 1024;

/// The maximum number of copies of a shard. A copy needs a node of its own, so more are certainly a mistake.
const MAX_REPLICAS: u32 = 100;

impl IndexLayout {
    fn check(self, write: bool, dialect: Dialect) -> Result<(), DeclarationError> {
        let Self { shards, replicas } = self;
        for (key, value, valid) in
            [("shards", shards, 1..=MAX_SHARDS), ("replicas", replicas, 0..=MAX_REPLICAS)]
        {
            let Some(value) = value else { continue };
            let what = match dialect {
                Dialect::Quickwit => "Quickwit has no such setting: remove the key".to_owned(),
                Dialect::Elasticsearch if !write => {
                    "has an effect only with `write = true`, when websvc creates the index".to_owned()
                }
                Dialect::Elasticsearch if !valid.contains(&value) => {
                    format!("must be between {} and {}, not {value}", valid.start(), valid.end())
                }
                Dialect::Elasticsearch => continue,
            };
            return Err(DeclarationError::Key { key, what });
        }
        Ok(())
    }
}

/// Returns the limits of the outbox, with defaults for those that are not set.
fn outbox_limits(
    write: bool,
    max_pages: Option<u64>,
    max_bytes: Option<u64>,
    max_lag_ms: Option<u64>,
) -> Result<OutboxLimits, DeclarationError> {
    for (key, value) in
        [("outbox_max_pages", max_pages), ("outbox_max_bytes", max_bytes), ("outbox_max_lag_ms", max_lag_ms)]
    {
        let what = match value {
            Some(_) if !write => "has an effect only with `write = true`: pages wait only to be written",
            Some(0) => "must be at least 1, not 0",
            Some(_) | None => continue,
        };
        return Err(DeclarationError::Key { key, what: what.to_owned() });
    }
    let defaults = OutboxLimits::default();
    Ok(OutboxLimits {
        max_pages: max_pages.unwrap_or(defaults.max_pages),
        max_bytes: max_bytes.unwrap_or(defaults.max_bytes),
        max_lag: max_lag_ms.map_or(defaults.max_lag, Duration::from_millis),
    })
}

/// Validates an index name by the rules of Elasticsearch, because it becomes part of URLs.
fn check_index(index: &str) -> Result<(), DeclarationError> {
    let is_valid = (1..=255).contains(&index.len())
        && !index.starts_with(['-', '_', '+', '.'])
        && index.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'+'));
    if is_valid {
        return Ok(());
    }
    let what = "an index name has lower case letters, digits and hyphens, and begins with a letter or digit";
    Err(DeclarationError::Key { key: "index", what: what.to_owned() })
}

fn credentials(
    username: Option<String>,
    password: Option<String>,
    api_key: Option<String>,
) -> Result<HeaderMap, DeclarationError> {
    let key = |key, what: &str| DeclarationError::Key { key, what: what.to_owned() };
    let text = match (username, password, api_key) {
        (None, None, None) => return Ok(HeaderMap::new()),
        (Some(name), Some(password), None) => {
            format!("Basic {}", STANDARD.encode(format!("{name}:{password}")))
        }
        (None, None, Some(api_key)) => format!("ApiKey {api_key}"),
        (None, Some(_), None) => return Err(key("username", "required with password")),
        (Some(_), None, None) => return Err(key("password", "required with username")),
        (_, _, Some(_)) => return Err(key("api_key", "must not be combined with username and password")),
    };
    let mut value = HeaderValue::try_from(text).map_err(|_| key("api_key", "not allowed in a header"))?;
    value.set_sensitive(true);
    Ok(HeaderMap::from_iter([(AUTHORIZATION, value)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(changes: &Value, expected: Result<&str, &str>) {
        let mut declared = json!({"url": "http://es.test:9200/", "index": "pages"});
        declared.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        let declared: ElasticsearchDeclaration = serde_json::from_value(declared).unwrap();
        let variable = |name: &str| (name == "SECRET").then(|| "pass".to_owned());
        let config =
            ElasticsearchConfig::new("es".to_owned(), &declared, EndpointConfig::default(), variable);
        let header = config.map(|config| {
            let header = config.server.headers.get(AUTHORIZATION);
            header.map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
        });
        let header = header.map_err(|error| error.to_string());
        assert_eq!(header.as_deref().map_err(String::as_str), expected, "{changes}");
    }

    #[test]
    fn credentials_become_a_header_and_invalid_keys_are_named() {
        check(&json!({}), Ok(""));
        check(&json!({"username": "u", "password": "${SECRET}"}), Ok("Basic dTpwYXNz"));
        check(&json!({"api_key": "${SECRET}"}), Ok("ApiKey pass"));
        check(
            &json!({"api_key": "${OTHER}"}),
            Err("api_key needs the environment variable OTHER, which is not set"),
        );
        check(&json!({"username": "u"}), Err("password: required with username"));
        check(&json!({"password": "u"}), Err("username: required with password"));
        check(
            &json!({"username": "u", "password": "p", "api_key": "k"}),
            Err("api_key: must not be combined with username and password"),
        );
        check(&json!({"url": "ftp://a.test"}), Err("url: neither http nor https"));
        check(
            &json!({"url": "http://u:p@a.test"}),
            Err("url: use the keys username and password for credentials"),
        );
        check(&json!({"write": true, "shards": 1024, "replicas": 0}), Ok(""));
        for (changes, expected) in [
            (json!({"write": true, "shards": 0}), "shards: must be between 1 and 1024, not 0"),
            (json!({"write": true, "replicas": 101}), "replicas: must be between 0 and 100, not 101"),
            (
                json!({"shards": 3}),
                "shards: has an effect only with `write = true`, when websvc creates the index",
            ),
            (json!({"write": true, "outbox_max_bytes": 0}), "outbox_max_bytes: must be at least 1, not 0"),
            (
                json!({"outbox_max_pages": 5}),
                "outbox_max_pages: has an effect only with `write = true`: pages wait only to be written",
            ),
            (
                json!({"url": "http://q.test/api/v1/_elastic", "write": true, "replicas": 1}),
                "replicas: Quickwit has no such setting: remove the key",
            ),
            (
                json!({"url": "http://q.test/api/v1/_elastic", "languages": ["en"]}),
                "languages: Quickwit has no analyzers for them: remove the key",
            ),
            (json!({"languages": []}), "languages: must have 1 to 4 languages, not 0"),
        ] {
            check(&changes, Err(expected));
        }
        for index in ["", "Pages", "a/b", "_all", "a*", "a,b", ".."] {
            let what = "index: an index name has lower case letters, digits and hyphens, and begins with a letter or digit";
            check(&json!({ "index": index }), Err(what));
        }
    }
}
