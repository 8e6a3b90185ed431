//! The forms of requests that Elasticsearch, OpenSearch and Quickwit accept, by version.
//!
//! The tables have only those forms that websvc uses. Each was compared with the specifications of Elasticsearch
//! (`elastic/elasticsearch-specification`) and OpenSearch (`opensearch-project/opensearch-api-specification`), and with the
//! request types of Quickwit, which has no such document for its Elasticsearch API. The specifications leave the names of
//! analyzers and of statistics open. That of OpenSearch does not have the filters for Chinese, Japanese and Korean, the
//! operator in capitals, which its source accepts, and the list of `terms`. A request in another form fails: add the form
//! here after you have found it in the document of every version.

use http::Method;
use serde_json::Value;
use url::Url;

use crate::test_web::ReceivedRequest;

/// The versions of servers, as bits.
type Versions = u8;
const ELASTICSEARCH_8: Versions = 1;
const ELASTICSEARCH_9: Versions = 1 << 1;
const OPENSEARCH_2: Versions = 1 << 2;
const OPENSEARCH_3: Versions = 1 << 3;
/// Version 0.8.0 rejects `_source` and `highlight` in a search.
const QUICKWIT_0_9: Versions = 1 << 4;
const ELASTIC: Versions = ELASTICSEARCH_8 | ELASTICSEARCH_9 | OPENSEARCH_2 | OPENSEARCH_3;
const ALL: Versions = ELASTIC | QUICKWIT_0_9;

const NAMES: [(Versions, &str); 5] = [
    (ELASTICSEARCH_8, "Elasticsearch 8"),
    (ELASTICSEARCH_9, "Elasticsearch 9"),
    (OPENSEARCH_2, "OpenSearch 2"),
    (OPENSEARCH_3, "OpenSearch 3"),
    (QUICKWIT_0_9, "Quickwit 0.9"),
];

