//! Where a server is and how it is spoken to: addresses, credentials, and what is particular to Quickwit.

use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use serde::Deserialize;
use serde_json::Value;
use url::Url;
use websvc_transport::FetchRequest;

use super::mapping;
use crate::source::EndpointConfig;
use crate::source::http_json::{DeclarationError, filled};

/// What the configuration says of a server.
#[derive(Debug, Clone, Deserialize)]
pub struct ElasticsearchDeclaration {
    /// Where it is; of Quickwit with `/api/v1/_elastic`.
    pub url: String,
    /// The index.
    pub index: String,
    /// Whether pages are written to it.
    #[serde(default)]
    pub write: bool,
    /// With `password`, for basic authentication. These may name environment variables as `${NAME}`.
    #[serde(default)]
    pub username: Option<String>,
    /// See `username`.
    #[serde(default)]
    pub password: Option<String>,
    /// An API key as the server gives it, in place of a user.
    #[serde(default)]
    pub api_key: Option<String>,
}

/// A server, checked, its secrets filled in.
#[derive(Debug, Clone)]
pub struct ElasticsearchConfig {
    pub(super) name: String,
    pub(super) server: Server,
    pub(super) endpoint: EndpointConfig,
}

/// How a server differs from Elasticsearch, which OpenSearch does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Elasticsearch,
    /// It knows no identities of documents, and makes indexes by an API of its own.
    Quickwit,
}

/// Where a server is and how it is spoken to.
#[derive(Clone)]
pub(super) struct Server {
    url: Url,
    index: String,
    headers: HeaderMap,
    pub(super) dialect: Dialect,
}

impl ElasticsearchDeclaration {
    /// The names of the keys, as the configuration spells them.
    pub const KEYS: &'static [&'static str] = &["url", "index", "write", "username", "password", "api_key"];
}

impl ElasticsearchConfig {
    /// Checks a declaration. `variable` gives the values of `${NAME}`.
    ///
    /// # Errors
    /// [`DeclarationError`] names the key and what is wrong with it.
    pub fn new(
        name: String,
        declaration: &ElasticsearchDeclaration,
        endpoint: EndpointConfig,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, DeclarationError> {
        let ElasticsearchDeclaration { url, index, write: _, username, password, api_key } = declaration;
        let mut url = Url::parse(&filled(url, "url", &variable)?)
            .map_err(|error| DeclarationError::Url(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(DeclarationError::Url("it is neither http nor https".to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            let what = "give username and password as keys of their own".to_owned();
            return Err(DeclarationError::Url(what));
        }
        url.set_query(None);
        url.set_fragment(None);
        let path = url.path().trim_end_matches('/').to_owned();
        url.set_path(&path);
        let dialect = if path.ends_with("/_elastic") { Dialect::Quickwit } else { Dialect::Elasticsearch };
        check_index(index)?;
        let fill = |key: &str, value: &Option<String>| {
            value.as_deref().map(|value| filled(value, key, &variable)).transpose()
        };
        let user = (fill("username", username)?, fill("password", password)?);
        let headers = credentials(user, fill("api_key", api_key)?)?;
        Ok(Self { name, server: Server { url, index: index.clone(), headers, dialect }, endpoint })
    }

    /// Returns the address of the server: for the guard of the client.
    #[must_use]
    pub fn origin(&self) -> &Url {
        &self.server.url
    }
}

impl Server {
    pub(super) fn index(&self) -> &str {
        &self.index
    }

    /// Returns a search that the server ends with what it has found, before `patience` is over.
    pub(super) fn search(&self, body: &Value, patience: Duration) -> FetchRequest {
        let mut url = self.at(&[&self.index, "_search"]);
        url.query_pairs_mut().append_pair("timeout", &format!("{}ms", (patience * 4 / 5).as_millis()));
        self.post(url, "application/json", body.to_string())
    }

    pub(super) fn bulk(&self, lines: Bytes) -> FetchRequest {
        self.post(self.at(&[&self.index, "_bulk"]), "application/x-ndjson", lines)
    }

    /// Returns the question whether the index exists, and how its fields are.
    pub(super) fn index_exists_request(&self) -> FetchRequest {
        let url = match self.dialect {
            Dialect::Elasticsearch => self.at(&[&self.index, "_mapping"]),
            Dialect::Quickwit => self.quickwit_url(&["indexes", &self.index]),
        };
        let mut request = FetchRequest::get(url);
        request.headers.clone_from(&self.headers);
        request
    }

    /// Returns the request that makes the index.
    pub(super) fn create_index_request(&self) -> FetchRequest {
        let (method, url, body) = match self.dialect {
            Dialect::Elasticsearch => (Method::PUT, self.at(&[&self.index]), mapping::elasticsearch_index()),
            Dialect::Quickwit => {
                (Method::POST, self.quickwit_url(&["indexes"]), mapping::quickwit_index(&self.index))
            }
        };
        FetchRequest { method, ..self.post(url, "application/json", body.to_string()) }
    }

    fn post(&self, url: Url, content_type: &'static str, body: impl Into<Bytes>) -> FetchRequest {
        let mut request = FetchRequest::post(url, body);
        request.headers.clone_from(&self.headers);
        request.headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        request
    }

    fn at(&self, segments: &[&str]) -> Url {
        let mut url = self.url.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }

    /// Returns an address of Quickwit's own API, beside `_elastic`.
    fn quickwit_url(&self, segments: &[&str]) -> Url {
        let mut url = self.url.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().pop().extend(segments);
        }
        url
    }
}

/// Without credentials.
impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("index", &self.index).finish_non_exhaustive()
    }
}

/// Checks the name by the rules of Elasticsearch: it becomes part of addresses.
fn check_index(index: &str) -> Result<(), DeclarationError> {
    let is_one = (1..=255).contains(&index.len())
        && !index.starts_with(['-', '_', '+', '.'])
        && index.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'+'));
    if is_one {
        return Ok(());
    }
    let what =
        "an index has a name of lower case letters, digits and hyphens that begins with a letter or digit";
    Err(DeclarationError::Key { key: "index", what: what.to_owned() })
}

