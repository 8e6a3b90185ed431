//! A stand-in for Elasticsearch, OpenSearch and Quickwit: their `_search` and `_bulk` over documents it holds.
//!
//! It checks what it is sent as they do, and fails as they do when a test says so.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::Method;
use serde_json::{Value, json};
use url::Url;

use crate::elastic_query::{Refusal, Types, score, tokens, words};
use crate::page::Page;
use crate::test_web::{ReceivedRequest, TestWebBuilder};

/// Keys that Quickwit accepts in the body of a search; it rejects all others.
const QUICKWIT_BODY: [&str; 12] = [
    "from",
    "size",
    "query",
    "sort",
    "aggs",
    "track_total_hits",
    "stored_fields",
    "search_after",
    "_source",
    "docvalue_fields",
    "highlight",
    "version",
];

/// Keys that Elasticsearch accepts in the body of a search, as far as callers of this stand-in use them.
const ELASTIC_BODY: [&str; 8] =
    ["from", "size", "query", "sort", "track_total_hits", "_source", "highlight", "timeout"];

#[derive(Debug, Default)]
struct State {
    types: Option<Types>,
    documents: BTreeMap<String, Value>,
    authorization: Option<String>,
    is_quickwit: bool,
    failed_shards: u64,
    is_timed_out: bool,
    /// Answers to the next requests of `_search` and of `_bulk`, whatever is asked.
    faults: Vec<(&'static str, Page)>,
    busy_items: usize,
    refused: Option<String>,
    max_bytes: Option<usize>,
    bulks: usize,
}

/// A server with one index. Cheap to clone; the clones share what it holds.
#[derive(Debug, Clone)]
pub struct FakeElasticsearch {
    index: &'static str,
    state: Arc<Mutex<State>>,
}

impl FakeElasticsearch {
    /// Returns a server without the index of this name.
    #[must_use]
    pub fn new(index: &'static str) -> Self {
        Self { index, state: Arc::default() }
    }

    /// Makes it behave as Quickwit: no highlights, no identities of documents, stricter bodies.
    #[must_use]
    pub fn quickwit(self) -> Self {
        self.state().is_quickwit = true;
        self
    }

    /// Answers whoever has not this `Authorization` with 401.
    #[must_use]
    pub fn open_to(self, authorization: &str) -> Self {
        self.state().authorization = Some(authorization.to_owned());
        self
    }

    /// Serves it at a URL such as `http://es.test`.
    #[must_use]
    pub fn serve(&self, mut world: TestWebBuilder, base: &str) -> TestWebBuilder {
        let index = self.index;
        let own = format!("{base}/{index}");
        let beside = base.trim_end_matches("/_elastic");
        for url in [
            own.clone(),
            format!("{own}/_search"),
            format!("{own}/_bulk"),
            format!("{own}/_mapping"),
            format!("{beside}/indexes"),
            format!("{beside}/indexes/{index}"),
        ] {
            let server = self.clone();
            world = world.page_with(&url, move |seen| server.answer(seen));
        }
        world
    }

    /// Lets so many shards fail in every search from now on.
    pub fn fail_shards(&self, count: u64) {
        self.state().failed_shards = count;
    }

    /// Lets every search from now on run out of time.
    pub fn run_out_of_time(&self) {
        self.state().is_timed_out = true;
    }

    /// Answers the next request of `_search` or `_bulk` with this page.
    pub fn fail_next(&self, operation: &'static str, page: Page) {
        self.state().faults.push((operation, page));
    }

    /// Has no room for the next so many documents.
    pub fn be_busy_for(&self, items: usize) {
        self.state().busy_items = items;
    }

    /// Refuses documents whose URL contains this.
    pub fn refuse(&self, part: &str) {
        self.state().refused = Some(part.to_owned());
    }

    /// Takes no body that is longer.
    pub fn take_at_most(&self, bytes: usize) {
        self.state().max_bytes = Some(bytes);
    }

    /// Returns the documents it holds.
    #[must_use]
    pub fn documents(&self) -> Vec<Value> {
        self.state().documents.values().cloned().collect()
    }

