//! A fake of Elasticsearch, OpenSearch and Quickwit: `_search` and `_bulk` over documents in memory.
//!
//! It validates requests as these servers do, and fails as they do if a test requests it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use http::Method;
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Map, Value, json};
use url::Url;

use crate::elastic_analysis::{FieldTypes, types_of};
use crate::elastic_forms;
use crate::elastic_query::{QueryError, passage, score};
use crate::elastic_suggest::{similar_terms, suggest};
use crate::page::Page;
use crate::test_web::{ReceivedRequest, TestWebBuilder};

#[derive(Debug, Default)]
pub(crate) struct State {
    /// The types of the fields; `None` if the index does not exist.
    pub(crate) types: Option<FieldTypes>,
    /// The fields as in the request that created the index, except on Quickwit.
    pub(crate) properties: Map<String, Value>,
    /// The documents by identifier.
    pub(crate) documents: BTreeMap<String, Value>,
    /// The versions of the documents that were written with one.
    pub(crate) versions: BTreeMap<String, u64>,
    /// The settings that the index was created with.
    pub(crate) settings: Value,
    /// The value of `Authorization` without which requests get 401.
    authorization: Option<String>,
    is_quickwit: bool,
    failed_shards: u64,
    is_timed_out: bool,
    /// The responses to the next requests of an operation (`_search`, `_bulk`, `_mapping`).
    faults: Vec<(&'static str, Page)>,
    /// The number of documents that are still rejected as by a busy server.
    busy_items: usize,
    /// A part of the URLs of documents that are rejected, with the status.
    rejected_part: Option<(String, u16)>,
    /// The server responds to no request.
    is_away: bool,
    /// The maximum size of the body of a bulk request.
    max_body_bytes: Option<usize>,
    bulk_requests: usize,
    /// The operations that were requested in a form that the server accepts.
    operations: BTreeSet<&'static str>,
    /// The reasons why other requests were rejected.
    violations: Vec<String>,
    pub(crate) refreshes: usize,
    pub(crate) delete_requests: usize,
    /// The number of deletions that still find only documents that change at the same time.
    pub(crate) delete_conflicts: usize,
    /// The queries of the delete tasks of Quickwit.
    pub(crate) delete_tasks: Vec<String>,
}

/// A fake server with an index, and an index for each team. Cheap to clone; clones share their state.
#[derive(Debug, Clone)]
pub struct FakeElasticsearch {
    pub(crate) index: String,
    state: Arc<Mutex<State>>,
    /// The indexes of teams that were requested, by name.
    pub(crate) teams: Arc<Mutex<BTreeMap<String, FakeElasticsearch>>>,
}

impl FakeElasticsearch {
    /// Creates a server, on which the index of this name does not exist yet.
    #[must_use]
    pub fn new(index: &str) -> Self {
        Self { index: index.to_owned(), state: Arc::default(), teams: Arc::default() }
    }

    /// Behaves as Quickwit: without highlights and document identifiers, with stricter validation of bodies.
    #[must_use]
    pub fn quickwit(self) -> Self {
        self.state().is_quickwit = true;
        self
    }

    /// Responds 401 to requests without this value of `Authorization`.
    #[must_use]
    pub fn require_authorization(self, authorization: &str) -> Self {
        self.state().authorization = Some(authorization.to_owned());
        self
    }

    /// Serves the server at a URL such as `http://es.test`.
    #[must_use]
    pub fn serve(&self, mut web: TestWebBuilder, base: &str) -> TestWebBuilder {
        let index = &self.index;
        let index_url = format!("{base}/{index}");
        let quickwit_base = base.trim_end_matches("/_elastic");
        for url in [
            index_url.clone(),
            format!("{index_url}/_search"),
            format!("{index_url}/_bulk"),
            format!("{index_url}/_mapping"),
            format!("{index_url}/_refresh"),
            format!("{index_url}/_delete_by_query"),
            format!("{index_url}/_stats/docs,store,segments"),
            format!("{quickwit_base}/{index}/delete-tasks"),
            format!("{quickwit_base}/indexes/{index}/describe"),
            format!("{quickwit_base}/indexes"),
            format!("{quickwit_base}/indexes/{index}"),
        ] {
            let server = self.clone();
            web = web.page_with(&url, move |request| server.respond(request));
        }
        self.serve_teams(web, base)
    }

