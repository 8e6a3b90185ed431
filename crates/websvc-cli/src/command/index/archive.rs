//! Web archives: conversion of the records of a WARC stream to documents.

use std::io::BufRead;

use anyhow::Result;
use url::Url;
use websvc::types::index::IndexDocument;
use websvc_documents::DocumentKind;

use super::document::page_of_document;
use super::item::{DocumentVisitor, Item, ReadFailure, SkipReason};
use super::page::{Origin, page};
use super::response::{HttpResponse, HttpResponseError};
use super::warc::{MAX_BLOCK_BYTES, ReadOutcome, Record, Records};

/// Visits all records of the stream `name`. Damaged records are visited as failures.
pub(super) fn read(name: &str, input: impl BufRead, visit: &mut DocumentVisitor<'_>) -> Result<()> {
    let mut records = Records::new(input);
    while let Some(next) = records.next()? {
        visit(match next {
            ReadOutcome::Record(record) => item(name, record),
            ReadOutcome::TooLarge(target) => failed(name, &target, ReadFailure::too_large(MAX_BLOCK_BYTES)),
            ReadOutcome::Broken(reason) => {
                Item::Failed { subject: name.to_owned(), failure: ReadFailure::broken(&reason) }
            }
        })?;
    }
    Ok(())
}

fn item(name: &str, record: Record) -> Item {
    let target = record.target.clone();
    match document(record) {
        Ok(document) => Item::Document(document),
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
fn document(record: Record) -> Result<Box<IndexDocument>, ReadFailure> {
    let skipped = |reason: SkipReason| ReadFailure::new(reason, reason.label());
    let url = Url::parse(&record.target).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let (Some(url), "response" | "resource") = (url, record.kind.as_str()) else {
        return Err(skipped(SkipReason::NotAPage));
    };
    let response = if record.kind == "resource" {
        HttpResponse {
            status: 200,
            content_type: record.content_type,
            robots: Vec::new(),
            body: record.block,
        }
    } else {
        HttpResponse::read(record.block).map_err(|error| match error {
            HttpResponseError::Malformed => ReadFailure::broken(&"the block is not an HTTP response"),
            HttpResponseError::TooLarge => ReadFailure::too_large(MAX_BLOCK_BYTES),
        })?
    };
    if response.status != 200 {
        return Err(skipped(SkipReason::NotOk));
    }
    let origin = Origin::Web(&response.robots);
    let page = match DocumentKind::detect(&response.body, Some(&response.content_type)) {
        Some(kind) => page_of_document(&url, kind, response.body, origin)?,
        None if !is_html(&response.content_type) => return Err(skipped(SkipReason::NotHtml)),
        // Content that is labeled as HTML but is not is detected by its first bytes.
        None => page(&url, &response.body, &response.content_type, origin).map_err(|failure| {
            if failure.kind == SkipReason::Broken { skipped(SkipReason::NotHtml) } else { failure }
        })?,
    };
    if page.body.trim().is_empty() { Err(skipped(SkipReason::NoText)) } else { Ok(page) }
}

fn is_html(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    ["text/html", "application/xhtml+xml"].iter().any(|html| essence.eq_ignore_ascii_case(html))
}