fn credentials(
    user: (Option<String>, Option<String>),
    api_key: Option<String>,
) -> Result<HeaderMap, DeclarationError> {
    let key = |key, what: &str| DeclarationError::Key { key, what: what.to_owned() };
    let text = match (user, api_key) {
        ((None, None), None) => return Ok(HeaderMap::new()),
        ((Some(name), Some(password)), None) => {
            format!("Basic {}", base64(format!("{name}:{password}").as_bytes()))
        }
        ((None, None), Some(api_key)) => format!("ApiKey {api_key}"),
        ((None, Some(_)), None) => return Err(key("username", "it is missing beside password")),
        ((Some(_), None), None) => return Err(key("password", "it is missing beside username")),
        (_, Some(_)) => return Err(key("api_key", "it stands in place of username and password")),
    };
    let mut value =
        HeaderValue::try_from(text).map_err(|_| key("api_key", "it cannot be sent in a header"))?;
    value.set_sensitive(true);
    Ok(HeaderMap::from_iter([(AUTHORIZATION, value)]))
}

/// Encodes bytes as RFC 4648 section 4 says.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at)) as usize & 63];
            text.push(if at <= group.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
    fn credentials_become_a_header_and_mistakes_are_named() {
        check(&json!({}), Ok(""));
        check(&json!({"username": "u", "password": "${SECRET}"}), Ok("Basic dTpwYXNz"));
        check(&json!({"api_key": "${SECRET}"}), Ok("ApiKey pass"));
        check(
            &json!({"api_key": "${OTHER}"}),
            Err("api_key needs the environment variable OTHER, which is not set"),
        );
        check(&json!({"username": "u"}), Err("password: it is missing beside username"));
        check(&json!({"password": "u"}), Err("username: it is missing beside password"));
        check(
            &json!({"username": "u", "password": "p", "api_key": "k"}),
            Err("api_key: it stands in place of username and password"),
        );
        check(&json!({"url": "ftp://a.test"}), Err("url: it is neither http nor https"));
        check(
            &json!({"url": "http://u:p@a.test"}),
            Err("url: give username and password as keys of their own"),
        );
        for index in ["", "Pages", "a/b", "_all", "a*", "a,b", ".."] {
            let what = "index: an index has a name of lower case letters, digits and hyphens that begins with a \
                        letter or digit";
            check(&json!({ "index": index }), Err(what));
        }
    }

    #[test]
    fn base64_is_padded() {
        assert_eq!(
            ["", "a", "ab", "abc", "abcd"].map(|text| base64(text.as_bytes())),
            ["", "YQ==", "YWI=", "YWJj", "YWJjZA=="]
        );
    }
}