    /// Reports this number of failed shards in every search from now on.
    pub fn fail_shards(&self, count: u64) {
        self.state().failed_shards = count;
    }

    /// Reports a timeout in every search from now on.
    pub fn time_out_searches(&self) {
        self.state().is_timed_out = true;
    }

    /// Responds to the next request of an operation (`_search`, `_bulk`, `_mapping`) with this page.
    pub fn fail_next(&self, operation: &'static str, page: Page) {
        self.state().faults.push((operation, page));
    }

    /// Rejects the next `count` documents with 429, as a busy server does.
    pub fn reject_next_documents(&self, count: usize) {
        self.state().busy_items = count;
    }

    /// Rejects documents whose URL contains `part` with 400.
    pub fn reject_urls_with(&self, part: &str) {
        self.state().rejected_part = Some((part.to_owned(), 400));
    }

    /// Fails with 500 for documents whose URL contains `part`.
    pub fn fail_urls_with(&self, part: &str) {
        self.state().rejected_part = Some((part.to_owned(), 500));
    }

    /// Responds 503 to all requests while `is_away`, as a proxy does whose server is away.
    pub fn set_away(&self, is_away: bool) {
        self.state().is_away = is_away;
    }

    /// Rejects larger bodies of bulk requests with 413.
    pub fn limit_bulk_body(&self, bytes: usize) {
        self.state().max_body_bytes = Some(bytes);
    }

    /// Reports a version conflict instead of a deletion in the next `count` deletions.
    pub fn conflict_next_deletions(&self, count: usize) {
        self.state().delete_conflicts = count;
    }

    /// Removes fields from the mapping, as in an index of an earlier version of websvc. The name of a subfield has a point.
    pub fn remove_fields(&self, names: &[&str]) {
        let mut state = self.state();
        for name in names {
            let (parents, last) = name.rsplit_once('.').unwrap_or(("", name));
            let parents = parents.split('.').filter(|parent| !parent.is_empty());
            let mut properties = &mut state.properties;
            for parent in parents {
                let field = properties.get_mut(parent).and_then(|field| field.get_mut("properties"));
                properties = field.and_then(Value::as_object_mut).expect("the parent of the field is mapped");
            }
            properties.shift_remove(last);
        }
        state.types = Some(types_of(&state.properties));
    }

    /// Returns the names of the fields of the index.
    #[must_use]
    pub fn fields(&self) -> Vec<String> {
        self.state().types.iter().flat_map(BTreeMap::keys).cloned().collect()
    }

    /// Returns the mapping of the fields of the index.
    #[must_use]
    pub fn properties(&self) -> Value {
        Value::Object(self.state().properties.clone())
    }

    /// Returns the settings that the index was created with.
    #[must_use]
    pub fn settings(&self) -> Value {
        self.state().settings.clone()
    }

    /// Returns the reasons why requests were rejected that not all versions of the server accept.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        self.state().violations.clone()
    }