/// The form of a value.
enum Form {
    Text,
    Number,
    Flag,
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// A number and this unit.
    Quantity(&'static str),
    List(&'static Form),
    /// An object with some of these keys.
    Keys(&'static [(&'static str, Form)]),
    /// An object with any keys, such as names of fields.
    Entries(&'static Form),
    /// An object with one key, which is the name of a field.
    Field(&'static Form),
    /// A query by its name, see [`QUERIES`].
    Query,
    /// A field of a mapping.
    Mapping,
    /// A document, whose fields the mapping defines.
    Document,
}

use Form::{Document, Entries, Field, Flag, Keys, List, Mapping, Number, OneOf, Quantity, Query, Text};

/// The body of a request.
enum Body {
    Empty,
    Json(Form),
    /// Lines in pairs: an action of this form, and a document.
    Actions(Form),
}

/// An operation: its name, versions, method, the last segments of its path, its parameters and its body.
type Operation =
    (&'static str, Versions, Method, &'static [&'static str], &'static [(&'static str, Form)], Body);

/// A segment with the name of an index.
const INDEX: &str = "{index}";

const FIELDS: Form = Entries(&Mapping);
const ORDER: Form = Field(&Keys(&[("order", OneOf(&["asc", "desc"]))]));
const HIGHLIGHT: Form = Keys(&[
    ("pre_tags", List(&Text)),
    ("post_tags", List(&Text)),
    ("fields", Entries(&Keys(&[("fragment_size", Number), ("number_of_fragments", Number)]))),
]);
const TERM_SUGGESTER: Form = Keys(&[
    ("field", Text),
    ("suggest_mode", OneOf(&["missing", "popular", "always"])),
    ("size", Number),
    ("sort", OneOf(&["score", "frequency"])),
    ("min_word_length", Number),
    ("max_edits", Number),
]);
const CREATED_INDEX: Form = Keys(&[
    (
        "settings",
        Keys(&[
            (
                "index",
                Keys(&[
                    ("refresh_interval", Quantity("s")),
                    ("number_of_shards", Number),
                    ("number_of_replicas", Number),
                ]),
            ),
            (
                "analysis",
                Keys(&[(
                    "analyzer",
                    Entries(&Keys(&[
                        ("type", OneOf(&["custom"])),
                        ("tokenizer", OneOf(&["standard"])),
                        ("filter", List(&OneOf(&["cjk_width", "lowercase", "asciifolding", "cjk_bigram"]))),
                    ])),
                )]),
            ),
        ]),
    ),
    ("mappings", Keys(&[("dynamic", Flag), ("properties", FIELDS)])),
]);
const QUICKWIT_INDEX: Form = Keys(&[
    ("version", OneOf(&["0.8"])),
    ("index_id", Text),
    (
        "doc_mapping",
        Keys(&[
            ("mode", OneOf(&["lenient"])),
            (
                "field_mappings",
                List(&Keys(&[
                    ("name", Text),
                    ("type", OneOf(&["text", "array<text>", "datetime"])),
                    ("tokenizer", OneOf(&["default", "raw"])),
                    ("record", OneOf(&["position"])),
                    ("fieldnorms", Flag),
                    ("input_formats", List(&OneOf(&["rfc3339"]))),
                    ("fast", Flag),
                    ("indexed", Flag),
                ])),
            ),
        ]),
    ),
    ("indexing_settings", Keys(&[("commit_timeout_secs", Number)])),
]);

/// The keys of the body of a search that all servers accept. Quickwit ignores `_source` and `highlight`.
const QUICKWIT_SEARCH: Form = Keys(&[
    ("query", Query),
    ("from", Number),
    ("size", Number),
    ("sort", List(&ORDER)),
    ("_source", List(&Text)),
    ("track_total_hits", Flag),
    ("highlight", HIGHLIGHT),
]);
const SEARCH: Form = Keys(&[
    ("query", Query),
    ("from", Number),
    ("size", Number),
    ("sort", List(&ORDER)),
    ("_source", List(&Text)),
    ("track_total_hits", Flag),
    ("highlight", HIGHLIGHT),
    (
        "suggest",
        Keys(&[
            ("text", Text),
            ("body", Keys(&[("term", TERM_SUGGESTER)])),
            ("title", Keys(&[("term", TERM_SUGGESTER)])),
        ]),
    ),
]);

const INDEX_ACTION: Form = Keys(&[(
    "index",
    Keys(&[("_index", Text), ("_id", Text), ("version", Number), ("version_type", OneOf(&["external_gte"]))]),
)]);
const IGNORE_UNAVAILABLE: (&str, Form) = ("ignore_unavailable", OneOf(&["true"]));
const CREATE_ACTION: Form = Keys(&[("create", Keys(&[]))]);

/// The operations. Paths with more segments come first.
const OPERATIONS: [Operation; 16] = [
    ("stats", ELASTIC, Method::GET, &[INDEX, "_stats", "docs,store,segments"], &[], Body::Empty),
    (
        "search",
        ELASTIC,
        Method::POST,
        &[INDEX, "_search"],
        &[("timeout", Quantity("ms")), IGNORE_UNAVAILABLE],
        Body::Json(SEARCH),
    ),
    ("bulk", ELASTIC, Method::POST, &[INDEX, "_bulk"], &[], Body::Actions(INDEX_ACTION)),
    ("get mapping", ELASTIC, Method::GET, &[INDEX, "_mapping"], &[], Body::Empty),
    (
        "put mapping",
        ELASTIC,
        Method::PUT,
        &[INDEX, "_mapping"],
        &[],
        Body::Json(Keys(&[("properties", FIELDS)])),
    ),
    ("list indexes", ELASTIC, Method::GET, &[INDEX, "_alias"], &[], Body::Empty),
    ("refresh", ELASTIC, Method::POST, &[INDEX, "_refresh"], &[IGNORE_UNAVAILABLE], Body::Empty),
    (
        "delete by query",
        ELASTIC,
        Method::POST,
        &[INDEX, "_delete_by_query"],
        &[
            ("conflicts", OneOf(&["proceed"])),
            ("refresh", OneOf(&["true"])),
            ("max_docs", Quantity("")),
            IGNORE_UNAVAILABLE,
        ],
        Body::Json(Keys(&[("query", Query)])),
    ),
    ("create index", ELASTIC, Method::PUT, &[INDEX], &[], Body::Json(CREATED_INDEX)),
    ("delete index", ELASTIC, Method::DELETE, &[INDEX], &[], Body::Empty),
    (
        "quickwit search",
        QUICKWIT_0_9,
        Method::POST,
        &["_elastic", INDEX, "_search"],
        &[("timeout", Quantity("ms"))],
        Body::Json(QUICKWIT_SEARCH),
    ),
    (
        "quickwit bulk",
        QUICKWIT_0_9,
        Method::POST,
        &["_elastic", INDEX, "_bulk"],
        &[],
        Body::Actions(CREATE_ACTION),
    ),
    ("quickwit stats", QUICKWIT_0_9, Method::GET, &["indexes", INDEX, "describe"], &[], Body::Empty),
    ("quickwit get index", QUICKWIT_0_9, Method::GET, &["indexes", INDEX], &[], Body::Empty),
    (
        "quickwit delete task",
        QUICKWIT_0_9,
        Method::POST,
        &[INDEX, "delete-tasks"],
        &[],
        Body::Json(Keys(&[("query", Text)])),
    ),
    ("quickwit create index", QUICKWIT_0_9, Method::POST, &["indexes"], &[], Body::Json(QUICKWIT_INDEX)),
];

/// Queries by name, with the versions that accept them. Older versions of Quickwit reject `minimum_should_match`.
const QUERIES: [(&str, Versions, Form); 11] = [
    ("match_all", ALL, Keys(&[("boost", Number)])),
    (
        "bool",
        ALL,
        Keys(&[
            ("must", List(&Query)),
            ("filter", List(&Query)),
            ("should", List(&Query)),
            ("must_not", List(&Query)),
            ("boost", Number),
        ]),
    ),
    ("match", ALL, Field(&Keys(&[("query", Text), ("operator", OneOf(&["AND"]))]))),
    ("match_phrase", ALL, Field(&Keys(&[("query", Text), ("slop", Number)]))),
    ("term", ALL, Field(&Keys(&[("value", Text)]))),
    ("terms", ALL, Field(&List(&Text))),
    ("range", ALL, Field(&Keys(&[("gte", Text), ("lte", Text)]))),
    ("exists", ALL, Keys(&[("field", Text)])),
    ("ids", ELASTIC, Keys(&[("values", List(&Text))])),
    (
        "distance_feature",
        ELASTIC,
        Keys(&[("field", Text), ("origin", Text), ("pivot", Quantity("d")), ("boost", Number)]),
    ),
    (
        "more_like_this",
        ELASTIC,
        Keys(&[
            ("fields", List(&Text)),
            ("like", Text),
            ("min_term_freq", Number),
            ("min_doc_freq", Number),
            ("max_query_terms", Number),
            ("minimum_should_match", Text),
        ]),
    ),
];

/// The analyzers that are built into Elasticsearch and OpenSearch, and the one that websvc defines.
const ANALYZERS: Form = OneOf(&[
    "websvc",
    "arabic",
    "danish",
    "dutch",
    "english",
    "finnish",
    "french",
    "german",
    "greek",
    "hungarian",
    "italian",
    "norwegian",
    "portuguese",
    "romanian",
    "russian",
    "spanish",
    "swedish",
    "turkish",
]);

/// The keys of a field by its type; an object has only fields.
const MAPPINGS: [(&str, Form); 4] = [
    (
        "text",
        Keys(&[
            ("type", Text),
            ("analyzer", ANALYZERS),
            ("index_options", OneOf(&["docs", "freqs", "positions", "offsets"])),
        ]),
    ),
    ("keyword", Keys(&[("type", Text), ("ignore_above", Number), ("index", Flag), ("doc_values", Flag)])),
    ("date", Keys(&[("type", Text)])),
    ("", Keys(&[("properties", FIELDS)])),
];

/// Checks that all versions of a server accept a request, and returns the name of the operation.
///
/// # Errors
/// The part that a version does not accept.
pub(crate) fn check(request: &ReceivedRequest, is_quickwit: bool) -> Result<&'static str, String> {
    let servers = if is_quickwit { QUICKWIT_0_9 } else { ELASTIC };
    let url = Url::parse(&request.url).map_err(|error| error.to_string())?;
    let segments: Vec<&str> = url.path_segments().into_iter().flatten().collect();
    let is_called = |(_, versions, method, path, ..): &&Operation| {
        let end = segments.len().checked_sub(path.len()).map(|start| &segments[start..]);
        let is_same = |(expected, segment): (&&str, &&str)| {
            expected == segment || (*expected == INDEX && !segment.starts_with('_'))
        };
        let is_path = end.is_some_and(|end| path.iter().zip(end).all(is_same));
        versions & servers == servers && *method == request.method && is_path
    };
    let Some((name, _, _, _, params, body)) = OPERATIONS.iter().find(is_called) else {
        return Err(format!("unknown operation: {} {}", request.method, url.path()));
    };
    for (key, value) in url.query_pairs() {
        let form = params.iter().find(|(known, _)| *known == key).map(|(_, form)| form);
        let form = form.ok_or_else(|| format!("{name}: unrecognized parameter: [{key}]"))?;
        form.check(&Value::String(value.into_owned()), servers, &format!("{name}: {key}"))?;
    }
    check_body(body, &request.body, servers, name)?;
    Ok(name)
}

/// Returns the names of all operations of a server.
pub(crate) fn operations(is_quickwit: bool) -> Vec<&'static str> {
    let servers = if is_quickwit { QUICKWIT_0_9 } else { ELASTIC };
    let served = OPERATIONS.iter().filter(|(_, versions, ..)| versions & servers != 0);
    served.map(|(name, ..)| *name).collect()
}

fn check_body(body: &Body, bytes: &[u8], servers: Versions, name: &str) -> Result<(), String> {
    let parse = |bytes: &[u8]| {
        serde_json::from_slice::<Value>(bytes).map_err(|error| format!("{name}: not JSON: {error}"))
    };
    match body {
        Body::Empty if bytes.is_empty() => Ok(()),
        Body::Empty => Err(format!("{name}: the request must have no body")),
        Body::Json(form) => form.check(&parse(bytes)?, servers, name),
        Body::Actions(form) => {
            let lines: Vec<&[u8]> =
                bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
            for (at, line) in lines.iter().enumerate() {
                let form = if at % 2 == 0 { form } else { &Document };
                form.check(&parse(line)?, servers, &format!("{name}: line {}", at + 1))?;
            }
            Ok(())
        }
    }
}

impl Form {
    /// Checks that the versions in `servers` accept a value. `path` is its place in the request.
    fn check(&self, value: &Value, servers: Versions, path: &str) -> Result<(), String> {
        let holds = match (self, value) {
            (Text, value) => value.is_string(),
            (Number, value) => value.is_number(),
            (Flag, value) => value.is_boolean(),
            (OneOf(texts), value) => value.as_str().is_some_and(|text| texts.contains(&text)),
            (Quantity(unit), value) => {
                let number = value.as_str().and_then(|text| text.strip_suffix(unit));
                number.is_some_and(|number| number.parse::<u64>().is_ok())
            }
            (List(form), Value::Array(list)) => {
                return list.iter().try_for_each(|inner| form.check(inner, servers, path));
            }
            (Keys(keys), Value::Object(object)) => {
                for (key, inner) in object {
                    let form = keys.iter().find(|(known, _)| known == key).map(|(_, form)| form);
                    let form = form.ok_or_else(|| format!("{path}: unknown key [{key}]"))?;
                    form.check(inner, servers, &format!("{path}.{key}"))?;
                }
                true
            }
            (Entries(form), Value::Object(object)) => {
                return object
                    .iter()
                    .try_for_each(|(key, inner)| form.check(inner, servers, &format!("{path}.{key}")));
            }
            (Field(form), Value::Object(object)) if object.len() == 1 => {
                return object
                    .iter()
                    .try_for_each(|(key, inner)| form.check(inner, servers, &format!("{path}.{key}")));
            }
            (Query, Value::Object(object)) if object.len() == 1 => {
                return object.iter().try_for_each(|(name, inner)| check_query(name, inner, servers, path));
            }
            (Mapping, Value::Object(object)) => {
                let kind = object.get("type").and_then(Value::as_str).unwrap_or_default();
                let form = MAPPINGS.iter().find(|(known, _)| *known == kind).map(|(_, form)| form);
                return form
                    .ok_or_else(|| format!("{path}: unknown type [{kind}]"))?
                    .check(value, servers, path);
            }
            (Document, value) => value.is_object(),
            (List(_) | Keys(_) | Entries(_) | Field(_) | Query | Mapping, _) => false,
        };
        holds.then_some(()).ok_or_else(|| format!("{path}: malformed value {value}"))
    }
}

fn check_query(name: &str, body: &Value, servers: Versions, path: &str) -> Result<(), String> {
    let Some((_, versions, form)) = QUERIES.iter().find(|(known, ..)| *known == name) else {
        return Err(format!("{path}: unknown query [{name}]"));
    };
    if let Some((_, server)) = NAMES.iter().find(|(version, _)| servers & version & !versions != 0) {
        return Err(format!("{path}: {server} has no query [{name}]"));
    }
    form.check(body, servers, &format!("{path}.{name}"))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use http::HeaderMap;

    use super::*;

    fn check_of(method: Method, path: &str, body: &str, is_quickwit: bool) -> Result<&'static str, String> {
        let request = ReceivedRequest {
            method,
            url: format!("http://es.test/{path}"),
            headers: HeaderMap::new(),
            body: body.to_owned().into(),
            received_at: Instant::now(),
            in_flight: 1,
        };
        check(&request, is_quickwit)
    }

    #[test]
    fn part_that_a_version_does_not_accept_is_named() {
        let search = |body: &str| check_of(Method::POST, "pages/_search", body, false);
        assert_eq!(search(r#"{"query": {"match": {"body": {"query": "tea"}}}}"#), Ok("search"));
        let cases = [
            (r#"{"explain": true}"#, "search: unknown key [explain]"),
            (r#"{"size": "10"}"#, "search.size: malformed value \"10\""),
            (r#"{"query": {"fuzzy": {}}}"#, "search.query: unknown query [fuzzy]"),
            (
                r#"{"query": {"match": {"body": {"query": "tea", "fuzziness": 1}}}}"#,
                "search.query.match.body: unknown key [fuzziness]",
            ),
        ];
        for (body, expected) in cases {
            assert_eq!(search(body), Err(expected.to_owned()));
        }
        let reason = check_of(Method::POST, "pages/_search?preference=x", "{}", false);
        assert_eq!(reason, Err("search: unrecognized parameter: [preference]".to_owned()));
        let reason = check_of(Method::POST, "pages/_update_by_query", "{}", false);
        assert_eq!(reason, Err("unknown operation: POST /pages/_update_by_query".to_owned()));
        let ids = r#"{"query": {"ids": {"values": []}}}"#;
        assert_eq!(search(ids), Ok("search"));
        let reason = check_of(Method::POST, "api/v1/_elastic/pages/_search", ids, true);
        assert_eq!(reason, Err("quickwit search.query: Quickwit 0.9 has no query [ids]".to_owned()));
    }
}
