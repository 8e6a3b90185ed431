//! Repeated URLs in the list of a batch: each entry has a document of its own, but the page is scraped once.

use websvc_store::{JobKind, JobLease, ListEntry, StoreError, UrlCompletion, UrlOutcome};
use websvc_tasks::TaskError;
use websvc_types::ErrorCode;
use websvc_types::job::JobDocument;

use super::{PageDisposition, complete, failed};
use crate::jobs::Jobs;

/// Completes a copy with the outcome of its original. It costs nothing.
pub(super) async fn complete_copy(
    jobs: &Jobs,
    kind: JobKind,
    lease: JobLease,
) -> Result<PageDisposition, TaskError> {
    let copy = lease.clone();
    let original = match jobs.with_store(move |store, _| store.original_outcome(&copy)).await {
        // It stays so, whatever is attempted.
        Err(TaskError::Store(StoreError::Corrupt { .. })) => {
            let error = "the stored document of the page that this entry repeats cannot be read: scrape the URL again";
            Some(failed(ErrorCode::UnknownError, error))
        }
        original => original?,
    };
    let entry = lease.url.entry.clone();
    let outcome = match (original, entry) {
        (Some(UrlOutcome::Document(json)), Some(entry)) => {
            // A document may be large, so it is parsed on a blocking thread.
            jobs.run_blocking(move |_| Ok(copy_document(&json, &entry))).await?
        }
        (Some(outcome), _) => outcome,
        (None, _) => failed(ErrorCode::UnknownError, "the page that this entry repeats is missing"),
    };
    complete(jobs, kind, UrlCompletion::new(lease, outcome)).await
}

/// Returns the document of an entry, made from that of the first entry with the same page.
fn copy_document(json: &[u8], entry: &ListEntry) -> UrlOutcome {
    match serde_json::from_slice::<JobDocument>(json) {
        Ok(mut document) => {
            set_entry(&mut document, entry);
            if let Some(metadata) = &mut document.content.metadata {
                metadata.credits_used = metadata.credits_used.map(|_| 0);
            }
            document_outcome(&document)
        }
        Err(error) => failed(ErrorCode::UnknownError, error.to_string()),
    }
}

/// Sets the URL of an entry as it was sent, and its index, in its document.
pub(super) fn set_entry(document: &mut JobDocument, entry: &ListEntry) {
    if let Some(metadata) = &mut document.content.metadata {
        metadata.source_url = Some(entry.original_url.clone());
        metadata.index = Some(entry.index);
    }
}

/// Returns the outcome of a page with a document.
pub(super) fn document_outcome(document: &JobDocument) -> UrlOutcome {
    match serde_json::to_vec(document) {
        Ok(json) => UrlOutcome::Document(json),
        // Documents always serialize.
        Err(error) => failed(ErrorCode::UnknownError, error.to_string()),
    }
}