    /// Returns the operations of the server that were not requested.
    #[must_use]
    pub fn unused_operations(&self) -> Vec<&'static str> {
        let state = self.state();
        let all = elastic_forms::operations(state.is_quickwit).into_iter();
        all.filter(|operation| !state.operations.contains(operation)).collect()
    }

    /// Returns the queries of the delete tasks, which only Quickwit has.
    #[must_use]
    pub fn delete_tasks(&self) -> Vec<String> {
        self.state().delete_tasks.clone()
    }

    /// Returns the number of deletions that have deleted documents or found none.
    #[must_use]
    pub fn delete_requests(&self) -> usize {
        self.state().delete_requests
    }

    /// Returns the stored documents.
    #[must_use]
    pub fn documents(&self) -> Vec<Value> {
        self.state().documents.values().cloned().collect()
    }

    /// Returns the number of bulk requests.
    #[must_use]
    pub fn bulk_requests(&self) -> usize {
        self.state().bulk_requests
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    pub(crate) fn respond(&self, request: &ReceivedRequest) -> Page {
        let mut state = self.state();
        if state.is_away {
            return Page::text("no server").status(503);
        }
        if let Some(authorization) = &state.authorization
            && request.header("authorization") != Some(authorization)
        {
            let reason = "missing authentication credentials for REST request";
            return error(401, "security_exception", reason).header("www-authenticate", "Basic");
        }
        let url = Url::parse(&request.url).expect("requests have valid URLs");
        match elastic_forms::check(request, state.is_quickwit) {
            Ok(operation) => _ = state.operations.insert(operation),
            Err(reason) => {
                state.violations.push(reason.clone());
                return error(400, "illegal_argument_exception", &reason);
            }
        }
        let operation = url.path_segments().and_then(|mut path| path.next_back()).unwrap_or_default();
        if let Some(at) = state.faults.iter().position(|(name, _)| *name == operation) {
            return state.faults.remove(at).1;
        }
        if let Some(page) = self.respond_for_teams(&mut state, request, &url) {
            return page;
        }
        if let Some(page) = state.administer(request, &url, &self.index, operation) {
            return page;
        }
        match (&request.method, operation) {
            (&Method::POST, "_search") => self.search(&state, request),
            (&Method::POST, "_bulk") => state.bulk(request, &self.index),
            (&Method::GET, "_mapping") => match &state.types {
                Some(_) => ok(&json!({&self.index: {"mappings": {"properties": state.properties}}})),
                None => index_not_found(&self.index),
            },
            (&Method::GET, _) => match state.types {
                Some(_) => ok(&json!({"index_config": {"index_id": self.index}})),
                None => index_not_found(&self.index),
            },
            (&Method::PUT | &Method::POST, _) => state.create_index(request),
            _ => error(405, "method_not_allowed", "Incorrect HTTP method for uri"),
        }
    }

    fn search(&self, state: &State, request: &ReceivedRequest) -> Page {
        let Some(types) = &state.types else { return missing_index(&self.index, request) };
        if !is_json(request) {
            return error(406, "media_type_header_exception", "Content-Type is not supported");
        }
        match state.search(request, types) {
            Ok(response) => ok(&response),
            Err((kind, reason)) => error(400, kind, &reason),
        }
    }
}

impl State {
    fn search(&self, request: &ReceivedRequest, types: &FieldTypes) -> Result<Value, QueryError> {
        let invalid = |reason: String| ("illegal_argument_exception", reason);
        let body: Value = serde_json::from_slice(&request.body)
            .map_err(|error| ("x_content_parse_exception", error.to_string()))?;
        let number = |name: &str, default| body.get(name).and_then(Value::as_u64).unwrap_or(default) as usize;
        let (from, size) = (number("from", 0), number("size", 10));
        if from + size > 10_000 {
            return Err(invalid("Result window is too large".to_owned()));
        }
        let mut query = body.get("query").cloned().unwrap_or_else(|| json!({"match_all": {}}));
        self.expand(&mut query, types)?;
        // An invalid query is an error even if the index is empty.
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
        let page = hits.iter().skip(from).take(size).map(|hit| self.to_hit(hit, &body, &query, types));
        let page: Vec<Value> = page.collect();
        let mut response = json!({
            "took": 1,
            "timed_out": self.is_timed_out,
            "_shards": {"total": 5, "successful": 5 - self.failed_shards, "skipped": 0,
                "failed": self.failed_shards},
            "hits": {"max_score": null, "hits": page},
        });
        if body["track_total_hits"] == true {
            response["hits"]["total"] = json!({"value": hits.len(), "relation": "eq"});
        }
        if let Some(request) = body.get("suggest") {
            response["suggest"] = suggest(request, &self.documents, types)?;
        }
        Ok(response)
    }

    /// Replaces each `more_like_this` by a query for the terms that it selects.
    fn expand(&self, query: &mut Value, types: &FieldTypes) -> Result<(), QueryError> {
        match query {
            Value::Object(object) => {
                if let Some(Value::Object(body)) = object.get("more_like_this") {
                    *query = similar_terms(body, self.documents.values(), types)?;
                    return Ok(());
                }
                object.values_mut().try_for_each(|inner| self.expand(inner, types))
            }
            Value::Array(list) => list.iter_mut().try_for_each(|inner| self.expand(inner, types)),
            _ => Ok(()),
        }
    }

