//! Reads mail messages: the headers, the text or the HTML, and the list of the attachments.

mod encoded;
mod header;
mod mime;
mod msg;
mod text;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::error::DocumentError;
use crate::html::{Html, escape};
use crate::limits::Limits;
use crate::parsed_document::{DocumentMetadata, ParsedDocument};
use mime::Part;

use header::{addresses, iso_date};
pub(crate) use mime::is_message;
pub(crate) use msg::parse as parse_msg;

/// The maximum nesting depth of messages.
const MAX_MESSAGES: usize = 4;
/// The maximum number of attachments that are listed.
const MAX_ATTACHMENTS: usize = 1000;
/// The maximum number of images that are put into the output.
const MAX_IMAGES: usize = 100;
/// The maximum size of all images of a message that are put into the output, in bytes.
const MAX_IMAGE_BYTES: usize = 4 * 1024 * 1024;

/// A message, whichever its format is.
#[derive(Debug, Default)]
pub(crate) struct Message {
    pub(crate) subject: String,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) cc: String,
    /// The date as it is displayed, and in ISO 8601.
    pub(crate) date: String,
    pub(crate) iso_date: Option<String>,
    pub(crate) plain: String,
    pub(crate) html: String,
    /// The names, the media types and the sizes of the attachments.
    pub(crate) attachments: Vec<(String, String, usize)>,
    /// The images that the HTML refers to, by their content ID: the media type and the bytes.
    pub(crate) images: Vec<(String, String, Vec<u8>)>,
    /// The messages that are attached.
    pub(crate) messages: Vec<Message>,
}

/// Reads a message in the Internet message format (`.eml`).
pub(crate) fn parse(bytes: &[u8], limits: &Limits<'_>) -> Result<ParsedDocument, DocumentError> {
    let message = message(&Part::parse(bytes), MAX_MESSAGES);
    Ok(written(&message, limits))
}

/// Returns a message as a document.
pub(crate) fn written(message: &Message, limits: &Limits<'_>) -> ParsedDocument {
    let mut html = Html::new(limits.max_output_bytes);
    write(message, 1, &mut html);
    let mut warnings = Vec::new();
    if html.is_full() {
        warnings.push("the message was cut off at the maximum output size".to_owned());
    }
    let non_empty = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    let metadata = DocumentMetadata {
        title: non_empty(&message.subject),
        author: non_empty(&message.from),
        created: message.iso_date.clone(),
        ..DocumentMetadata::default()
    };
    ParsedDocument { html: html.into_string(), metadata, warnings, ..ParsedDocument::default() }
}

/// Reads the headers and the parts of a message.
fn message(part: &Part<'_>, depth: usize) -> Message {
    let header = |name| part.header(name).map(encoded::decode_words).unwrap_or_default();
    let date = header("date");
    let mut message = Message {
        subject: header("subject"),
        from: addresses(&header("from")),
        to: addresses(&header("to")),
        cc: addresses(&header("cc")),
        iso_date: iso_date(&date),
        date,
        ..Message::default()
    };
    read_part(part, depth, &mut message);
    message
}

/// Adds the content of a part to a message.
fn read_part(part: &Part<'_>, depth: usize, message: &mut Message) {
    let kind = part.media_type();
    let name = part.file_name();
    let is_attachment = part.is_attachment() || name.is_some() && !kind.starts_with("multipart/");
    match kind.as_str() {
        "multipart/alternative" => alternative(part, depth, message),
        kind if kind.starts_with("multipart/") => {
            part.parts().iter().for_each(|inner| read_part(inner, depth, message));
        }
        "message/rfc822" | "message/global" if depth > 0 => {
            let bytes = part.body();
            message.messages.push(self::message(&Part::parse(&bytes), depth - 1));
        }
        "text/plain" if !is_attachment => {
            if !message.plain.is_empty() {
                message.plain.push_str("\n\n");
            }
            message.plain.push_str(&part.text());
        }
        "text/html" if !is_attachment => message.html.push_str(&text::body_of(&part.text())),
        kind => {
            let bytes = part.body();
            let is_shown = kind.starts_with("image/")
                && bytes.len() <= MAX_IMAGE_BYTES
                && message.images.len() < MAX_IMAGES;
            let id = part.header("content-id").filter(|_| is_shown);
            if let Some(id) = id {
                let id = id.trim_matches(['<', '>', ' ']).to_owned();
                message.images.push((id, kind.to_owned(), bytes.to_vec()));
            }
            // An image without a name is a part of the HTML.
            if id.is_some() && name.is_none() {
                return;
            }
            if message.attachments.len() < MAX_ATTACHMENTS {
                message.attachments.push((name.unwrap_or_default(), kind.to_owned(), bytes.len()));
            }
        }
    }
}

/// Reads the alternatives of a text: the HTML, unless it lacks words of the plain text.
fn alternative(part: &Part<'_>, depth: usize, message: &mut Message) {
    let mut all = Message::default();
    part.parts().iter().for_each(|inner| read_part(inner, depth, &mut all));
    if text::lacks_words(&all.html, &all.plain) {
        all.html.clear();
    }
    if all.html.is_empty() {
        if !message.plain.is_empty() && !all.plain.is_empty() {
            message.plain.push_str("\n\n");
        }
        message.plain.push_str(&all.plain);
    } else {
        message.html.push_str(&all.html);
    }
    message.attachments.append(&mut all.attachments);
    message.images.append(&mut all.images);
    message.messages.append(&mut all.messages);
}

fn write(message: &Message, level: usize, html: &mut Html) {
    if !message.subject.is_empty() {
        html.push(&format!("<h{level}>{}</h{level}>\n", escape(&message.subject)));
    }
    let fields = [("From", &message.from), ("To", &message.to), ("Cc", &message.cc), ("Date", &message.date)];
    let lines: Vec<String> = fields
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("<strong>{name}:</strong> {}", escape(value)))
        .collect();
    if !lines.is_empty() {
        html.push(&format!("<p>{}</p>\n", lines.join("<br>")));
    }
    html.push(&text::to_html(&message.plain));
    html.push(&with_images(&message.html, &message.images));
    if !message.attachments.is_empty() {
        html.push("<p><strong>Attachments:</strong></p>\n<ul>");
        for (name, kind, size) in &message.attachments {
            let name = if name.is_empty() { "unnamed" } else { name };
            html.push(&format!("<li>{} ({}, {size} bytes)</li>\n", escape(name), escape(kind)));
        }
        html.push("</ul>\n");
    }
    for inner in &message.messages {
        html.push("<hr>\n");
        write(inner, (level + 1).min(6), html);
    }
}

/// Returns the HTML of a message with its own images, as `data:` URLs.
fn with_images(html: &str, images: &[(String, String, Vec<u8>)]) -> String {
    let mut html = html.to_owned();
    let mut remaining = MAX_IMAGE_BYTES;
    for (id, kind, bytes) in images {
        let reference = format!("cid:{id}");
        let uses = html.matches(&reference).count();
        let is_shown = matches!(kind.as_str(), "image/png" | "image/jpeg" | "image/gif" | "image/webp");
        let Some(left) = remaining.checked_sub(bytes.len().saturating_mul(uses)) else { continue };
        if uses > 0 && is_shown && !id.is_empty() {
            remaining = left;
            html = html.replace(&reference, &format!("data:{kind};base64,{}", STANDARD.encode(bytes)));
        }
    }
    html
}
