//! Builds `_bulk` requests in bounded batches, and parses the outcome of each document.

use std::borrow::Cow;

use bytes::Bytes;
use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use websvc_index::Document;
use websvc_store::{OutboxPage, PageOwner};

use super::record::Record;
use super::stems::{MAX_STEMMED_BYTES, Stems};
use crate::error::SourceError;
use crate::search::canonical;
use crate::source::plain_text::truncate;

/// The maximum size of a batch, unless it is a single document. Quickwit accepts 10 MB.
pub(crate) const MAX_BATCH_BYTES: usize = 4 * 1024 * 1024;

/// The maximum size of a document.
const MAX_DOCUMENT_BYTES: usize = 9 * 1024 * 1024;

/// The maximum number of documents in a batch.
pub(crate) const MAX_BATCH_DOCUMENTS: usize = 500;

/// The outcome of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BulkItemOutcome {
    /// The server has this or a newer version.
    Written,
    /// The server had no capacity. The document must be sent again.
    Retry,
    /// The server failed, or does not allow writes to the index now, for this reason. The document may be sent later.
    Failed(String),
    /// The server does not accept the document, for this reason.
    Rejected(String),
}

/// Converts a document, fetched at `version` (milliseconds since the Unix epoch), to a page as the server stores it, in
/// the index of its owner or of all teams.
///
/// # Errors
/// The reason why it cannot be written.
pub(crate) fn to_outbox_page(
    document: Document,
    version: u64,
    owner: Option<PageOwner>,
) -> Result<OutboxPage, String> {
    let url = document.url.clone();
    let record = Record::from_document(document).ok_or("its URL has no host")?;
    let record = serde_json::to_string(&record).map_err(|error| error.to_string())?;
    if record.len() > MAX_DOCUMENT_BYTES {
        return Err(format!("it is too large: {} bytes, maximum {MAX_DOCUMENT_BYTES}", record.len()));
    }
    let mut id = document_id(&url);
    if let Some(owner) = owner {
        id = format!("{}{OF_OWNER}{id}", owner.number());
    }
    Ok(OutboxPage { id, url, version, record })
}

/// Separates the number of an owner from the ID of its document.
const OF_OWNER: char = '/';

/// Returns the owner of a page in an outbox, by its ID there; `None` for a page of all teams.
pub(crate) fn owner_of(id: &str) -> Option<PageOwner> {
    read_id(id).0
}

/// Returns the owner and the document ID of a page in an outbox.
pub(super) fn read_id(id: &str) -> (Option<PageOwner>, &str) {
    let Some((owner, document)) = id.split_once(OF_OWNER) else { return (None, id) };
    (owner.parse().ok().and_then(PageOwner::new), document)
}

/// Returns the action that precedes a document in a batch. The name of the index of a team begins with `team_prefix`.
fn action(stems: Option<&Stems>, team_prefix: &str, page: &OutboxPage) -> Value {
    if stems.is_none() {
        // Quickwit has neither IDs nor versions.
        return json!({"create": {}});
    }
    // All versions of a page have the same ID, so the page replaces its older version. A page that is written late does
    // not replace a newer one.
    let (owner, id) = read_id(&page.id);
    let mut action = json!({"_id": id, "version": page.version, "version_type": "external_gte"});
    if let Some(owner) = owner {
        action["_index"] = format!("{team_prefix}{}", owner.number()).into();
    }
    json!({ "index": action })
}

/// Returns the document ID of a page, which is the same for all spellings of its URL.
pub(super) fn document_id(url: &str) -> String {
    let hash = Sha256::digest(canonical(url).as_bytes());
    HEXLOWER.encode(&hash[..16])
}

/// Splits documents into batches. `stems` is `None` for Quickwit.
pub(super) fn batches(stems: Option<&Stems>, pages: Vec<OutboxPage>) -> Vec<Vec<OutboxPage>> {
    let mut batches: Vec<Vec<OutboxPage>> = Vec::new();
    let mut bytes = 0;
    for page in pages {
        // Stemmed texts are sent twice.
        let stemmed = if stems.is_some() { page.record.len().min(MAX_STEMMED_BYTES) } else { 0 };
        let page_bytes = page.record.len() + stemmed;
        let is_full = bytes + page_bytes > MAX_BATCH_BYTES;
        match batches.last_mut().filter(|batch| !is_full && batch.len() < MAX_BATCH_DOCUMENTS) {
            Some(batch) => {
                bytes += page_bytes;
                batch.push(page);
            }
            None => {
                bytes = page_bytes;
                batches.push(vec![page]);
            }
        }
    }
    batches
}

/// Returns the body of a batch: each document on a line, after the line of its action.
pub(super) fn lines(stems: Option<&Stems>, team_prefix: &str, pages: &[OutboxPage]) -> Bytes {
    let mut lines = String::new();
    for page in pages {
        let document = stems.map_or(Cow::Borrowed(&*page.record), |stems| stems.expand(&page.record).into());
        for line in [&action(stems, team_prefix, page).to_string(), &*document] {
            lines.push_str(line);
            lines.push('\n');
        }
    }
    lines.into()
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
        Some(BulkItemOutcome::Rejected(reason) | BulkItemOutcome::Failed(reason)) => {
            format!("some documents failed, and the response does not say which; first: {reason}")
        }
        _ => "the response does not contain the outcome of the documents".to_owned(),
    };
    Err(SourceError::Unreadable { what })
}