    fn to_hit(
        &self,
        (score, id, document): &(f64, &String, &Value),
        body: &Value,
        query: &Value,
        types: &FieldTypes,
    ) -> Value {
        let mut source = (*document).clone();
        let fields = body.get("_source").and_then(Value::as_array).filter(|_| !self.is_quickwit);
        if let (Some(fields), Some(source)) = (fields, source.as_object_mut()) {
            source.retain(|name, _| fields.iter().any(|field| field == name));
        }
        let mut hit = json!({"_index": "pages", "_id": id, "_score": score, "_source": source});
        let fields = body.pointer("/highlight/fields").and_then(Value::as_object);
        let passages: Map<String, Value> = fields
            .filter(|_| !self.is_quickwit)
            .into_iter()
            .flatten()
            .filter_map(|(field, _)| Some((field.clone(), json!([passage(document, field, query, types)?]))))
            .collect();
        if !passages.is_empty() {
            hit["highlight"] = passages.into();
        }
        hit
    }

    pub(crate) fn bulk(&mut self, request: &ReceivedRequest, index: &str) -> Page {
        self.bulk_requests += 1;
        if request.header("content-type") != Some("application/x-ndjson") {
            return error(406, "media_type_header_exception", "Content-Type is not supported");
        }
        if self.max_body_bytes.is_some_and(|max| request.body.len() > max) {
            return Page::text("Request Entity Too Large").status(413);
        }
        let text = String::from_utf8_lossy(&request.body).into_owned();
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
            match self.store(&action, document) {
                Some(item) => items.push(item),
                None => {
                    return error(400, "illegal_argument_exception", &format!("Malformed action {action}"));
                }
            }
        }
        let has_errors = items.iter().any(|item| item.pointer("/index/error").is_some());
        if self.is_quickwit {
            return ok(&json!({"took": 1, "errors": has_errors, "items": []}));
        }
        // The server creates a missing index with a mapping of its own.
        self.types.get_or_insert_with(|| FieldTypes::from([(index.to_owned(), "text".to_owned())]));
        ok(&json!({"took": 1, "errors": has_errors, "items": items}))
    }

    /// Stores a document and returns its item of the response; `None` for an unknown action.
    fn store(&mut self, action: &Value, document: Value) -> Option<Value> {
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
        if let Some((_, status)) = self.rejected_part.as_ref().filter(|(part, _)| url.contains(part)) {
            return failed(*status, "document_parsing_exception", "failed to parse field [date]");
        }
        if let Some(version) = meta.get("version").and_then(Value::as_u64) {
            // Only with this type of versions, a document may be written again with the same version.
            (meta["version_type"] == "external_gte" && !self.is_quickwit).then_some(())?;
            let current = self.versions.get(&id).filter(|_| self.documents.contains_key(&id));
            if current.is_some_and(|current| *current > version) {
                let reason = "version conflict, current version is higher than the one provided";
                return failed(409, "version_conflict_engine_exception", reason);
            }
            self.versions.insert(id.clone(), version);
        }
        let status = if self.documents.insert(id.clone(), document).is_some() { 200 } else { 201 };
        Some(json!({"index": {"_id": id, "status": status}}))
    }
}

pub(crate) fn is_json(request: &ReceivedRequest) -> bool {
    request.header("content-type") == Some("application/json")
}

pub(crate) fn ok(body: &Value) -> Page {
    Page::new("application/json", body.to_string())
}

pub(crate) fn index_not_found(index: &str) -> Page {
    error(404, "index_not_found_exception", &format!("no such index [{index}]"))
}

pub(crate) fn error(status: u16, kind: &str, reason: &str) -> Page {
    let cause = json!({"type": kind, "reason": reason});
    let body = json!({"error": {"root_cause": [cause], "type": kind, "reason": reason}, "status": status});
    Page::new("application/json", body.to_string()).status(status)
}

/// Returns the response to a search of an index that does not exist.
fn missing_index(index: &str, request: &ReceivedRequest) -> Page {
    if request.method == Method::POST && request.url.contains("ignore_unavailable=true") {
        return ok(&json!({"took": 1, "timed_out": false,
            "_shards": {"total": 0, "successful": 0, "skipped": 0, "failed": 0},
            "hits": {"max_score": null, "hits": []}}));
    }
    index_not_found(index)
}
