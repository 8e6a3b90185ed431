//! Web archives: the pages in the records of a WARC stream.

use std::io::BufRead;

use anyhow::Result;
use url::Url;
use websvc::types::index::IndexDocument;
use websvc_documents::DocumentKind;

use super::document;
use super::item::{Item, ReadFailure, SkipReason};
use super::message::{HttpMessage, HttpMessageError};
use super::page::{Origin, page};
use super::reader::DocumentVisitor;
use super::warc::{MAX_BLOCK_BYTES, ReadOutcome, Record, Records};

/// Reads all records of a stream that is called `name`; what is broken is told.
pub(super) fn read(name: &str, from: impl BufRead, take: &mut DocumentVisitor<'_>) -> Result<()> {
    let mut records = Records::new(from);
    while let Some(next) = records.next()? {
        take(match next {
            ReadOutcome::Record(record) => item(name, record),
            ReadOutcome::TooLarge(what) => failed(name, &what, ReadFailure::too_large(MAX_BLOCK_BYTES)),
            ReadOutcome::Broken(reason) => {
                Item::Failed { what: name.to_owned(), fault: ReadFailure::broken(&reason) }
            }
        })?;
    }
    Ok(())
}

fn item(name: &str, record: Record) -> Item {
    let target = record.target.clone();
    match document(record) {
        Ok(document) => Item::Document(document),
        Err(fault) => match fault.why {
            SkipReason::Broken | SkipReason::TooLarge => failed(name, &target, fault),
            why => Item::Skipped(why),
        },
    }
}

fn failed(name: &str, target: &str, fault: ReadFailure) -> Item {
    Item::Failed { what: format!("{name}: {target}"), fault }
}

/// Returns the page of a record that holds one.
fn document(record: Record) -> Result<Box<IndexDocument>, ReadFailure> {
    let skipped = |why: SkipReason| ReadFailure::new(why, why.label());
    let url = Url::parse(&record.target).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let (Some(url), "response" | "resource") = (url, record.kind.as_str()) else {
        return Err(skipped(SkipReason::NotAPage));
    };
    let message = if record.kind == "resource" {
        HttpMessage { status: 200, content_type: record.content_type, robots: Vec::new(), body: record.block }
    } else {
        HttpMessage::read(record.block).map_err(|error| match error {
            HttpMessageError::Malformed => ReadFailure::broken(&"its block is no HTTP answer"),
            HttpMessageError::TooLarge => ReadFailure::too_large(MAX_BLOCK_BYTES),
        })?
    };
    if message.status != 200 {
        return Err(skipped(SkipReason::NotOk));
    }
    let document = DocumentKind::of(&message.body, Some(&message.content_type));
    if document.is_none() && !is_html(&message.content_type) {
        return Err(skipped(SkipReason::NotHtml));
    }
    if let Some(kind) = document {
        let html = document::as_page(kind, message.body)?;
        let mut page = page(&url, html.as_bytes(), "text/html; charset=utf-8", Origin::Web(&message.robots))?;
        page.content_type = Some(kind.media_type().to_owned());
        return if page.body.trim().is_empty() { Err(skipped(SkipReason::NoText)) } else { Ok(page) };
    }
    // What is called HTML and is none is recognised by its first bytes.
    let page = page(&url, &message.body, &message.content_type, Origin::Web(&message.robots));
    let page =
        page.map_err(
            |fault| if fault.why == SkipReason::Broken { skipped(SkipReason::NotHtml) } else { fault },
        )?;
    if page.body.trim().is_empty() {
        return Err(skipped(SkipReason::NoText));
    }
    Ok(page)
}

fn is_html(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    ["text/html", "application/xhtml+xml"].iter().any(|html| essence.eq_ignore_ascii_case(html))
}