    /// Returns how many requests of `_bulk` it took.
    #[must_use]
    pub fn bulks(&self) -> usize {
        self.state().bulks
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a request as the server would.
    #[must_use]
    pub fn answer(&self, seen: &ReceivedRequest) -> Page {
        let mut state = self.state();
        if let Some(wanted) = &state.authorization
            && seen.header("authorization") != Some(wanted)
        {
            let reason = "missing authentication credentials for REST request";
            return error(401, "security_exception", reason).header("www-authenticate", "Basic");
        }
        let url = Url::parse(&seen.url).expect("the URL of a request");
        let operation = url.path_segments().and_then(|mut path| path.next_back()).unwrap_or_default();
        if let Some(at) = state.faults.iter().position(|(of, _)| *of == operation) {
            return state.faults.remove(at).1;
        }
        match (&seen.method, operation) {
            (&Method::POST, "_search") => self.search(&state, seen, &url),
            (&Method::POST, "_bulk") => state.bulk(seen, self.index),
            (&Method::GET, "_mapping") => match &state.types {
                Some(types) => {
                    let properties: BTreeMap<_, _> =
                        types.iter().map(|(name, kind)| (name, json!({ "type": kind }))).collect();
                    fine(&json!({self.index: {"mappings": {"properties": properties}}}))
                }
                None => missing(self.index),
            },
            (&Method::GET, _) => match state.types {
                Some(_) => fine(&json!({"index_config": {"index_id": self.index}})),
                None => missing(self.index),
            },
            (&Method::PUT | &Method::POST, _) => state.make(seen),
            _ => error(405, "method_not_allowed", "this is not how it is asked"),
        }
    }

    fn search(&self, state: &State, seen: &ReceivedRequest, url: &Url) -> Page {
        let Some(types) = &state.types else { return missing(self.index) };
        if !is_json(seen) {
            return error(406, "media_type_header_exception", "Content-Type is not supported");
        }
        match state.found(seen, url, types) {
            Ok(answer) => fine(&answer),
            Err((kind, reason)) => error(400, kind, &reason),
        }
    }
}

impl State {
    fn found(&self, seen: &ReceivedRequest, url: &Url, types: &Types) -> Result<Value, Refusal> {
        let bad = |reason: String| ("illegal_argument_exception", reason);
        for (name, value) in url.query_pairs() {
            let is_known = name == "timeout" && value.ends_with("ms");
            is_known.then_some(()).ok_or_else(|| bad(format!("unrecognized parameter: [{name}]")))?;
        }
        let body: Value = serde_json::from_slice(&seen.body)
            .map_err(|error| ("x_content_parse_exception", error.to_string()))?;
        let known: &[&str] = if self.is_quickwit { &QUICKWIT_BODY } else { &ELASTIC_BODY };
        let keys = body.as_object().into_iter().flat_map(|body| body.keys());
        if let Some(key) = keys.into_iter().find(|key| !known.contains(&key.as_str())) {
            return Err(("parsing_exception", format!("unknown key [{key}]")));
        }
        let number = |name: &str, default| body.get(name).and_then(Value::as_u64).unwrap_or(default) as usize;
        let (from, size) = (number("from", 0), number("size", 10));
        if from + size > 10_000 {
            return Err(bad("Result window is too large".to_owned()));
        }
        let query = body.get("query").cloned().unwrap_or_else(|| json!({"match_all": {}}));
        // A mistake is refused even by an empty index.
        score(&query, &json!({}), types)?;
        let mut hits = Vec::new();
        for (id, document) in &self.documents {
            if let Some(score) = score(&query, document, types)? {
                hits.push((score, id, document));
            }
        }
        let by_date = body.pointer("/sort/0/date").is_some();
        hits.sort_by(|a, b| {
            let date = |document: &Value| document["date"].as_str().unwrap_or_default().to_owned();
            let dates = if by_date { date(b.2).cmp(&date(a.2)) } else { std::cmp::Ordering::Equal };
            dates.then(b.0.total_cmp(&a.0))
        });
        let shown = hits.iter().skip(from).take(size).map(|hit| self.shown(hit, &body, &query));
        let shown: Vec<Value> = shown.collect();
        Ok(json!({
            "took": 1,
            "timed_out": self.is_timed_out,
            "_shards": {"total": 5, "successful": 5 - self.failed_shards, "skipped": 0,
                "failed": self.failed_shards},
            "hits": {"max_score": null, "hits": shown},
        }))
    }

    fn shown(&self, (score, id, document): &(f64, &String, &Value), body: &Value, query: &Value) -> Value {
        let mut source = (*document).clone();
        let wanted = body.get("_source").and_then(Value::as_array).filter(|_| !self.is_quickwit);
        if let (Some(wanted), Some(source)) = (wanted, source.as_object_mut()) {
            source.retain(|name, _| wanted.iter().any(|wanted| wanted == name));
        }
        let mut hit = json!({"_index": "pages", "_id": id, "_score": score, "_source": source});
        if !self.is_quickwit && body.get("highlight").is_some() {
            let wanted = words(query, "body");
            let text = document["body"].as_str().unwrap_or_default();
            let sentence = text
                .split_inclusive(['.', '\n'])
                .find(|sentence| tokens(sentence).iter().any(|token| wanted.contains(token)));
            if let Some(sentence) = sentence {
                hit["highlight"] = json!({"body": [sentence.trim()]});
            }
        }
        hit
    }