fn outcome(item: &Value) -> BulkItemOutcome {
    let item = item.as_object().and_then(|item| item.values().next()).unwrap_or(&Value::Null);
    let status = item.get("status").and_then(Value::as_u64).unwrap_or_default();
    let text = |pointer: &str| item.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let (kind, reason) = (text("/error/type"), text("/error/reason"));
    let reason = format!("status {status}, {}", truncate(&format!("{kind}: {reason}"), 200));
    match status {
        200..=299 if item.get("error").is_none_or(Value::is_null) => BulkItemOutcome::Written,
        // The server has a newer version.
        409 => BulkItemOutcome::Written,
        429 | 503 => BulkItemOutcome::Retry,
        // The index is closed, read-only or missing, or the user may not write to it: that is not due to the document.
        400 if kind == "index_closed_exception" => BulkItemOutcome::Failed(reason),
        401 | 403 | 404 | 408 => BulkItemOutcome::Failed(reason),
        400..=499 => BulkItemOutcome::Rejected(reason),
        _ => BulkItemOutcome::Failed(reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(url: &str, bytes: usize) -> Document {
        Document { url: url.to_owned(), body: "x".repeat(bytes), ..Document::default() }
    }

    fn pages(count: usize, bytes: usize) -> Vec<OutboxPage> {
        let page = |at| to_outbox_page(document(&format!("http://a.test/{at}"), bytes), 7, None).unwrap();
        (0..count).map(page).collect()
    }

    #[test]
    fn page_has_one_id_for_all_spellings_of_its_url() {
        let id = |url: &str| to_outbox_page(document(url, 1), 7, None).unwrap().id;
        assert_eq!(id("http://www.a.test/x/?utm_source=b#c"), id("https://a.test/x"));
        assert_ne!(id("https://a.test/x"), id("https://a.test/y"));
    }

    #[test]
    fn action_has_the_version_of_the_page_unless_the_server_has_none() {
        let pages = pages(2, 1);
        let stems = Stems::new(None).unwrap();
        let body = lines(Some(&stems), "", &pages);
        let body = std::str::from_utf8(&body).unwrap();
        let first: Value = serde_json::from_str(body.lines().next().unwrap()).unwrap();
        let expected = json!({"index": {"_id": pages[0].id, "version": 7, "version_type": "external_gte"}});
        assert_eq!((first, body.matches('\n').count()), (expected, 4));
        assert!(lines(None, "", &pages).starts_with(b"{\"create\":{}}\n"));
    }

    #[test]
    fn page_of_a_team_has_the_same_id_in_an_index_of_its_own() {
        let stems = Stems::new(None).unwrap();
        let shared = pages(1, 1).remove(0);
        let page = to_outbox_page(document(&shared.url, 1), 7, PageOwner::new(3)).unwrap();
        assert_eq!(
            (page.id.as_str(), read_id(&page.id)),
            (&*format!("3/{}", shared.id), (PageOwner::new(3), &*shared.id))
        );
        let action = action(Some(&stems), "pages-team-a-", &page);
        assert_eq!(
            (&action["index"]["_index"], &action["index"]["_id"]),
            (&json!("pages-team-a-3"), &json!(shared.id))
        );
    }

    #[test]
    fn batches_are_limited_in_bytes_and_documents() {
        let stems = Stems::new(None).unwrap();
        let lengths_with = |stems, count, bytes| -> Vec<usize> {
            batches(stems, pages(count, bytes)).iter().map(Vec::len).collect()
        };
        let lengths = |count, bytes| lengths_with(None, count, bytes);
        assert_eq!(lengths_with(Some(&stems), 3, 1_900_000), [1, 1, 1], "a part of a text is sent twice");
        assert_eq!(lengths(1_001, 1), [500, 500, 1]);
        assert_eq!(lengths(5, 1_900_000), [2, 2, 1]);
        assert_eq!(lengths(2, 5_000_000), [1, 1]);
        assert!(to_outbox_page(document("http://a.test/", 10_000_000), 7, None).is_err());
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

    #[test]
    fn only_documents_that_the_server_can_never_take_are_rejected() {
        let outcome = |status: u16, kind: &str| {
            outcome(&json!({"index": {"status": status, "error": {"type": kind, "reason": "no"}}}))
        };
        assert_eq!(outcome(409, "version_conflict_engine_exception"), BulkItemOutcome::Written);
        for (status, kind) in [(400, "strict_dynamic_mapping_exception"), (413, "too_large")] {
            let reason = format!("status {status}, {kind}: no");
            assert_eq!(outcome(status, kind), BulkItemOutcome::Rejected(reason));
        }
        for (status, kind) in [
            (400, "index_closed_exception"),
            (403, "cluster_block_exception"),
            (404, "index_not_found_exception"),
            (500, "exception"),
        ] {
            let reason = format!("status {status}, {kind}: no");
            assert_eq!(outcome(status, kind), BulkItemOutcome::Failed(reason));
        }
    }
}
