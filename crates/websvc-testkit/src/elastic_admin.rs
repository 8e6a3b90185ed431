//! The administration of the fake Elasticsearch: its size, added fields, and the deletion of documents.

use http::Method;
use serde_json::{Value, json};
use url::Url;

use crate::elastic::{State, error, index_not_found, is_json, ok};
use crate::elastic_query::score;
use crate::page::Page;
use crate::test_web::ReceivedRequest;

impl State {
    /// Responds to a request for the administration of an index; `None` if it is another request.
    pub(crate) fn administer(
        &mut self,
        request: &ReceivedRequest,
        url: &Url,
        index: &str,
        operation: &str,
    ) -> Option<Page> {
        let has_index = self.types.is_some();
        Some(match (&request.method, operation) {
            (&Method::POST, "_refresh" | "_delete_by_query" | "delete-tasks") if !has_index => {
                index_not_found(index)
            }
            (&Method::GET, "docs,store,segments" | "describe") if !has_index => index_not_found(index),
            (&Method::POST, "_refresh") => {
                self.refreshes += 1;
                ok(&json!({"_shards": {"total": 5, "successful": 5, "failed": 0}}))
            }
            (&Method::POST, "_delete_by_query") => self.delete_by_query(request, url),
            (&Method::POST, "delete-tasks") => self.create_delete_task(request),
            (&Method::PUT, "_mapping") => self.add_fields(request),
            (&Method::GET, "docs,store,segments") => {
                let count = self.documents.len();
                let part = json!({"docs": {"count": count, "deleted": 0}, "store": {"size_in_bytes": 100 * count},
                    "segments": {"count": 3}});
                ok(&json!({"_all": {"primaries": part, "total": part}}))
            }
            (&Method::GET, "describe") => {
                let count = self.documents.len();
                ok(
                    &json!({"index_id": index, "num_published_docs": count, "size_published_splits": 100 * count,
                    "num_published_splits": 3}),
                )
            }
            _ => return None,
        })
    }

    fn delete_by_query(&mut self, request: &ReceivedRequest, url: &Url) -> Page {
        if !is_json(request) {
            return error(406, "media_type_header_exception", "Content-Type is not supported");
        }
        let mut max = usize::MAX;
        for (name, value) in url.query_pairs() {
            match &*name {
                "max_docs" => max = value.parse().expect("max_docs is a number"),
                "conflicts" | "refresh" => {}
                _ => {
                    let reason = format!("unrecognized parameter: [{name}]");
                    return error(400, "illegal_argument_exception", &reason);
                }
            }
        }
        if self.delete_conflicts > 0 {
            self.delete_conflicts -= 1;
            return ok(&json!({"total": 1, "deleted": 0, "version_conflicts": 1, "failures": []}));
        }
        let Ok(Value::Object(body)) = serde_json::from_slice::<Value>(&request.body) else {
            return error(400, "x_content_parse_exception", "not JSON");
        };
        let Some(query) = body.get("query") else {
            return error(400, "action_request_validation_exception", "query is missing");
        };
        let types = self.types.clone().unwrap_or_default();
        let mut matching = Vec::new();
        for (id, document) in &self.documents {
            let mut document = document.clone();
            document["_id"] = json!(id);
            match score(query, &document, &types) {
                Ok(Some(_)) => matching.push(id.clone()),
                Ok(None) => {}
                Err((kind, reason)) => return error(400, kind, &reason),
            }
        }
        matching.truncate(max);
        for id in &matching {
            self.documents.remove(id);
        }
        self.delete_requests += 1;
        let count = matching.len();
        ok(&json!({"total": count, "deleted": count, "version_conflicts": 0, "failures": []}))
    }

    /// Records the query of a delete task, which Quickwit performs later.
    fn create_delete_task(&mut self, request: &ReceivedRequest) -> Page {
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let Some(query) = body["query"].as_str() else {
            return error(400, "bad_request", "missing field `query`");
        };
        self.delete_tasks.push(query.to_owned());
        ok(
            &json!({"create_timestamp": 1, "opstamp": self.delete_tasks.len(), "delete_query": {"query_ast": query}}),
        )
    }

    fn add_fields(&mut self, request: &ReceivedRequest) -> Page {
        let Some(types) = &mut self.types else { return index_not_found("pages") };
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        for (name, field) in body["properties"].as_object().into_iter().flatten() {
            types.insert(name.clone(), field["type"].as_str().unwrap_or_default().to_owned());
        }
        ok(&json!({"acknowledged": true}))
    }
}