    fn bulk(&mut self, seen: &ReceivedRequest, index: &str) -> Page {
        self.bulks += 1;
        if seen.header("content-type") != Some("application/x-ndjson") {
            return error(406, "media_type_header_exception", "Content-Type is not supported");
        }
        if self.max_bytes.is_some_and(|most| seen.body.len() > most) {
            return Page::text("Request Entity Too Large").status(413);
        }
        let text = String::from_utf8_lossy(&seen.body).into_owned();
        if !text.ends_with('\n') {
            let reason = "The bulk request must be terminated by a newline [\\n]";
            return error(400, "illegal_argument_exception", reason);
        }
        let lines: Vec<&str> = text.lines().collect();
        let mut items = Vec::new();
        for pair in lines.chunks(2) {
            let &[action, document] = pair else {
                return error(400, "illegal_argument_exception", "an action is without its document");
            };
            let (Ok(action), Ok(document)) = (serde_json::from_str(action), serde_json::from_str(document))
            else {
                return error(400, "x_content_parse_exception", "a line is not JSON");
            };
            match self.take(&action, document) {
                Some(item) => items.push(item),
                None => {
                    return error(400, "illegal_argument_exception", &format!("Malformed action {action}"));
                }
            }
        }
        let has_errors = items.iter().any(|item| item.pointer("/index/error").is_some());
        if self.is_quickwit {
            return fine(&json!({"took": 1, "errors": has_errors, "items": []}));
        }
        // An index that is missing is made with a mapping of the server's own.
        self.types.get_or_insert_with(|| Types::from([(index.to_owned(), "text".to_owned())]));
        fine(&json!({"took": 1, "errors": has_errors, "items": items}))
    }

    /// Takes a document; `None` for an action that the server does not know.
    fn take(&mut self, action: &Value, document: Value) -> Option<Value> {
        let (name, meta) = action.as_object()?.iter().next()?;
        let is_known = if self.is_quickwit { name == "create" } else { name == "index" || name == "create" };
        is_known.then_some(())?;
        let given = meta.get("_id").and_then(Value::as_str).filter(|_| !self.is_quickwit);
        let id = given.map_or_else(|| format!("auto-{}", self.documents.len()), str::to_owned);
        let failed = |status: u16, kind: &str, reason: &str| {
            Some(json!({"index": {"_id": id, "status": status, "error": {"type": kind, "reason": reason}}}))
        };
        if self.busy_items > 0 {
            self.busy_items -= 1;
            return failed(
                429,
                "es_rejected_execution_exception",
                "rejected execution of coordinating operation",
            );
        }
        let url = document["url"].as_str().unwrap_or_default();
        if self.refused.as_deref().is_some_and(|part| url.contains(part)) {
            return failed(400, "document_parsing_exception", "failed to parse field [date]");
        }
        let status = if self.documents.insert(id.clone(), document).is_some() { 200 } else { 201 };
        Some(json!({"index": {"_id": id, "status": status}}))
    }

    fn make(&mut self, seen: &ReceivedRequest) -> Page {
        if !is_json(seen) {
            return error(406, "media_type_header_exception", "Content-Type is not supported");
        }
        if self.types.is_some() {
            return error(400, "resource_already_exists_exception", "index already exists");
        }
        let Ok(body) = serde_json::from_slice::<Value>(&seen.body) else {
            return error(400, "x_content_parse_exception", "not JSON");
        };
        let mut types = Types::new();
        for (name, field) in
            body.pointer("/mappings/properties").and_then(Value::as_object).into_iter().flatten()
        {
            types.insert(name.clone(), field["type"].as_str().unwrap_or_default().to_owned());
        }
        for field in
            body.pointer("/doc_mapping/field_mappings").and_then(Value::as_array).into_iter().flatten()
        {
            let is_raw = field["tokenizer"] == "raw" || field["indexed"] == false;
            let kind = match field["type"].as_str().unwrap_or_default() {
                "text" | "array<text>" if is_raw => "keyword",
                "text" | "array<text>" => "text",
                "datetime" => "date",
                other => other,
            };
            types.insert(field["name"].as_str().unwrap_or_default().to_owned(), kind.to_owned());
        }
        self.types = Some(types);
        fine(&json!({"acknowledged": true}))
    }
}

fn is_json(seen: &ReceivedRequest) -> bool {
    seen.header("content-type") == Some("application/json")
}

fn fine(body: &Value) -> Page {
    Page::new("application/json", body.to_string())
}

fn missing(index: &str) -> Page {
    error(404, "index_not_found_exception", &format!("no such index [{index}]"))
}

fn error(status: u16, kind: &str, reason: &str) -> Page {
    let cause = json!({"type": kind, "reason": reason});
    let body = json!({"error": {"root_cause": [cause], "type": kind, "reason": reason}, "status": status});
    Page::new("application/json", body.to_string()).status(status)
}
