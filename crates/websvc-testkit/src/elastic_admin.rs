//! The administration of the fake Elasticsearch: its size, added fields, and the deletion of documents.

use std::collections::BTreeMap;

use http::Method;
use serde_json::{Map, Value, json};
use url::Url;

use crate::elastic::{State, error, index_not_found, is_json, ok};
use crate::elastic_analysis::{merge_properties, types_of};
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
            (&Method::DELETE, _) if !has_index => index_not_found(index),
            (&Method::DELETE, _) => {
                (self.types, self.documents) = (None, BTreeMap::new());
                ok(&json!({"acknowledged": true}))
            }
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

    pub(crate) fn delete_by_query(&mut self, request: &ReceivedRequest, url: &Url) -> Page {
        if !is_json(request) {
            return error(406, "media_type_header_exception", "Content-Type is not supported");
        }
        let mut max = usize::MAX;
        for (name, value) in url.query_pairs() {
            match &*name {
                "max_docs" => max = value.parse().expect("max_docs is a number"),
                "conflicts" | "refresh" | "ignore_unavailable" => {}
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
        if self.types.is_none() {
            return index_not_found("pages");
        }
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        merge_properties(&mut self.properties, body["properties"].as_object().unwrap_or(&Map::new()));
        self.types = Some(types_of(&self.properties));
        ok(&json!({"acknowledged": true}))
    }

    pub(crate) fn create_index(&mut self, request: &ReceivedRequest) -> Page {
        if !is_json(request) {
            return error(406, "media_type_header_exception", "Content-Type is not supported");
        }
        if self.types.is_some() {
            return error(400, "resource_already_exists_exception", "index already exists");
        }
        let Ok(body) = serde_json::from_slice::<Value>(&request.body) else {
            return error(400, "x_content_parse_exception", "not JSON");
        };
        self.settings = body["settings"].clone();
        let properties = body.pointer("/mappings/properties").and_then(Value::as_object);
        self.properties = properties.cloned().unwrap_or_default();
        let mut types = types_of(&self.properties);
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
        ok(&json!({"acknowledged": true}))
    }
}
