//! Web archives: conversion of the records of a WARC stream to documents.
//!
//! Converting a page takes most of the time of an import, so the records of a batch are converted on all processors.

use std::io::BufRead;
use std::num::NonZero;
use std::sync::Mutex;
use std::thread;

use anyhow::Result;
use url::Url;
use websvc::types::index::IndexDocument;
use websvc_documents::DocumentKind;

use super::document::page_of_document;
use super::filter::Filter;
use super::item::{DocumentVisitor, Item, ReadFailure, SkipReason};
use super::page::{Origin, page};
use super::response::{HttpResponse, HttpResponseError};
use super::warc::{MAX_BLOCK_BYTES, ReadOutcome, Record, Records};

const HTML_TYPES: &[&str] = &["text/html", "application/xhtml+xml"];

/// Maximum number of records that are converted at a time.
const BATCH_RECORDS: usize = 64;
/// Size of the blocks in a batch from which it is converted, in bytes. It bounds memory.
const BATCH_BYTES: usize = 16 * 1024 * 1024;
/// Maximum number of threads that convert records.
const MAX_THREADS: usize = 16;

/// Visits the records of the stream `name` after the first `skip` ones. Damaged records are visited as failures.
pub(super) fn read(
    name: &str,
    input: impl BufRead,
    skip: u64,
    filter: &Filter,
    visit: &mut DocumentVisitor<'_>,
) -> Result<()> {
    let mut records = Records::new(input);
    let (mut batch, mut bytes) = (Vec::new(), 0);
    for number in 0_u64.. {
        // The records before a failure of the stream are converted, too.
        let (next, failure) = records.next().map_or_else(|error| (None, Some(error)), |next| (next, None));
        let is_last = next.is_none();
        if let Some(next) = next.filter(|_| number >= skip) {
            bytes += if let ReadOutcome::Record(record) = &next { record.block.len() } else { 0 };
            batch.push(next);
        }
        if is_last || batch.len() >= BATCH_RECORDS || bytes >= BATCH_BYTES {
            bytes = 0;
            convert(name, std::mem::take(&mut batch), filter).into_iter().try_for_each(&mut *visit)?;
        }
        if let Some(error) = failure {
            return Err(error.into());
        }
        if is_last {
            break;
        }
    }
    Ok(())
}

/// Converts records on all processors. Returns their items in the same order.
fn convert(name: &str, batch: Vec<ReadOutcome>, filter: &Filter) -> Vec<Item> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS).min(batch.len());
    let queue = Mutex::new(batch.into_iter().enumerate());
    let next = || queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
    let work = || {
        std::iter::from_fn(next).map(|(at, outcome)| (at, item(name, outcome, filter))).collect::<Vec<_>>()
    };
    let mut items: Vec<(usize, Item)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let joined = workers.into_iter().map(thread::ScopedJoinHandle::join);
        joined.flat_map(|items| items.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    items.sort_unstable_by_key(|(at, _)| *at);
    items.into_iter().map(|(_, item)| item).collect()
}

fn item(name: &str, outcome: ReadOutcome, filter: &Filter) -> Item {
    let record = match outcome {
        ReadOutcome::Record(record) => record,
        ReadOutcome::TooLarge(target) => {
            return failed(name, &target, ReadFailure::too_large(MAX_BLOCK_BYTES));
        }
        ReadOutcome::Broken(reason) => {
            return Item::Failed { subject: name.to_owned(), failure: ReadFailure::broken(&reason) };
        }
    };
    let target = record.target.clone();
    match document(record, filter) {
        Ok(document) => filter.apply(Item::Document(document)),
        Err(failure) => match failure.kind {
            SkipReason::Broken | SkipReason::TooLarge => failed(name, &target, failure),
            reason => Item::Skipped(reason),
        },
    }
}

fn failed(name: &str, target: &str, failure: ReadFailure) -> Item {
    Item::Failed { subject: format!("{name}: {target}"), failure }
}

/// Converts the page in a record to a document.
fn document(record: Record, filter: &Filter) -> Result<Box<IndexDocument>, ReadFailure> {
    let url = Url::parse(&record.target).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let (Some(url), "response" | "resource" | "conversion") = (url, record.kind.as_str()) else {
        return Err(skipped(SkipReason::NotAPage));
    };
    if let Some(reason) = filter.skips_url(&url) {
        return Err(skipped(reason));
    }
    match record.kind.as_str() {
        "conversion" => text_document(&url, &record),
        "resource" => response_document(
            &url,
            HttpResponse {
                status: 200,
                content_type: record.content_type,
                robots: Vec::new(),
                body: record.block,
            },
        ),
        _ => match HttpResponse::read(record.block) {
            Ok(response) => response_document(&url, response),
            Err(HttpResponseError::Malformed) => {
                Err(ReadFailure::broken(&"the block is not an HTTP response"))
            }
            Err(HttpResponseError::TooLarge) => Err(ReadFailure::too_large(MAX_BLOCK_BYTES)),
        },
    }
}

fn skipped(reason: SkipReason) -> ReadFailure {
    ReadFailure::new(reason, reason.label())
}

/// Converts the text of a page, as in the WET files of Common Crawl. Its first line is the title of the page.
fn text_document(url: &Url, record: &Record) -> Result<Box<IndexDocument>, ReadFailure> {
    if !is_type(&record.content_type, &["text/plain"]) {
        return Err(skipped(SkipReason::NotHtml));
    }
    let text = String::from_utf8_lossy(&record.block);
    let (title, body) = text.trim().split_once('\n').unwrap_or((text.trim(), ""));
    let mut page = page(url, body.as_bytes(), "text/plain; charset=utf-8", Origin::Web(&[]))?;
    if page.body.trim().is_empty() {
        return Err(skipped(SkipReason::NoText));
    }
    page.title = title.trim().to_owned();
    Ok(page)
}

fn response_document(url: &Url, response: HttpResponse) -> Result<Box<IndexDocument>, ReadFailure> {
    if response.status != 200 {
        return Err(skipped(SkipReason::NotOk));
    }
    let origin = Origin::Web(&response.robots);
    let page = match DocumentKind::detect(&response.body, Some(&response.content_type)) {
        Some(kind) => page_of_document(url, kind, response.body, origin)?,
        None if !is_type(&response.content_type, HTML_TYPES) => return Err(skipped(SkipReason::NotHtml)),
        // Content that is labeled as HTML but is not is detected by its first bytes.
        None => page(url, &response.body, &response.content_type, origin).map_err(|failure| {
            if failure.kind == SkipReason::Broken { skipped(SkipReason::NotHtml) } else { failure }
        })?,
    };
    if page.body.trim().is_empty() { Err(skipped(SkipReason::NoText)) } else { Ok(page) }
}

/// Returns whether a media type is one of these, whatever its parameters are.
fn is_type(content_type: &str, types: &[&str]) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    types.iter().any(|named| essence.eq_ignore_ascii_case(named))
}
