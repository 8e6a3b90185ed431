//! Pages that the list of a batch names again: each entry has a document of its own, and the page is got once.

use websvc_store::{JobKind, JobLease, ListEntry, UrlCompletion, UrlOutcome};
use websvc_types::ErrorCode;
use websvc_types::job::JobDocument;

use super::{PageDisposition, failed, finish};
use crate::jobs::{Jobs, JobsError};

/// Ends a copy as its original ended. It costs nothing.
pub(super) async fn finish_copy(
    jobs: &Jobs,
    kind: JobKind,
    lease: JobLease,
) -> Result<PageDisposition, JobsError> {
    let read = lease.clone();
    let end = jobs.with_store(move |store, _| store.end_of_original(&read)).await?;
    let entry = lease.url.entry.clone();
    let end = match (end, entry) {
        (Some(UrlOutcome::Document(json)), Some(entry)) => {
            // A document may be large, so that this is no work for an async thread.
            jobs.blocking(move |_| Ok(copied(&json, &entry))).await?
        }
        (Some(end), _) => end,
        (None, _) => failed(ErrorCode::UnknownError, "the page that it repeats is not there"),
    };
    finish(jobs, kind, UrlCompletion::of(lease, end)).await
}

/// Returns the document of an entry, made from that of the first entry with the same page.
fn copied(json: &[u8], entry: &ListEntry) -> UrlOutcome {
    match serde_json::from_slice::<JobDocument>(json) {
        Ok(mut document) => {
            set_entry(&mut document, entry);
            if let Some(metadata) = &mut document.content.metadata {
                metadata.credits_used = metadata.credits_used.map(|_| 0);
            }
            document_end(&document)
        }
        Err(error) => failed(ErrorCode::UnknownError, error.to_string()),
    }
}

/// Writes the URL of an entry as it was sent, and its index, into its document.
pub(super) fn set_entry(document: &mut JobDocument, entry: &ListEntry) {
    if let Some(metadata) = &mut document.content.metadata {
        metadata.source_url = Some(entry.given.clone());
        metadata.index = Some(entry.index);
    }
}

/// Returns the end of a page with a document.
pub(super) fn document_end(document: &JobDocument) -> UrlOutcome {
    match serde_json::to_vec(document) {
        Ok(json) => UrlOutcome::Document(json),
        // Our own types always serialise.
        Err(error) => failed(ErrorCode::UnknownError, error.to_string()),
    }
}
