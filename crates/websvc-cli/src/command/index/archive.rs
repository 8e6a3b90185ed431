//! Web archives: the pages in the records of a WARC stream.

use std::io::BufRead;

use anyhow::Result;
use url::Url;
use websvc::types::index::IndexDocument;
use websvc_documents::DocumentKind;

use super::document;
use super::item::{Fault, Item, Why};
use super::message::{Message, NoMessage};
use super::page::{Origin, page};
use super::reader::Take;
use super::warc::{MAX_BLOCK_BYTES, Next, Record, Records};

/// Reads all records of a stream that is called `name`; what is broken is told.
pub(super) fn read(name: &str, from: impl BufRead, take: &mut Take<'_>) -> Result<()> {
    let mut records = Records::new(from);
    while let Some(next) = records.next()? {
        take(match next {
            Next::Record(record) => item(name, record),
            Next::TooLarge(what) => failed(name, &what, Fault::too_large(MAX_BLOCK_BYTES)),
            Next::Broken(reason) => Item::Failed { what: name.to_owned(), fault: Fault::broken(&reason) },
        })?;
    }
    Ok(())
}

fn item(name: &str, record: Record) -> Item {
    let target = record.target.clone();
    match document(record) {
        Ok(document) => Item::Document(document),
        Err(fault) => match fault.why {
            Why::Broken | Why::TooLarge => failed(name, &target, fault),
            why => Item::Skipped(why),
        },
    }
}

fn failed(name: &str, target: &str, fault: Fault) -> Item {
    Item::Failed { what: format!("{name}: {target}"), fault }
}

/// Returns the page of a record that holds one.
fn document(record: Record) -> Result<Box<IndexDocument>, Fault> {
    let skipped = |why: Why| Fault::new(why, why.label());
    let url = Url::parse(&record.target).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let (Some(url), "response" | "resource") = (url, record.kind.as_str()) else {
        return Err(skipped(Why::NotAPage));
    };
    let message = if record.kind == "resource" {
        Message { status: 200, content_type: record.content_type, robots: Vec::new(), body: record.block }
    } else {
        Message::read(record.block).map_err(|error| match error {
            NoMessage::Malformed => Fault::broken(&"its block is no HTTP answer"),
            NoMessage::TooLarge => Fault::too_large(MAX_BLOCK_BYTES),
        })?
    };
    if message.status != 200 {
        return Err(skipped(Why::NotOk));
    }
    let document = DocumentKind::of(&message.body, Some(&message.content_type));
    if document.is_none() && !is_html(&message.content_type) {
        return Err(skipped(Why::NotHtml));
    }
    if let Some(kind) = document {
        let html = document::as_page(kind, message.body)?;
        let mut page = page(&url, html.as_bytes(), "text/html; charset=utf-8", Origin::Web(&message.robots))?;
        page.content_type = Some(kind.media_type().to_owned());
        return if page.body.trim().is_empty() { Err(skipped(Why::NoText)) } else { Ok(page) };
    }
    // What is called HTML and is none is recognised by its first bytes.
    let page = page(&url, &message.body, &message.content_type, Origin::Web(&message.robots));
    let page = page.map_err(|fault| if fault.why == Why::Broken { skipped(Why::NotHtml) } else { fault })?;
    if page.body.trim().is_empty() {
        return Err(skipped(Why::NoText));
    }
    Ok(page)
}

fn is_html(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    ["text/html", "application/xhtml+xml"].iter().any(|html| essence.eq_ignore_ascii_case(html))
}
