//! Builds `_bulk` requests in bounded batches, and parses the outcome of each document.

use bytes::Bytes;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use websvc_index::Document;

use super::mapping::Record;
use super::server::Dialect;
use crate::error::SourceError;
use crate::search::canonical;
use crate::source::plain_text::truncate;

/// The maximum size of a batch, unless it is a single document. Quickwit accepts 10 MB.
const MAX_BATCH_BYTES: usize = 4 * 1024 * 1024;

/// The maximum size of a document.
const MAX_DOCUMENT_BYTES: usize = 9 * 1024 * 1024;

/// The maximum number of documents in a batch.
const MAX_BATCH_DOCUMENTS: usize = 500;

/// A document and its action, each on a line.
#[derive(Debug, Clone)]
pub(super) struct BulkItem {
    pub(super) url: String,
    lines: String,
}

/// The outcome of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BulkItemOutcome {
    Written,
    /// The server had no capacity. The document must be sent again.
    Retry,
    /// The server does not accept the document, for this reason.
    Rejected(String),
}

/// Serializes a document for `_bulk`.
///
/// # Errors
/// The reason why it cannot be written.
pub(super) fn item(dialect: Dialect, document: Document) -> Result<BulkItem, String> {
    let url = document.url.clone();
    let record = Record::of(document).ok_or("its URL has no host")?;
    let action = match dialect {
        // All versions of a page have the same ID, so the page replaces its older version.
        Dialect::Elasticsearch => json!({"index": {"_id": document_id(&url)}}),
        Dialect::Quickwit => json!({"create": {}}),
    };
    let record = serde_json::to_string(&record).map_err(|error| error.to_string())?;
    if record.len() > MAX_DOCUMENT_BYTES {
        return Err(format!("it is too large: {} bytes, maximum {MAX_DOCUMENT_BYTES}", record.len()));
    }
    Ok(BulkItem { url, lines: format!("{action}\n{record}\n") })
}

/// Returns the document ID of a page, which is the same for all spellings of its URL.
pub(super) fn document_id(url: &str) -> String {
    let hash = Sha256::digest(canonical(url).as_bytes());
    hash[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Splits documents into batches.
pub(super) fn batches(items: Vec<BulkItem>) -> Vec<Vec<BulkItem>> {
    let mut batches: Vec<Vec<BulkItem>> = Vec::new();
    let mut bytes = 0;
    for item in items {
        let is_full = bytes + item.lines.len() > MAX_BATCH_BYTES;
        match batches.last_mut().filter(|batch| !is_full && batch.len() < MAX_BATCH_DOCUMENTS) {
            Some(batch) => {
                bytes += item.lines.len();
                batch.push(item);
            }
            None => {
                bytes = item.lines.len();
                batches.push(vec![item]);
            }
        }
    }
    batches
}

/// Returns the body of a batch.
pub(super) fn lines(items: &[BulkItem]) -> Bytes {
    items.iter().map(|item| item.lines.as_str()).collect::<String>().into()
}

/// Parses the outcome of each of `count` documents.
///
/// # Errors
/// [`SourceError::Unreadable`] if the response reports failures without naming the documents.
pub(super) fn outcomes(response: &Value, count: usize) -> Result<Vec<BulkItemOutcome>, SourceError> {
    let items = response.get("items").and_then(Value::as_array);
    if let Some(items) = items.filter(|items| items.len() == count) {
        return Ok(items.iter().map(outcome).collect());
    }
    // Quickwit returns no items if all documents were accepted.
    let has_succeeded = match response.get("errors") {
        Some(errors) => errors == &Value::Bool(false),
        None => response.get("num_docs_for_processing").is_some(),
    };
    if has_succeeded {
        return Ok(vec![BulkItemOutcome::Written; count]);
    }
    let what = match items.and_then(|items| items.first()).map(outcome) {
        Some(BulkItemOutcome::Rejected(reason)) => {
            format!("some documents failed, and the response does not say which; first: {reason}")
        }
        _ => "the response does not contain the outcome of the documents".to_owned(),
    };
    Err(SourceError::Unreadable { what })
}

fn outcome(item: &Value) -> BulkItemOutcome {
    let item = item.as_object().and_then(|item| item.values().next()).unwrap_or(&Value::Null);
    let status = item.get("status").and_then(Value::as_u64).unwrap_or_default();
    match status {
        200..=299 if item.get("error").is_none_or(Value::is_null) => BulkItemOutcome::Written,
        429 | 503 => BulkItemOutcome::Retry,
        _ => {
            let text = |pointer: &str| item.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
            let reason = format!("{}: {}", text("/error/type"), text("/error/reason"));
            BulkItemOutcome::Rejected(format!("status {status}, {}", truncate(&reason, 200)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(url: &str, bytes: usize) -> Document {
        Document { url: url.to_owned(), body: "x".repeat(bytes), ..Document::default() }
    }

    #[test]
    fn page_has_one_id_for_all_spellings_of_its_url() {
        let lines = |url: &str| item(Dialect::Elasticsearch, document(url, 1)).unwrap().lines;
        let action = |url: &str| lines(url).lines().next().unwrap().to_owned();
        assert_eq!(action("http://www.a.test/x/?utm_source=b#c"), action("https://a.test/x"));
        assert_ne!(action("https://a.test/x"), action("https://a.test/y"));
        assert_eq!(lines("https://a.test/x").matches('\n').count(), 2);
        assert!(
            item(Dialect::Quickwit, document("http://a.test/", 1))
                .unwrap()
                .lines
                .starts_with("{\"create\":{}}\n")
        );
    }

    #[test]
    fn batches_are_limited_in_bytes_and_documents() {
        let items = |count: usize, bytes: usize| {
            let item = |at| item(Dialect::Quickwit, document(&format!("http://a.test/{at}"), bytes)).unwrap();
            batches((0..count).map(item).collect()).iter().map(Vec::len).collect::<Vec<_>>()
        };
        assert_eq!(items(1_001, 1), [500, 500, 1]);
        assert_eq!(items(5, 1_900_000), [2, 2, 1]);
        assert_eq!(items(2, 5_000_000), [1, 1]);
        assert!(item(Dialect::Quickwit, document("http://a.test/", 10_000_000)).is_err());
    }

    #[test]
    fn outcomes_are_parsed_for_each_document() {
        let response = json!({"errors": true, "items": [
            {"index": {"_id": "1", "status": 201}},
            {"index": {"_id": "2", "status": 429, "error": {"type": "es_rejected_execution_exception"}}},
            {"index": {"_id": "3", "status": 400, "error": {"type": "document_parsing_exception", "reason": "bad date"}}},
        ]});
        let rejected =
            BulkItemOutcome::Rejected("status 400, document_parsing_exception: bad date".to_owned());
        assert_eq!(
            outcomes(&response, 3).unwrap(),
            [BulkItemOutcome::Written, BulkItemOutcome::Retry, rejected]
        );
        assert_eq!(
            outcomes(&json!({"took": 1, "errors": false, "items": []}), 2).unwrap(),
            [BulkItemOutcome::Written, BulkItemOutcome::Written]
        );
        assert_eq!(outcomes(&json!({"num_docs_for_processing": 2}), 2).unwrap().len(), 2);
        for response in [json!({"errors": true, "items": []}), json!({}), json!({"errors": null})] {
            assert!(outcomes(&response, 2).is_err(), "{response}");
        }
    }
}
