//! Reads Outlook messages (`.msg`): properties in the streams of a compound file ([MS-OXMSG]).

use super::encoded::charset;
use super::{Message, addresses, text, written};
use crate::compound_file::{CompoundFile, Entry};
use crate::error::DocumentError;
use crate::kind::DocumentKind;
use crate::limits::Limits;
use crate::parsed_document::ParsedDocument;
use crate::text_encoding::decode_text;

/// The maximum nesting depth of messages.
const MAX_MESSAGES: usize = 4;
/// The maximum number of attachments.
const MAX_STORAGES: usize = 200;
/// The maximum size of an image that is put into the output, in bytes.
const MAX_IMAGE_BYTES: usize = 1024 * 1024;
/// The tags of properties ([MS-OXPROPS]).
const SUBJECT: u16 = 0x0037;
const SENT: u16 = 0x0039;
const SENDER_NAME: u16 = 0x0c1a;
const SENDER_ADDRESS: u16 = 0x0c1f;
const SENDER_SMTP: u16 = 0x5d01;
const DISPLAY_TO: u16 = 0x0e04;
const DISPLAY_CC: u16 = 0x0e03;
const RECEIVED: u16 = 0x0e06;
const BODY: u16 = 0x1000;
const HTML: u16 = 0x1013;
const CODE_PAGE: u16 = 0x3fde;
const ATTACHED_NAME: u16 = 0x3704;
const ATTACHED_LONG_NAME: u16 = 0x3707;
const ATTACHED_TYPE: u16 = 0x370e;
const CONTENT_ID: u16 = 0x3712;

/// Reads an Outlook message.
pub(crate) fn parse(bytes: &[u8], limits: &Limits<'_>) -> Result<ParsedDocument, DocumentError> {
    let file = CompoundFile::open(DocumentKind::Msg, bytes)?;
    let message = message(&file, file.root(), 32, MAX_MESSAGES);
    Ok(written(&message, limits))
}

/// Reads the message in a storage. `header` is the size of the header of its fixed properties.
fn message(file: &CompoundFile<'_>, storage: Entry, header: usize, depth: usize) -> Message {
    let properties = Properties { file, storage, header };
    let name = properties.text(SENDER_NAME);
    let address = Some(properties.text(SENDER_SMTP)).filter(|text| !text.is_empty());
    let address = address.unwrap_or_else(|| properties.text(SENDER_ADDRESS));
    let from = match (name.is_empty() || name == address, address.contains('@')) {
        (true, _) => address,
        (false, true) => format!("{name} <{address}>"),
        (false, false) => name,
    };
    let date = properties.time(SENT).or_else(|| properties.time(RECEIVED));
    let mut message = Message {
        subject: properties.text(SUBJECT),
        from: addresses(&from),
        to: addresses(&properties.text(DISPLAY_TO)),
        cc: addresses(&properties.text(DISPLAY_CC)),
        date: date.clone().map(|date| date.replace('T', " ").replace('Z', " UTC")).unwrap_or_default(),
        iso_date: date,
        plain: properties.text(BODY),
        html: properties.html(),
        ..Message::default()
    };
    if text::lacks_words(&message.html, &message.plain) {
        message.html.clear();
    } else if !message.html.trim().is_empty() {
        message.plain.clear();
    }
    let mut attachments = file.children(storage);
    attachments.retain(|storage| file.name(*storage).starts_with("__attach_version1.0_"));
    attachments.sort_by_key(|storage| file.name(*storage).to_owned());
    for storage in attachments.into_iter().take(MAX_STORAGES) {
        attachment(file, storage, depth, &mut message);
    }
    message
}

fn attachment(file: &CompoundFile<'_>, storage: Entry, depth: usize, message: &mut Message) {
    let properties = Properties { file, storage, header: 8 };
    let embedded = file.child(storage, "__substg1.0_3701000D");
    if let Some(embedded) = embedded.filter(|_| depth > 0) {
        message.messages.push(self::message(file, embedded, 24, depth - 1));
        return;
    }
    let long_name = Some(properties.text(ATTACHED_LONG_NAME)).filter(|name| !name.is_empty());
    let name = long_name.unwrap_or_else(|| properties.text(ATTACHED_NAME));
    let media_type = Some(properties.text(ATTACHED_TYPE)).filter(|kind| !kind.is_empty());
    let media_type = media_type.unwrap_or_else(|| "application/octet-stream".to_owned());
    let content = file.child(storage, "__substg1.0_37010102");
    let size = content.map_or(0, |stream| file.size(stream));
    let id = properties.text(CONTENT_ID);
    if let Some(stream) = content.filter(|_| size <= MAX_IMAGE_BYTES && media_type.starts_with("image/"))
        && !id.is_empty()
    {
        message.images.push((id, media_type.clone(), file.read(stream)));
    }
    message.attachments.push((name, media_type, size));
}

/// The properties of a storage.
#[derive(Clone, Copy)]
struct Properties<'p, 'b> {
    file: &'p CompoundFile<'b>,
    storage: Entry,
    header: usize,
}

impl Properties<'_, '_> {
    fn stream(&self, tag: u16, kind: u16) -> Option<Vec<u8>> {
        let stream = self.file.child(self.storage, &format!("__substg1.0_{tag:04X}{kind:04X}"))?;
        Some(self.file.read(stream))
    }

    /// Returns a text: in UTF-16, or in the code page of the message.
    fn text(&self, tag: u16) -> String {
        let text = match (self.stream(tag, 0x001f), self.stream(tag, 0x001e)) {
            (Some(wide), _) => encoding_rs::UTF_16LE.decode_without_bom_handling(&wide).0.into_owned(),
            (None, Some(narrow)) => decode_text(&narrow),
            (None, None) => String::new(),
        };
        text.trim_end_matches('\0').to_owned()
    }

    fn binary(&self, tag: u16) -> Option<Vec<u8>> {
        self.stream(tag, 0x0102)
    }

    /// Returns the content of the HTML body.
    fn html(&self) -> String {
        let html = match self.binary(HTML) {
            Some(bytes) => {
                let page = self.fixed(CODE_PAGE).map_or(0, |value| value & 0xffff_ffff);
                let name = if page == 65001 { "utf-8".to_owned() } else { format!("windows-{page}") };
                // The declared code page is often wrong for UTF-8.
                match String::from_utf8(bytes) {
                    Ok(text) => text,
                    Err(error) => charset(error.as_bytes(), &name),
                }
            }
            None => self.text(HTML),
        };
        text::body_of(&html).trim().to_owned()
    }

    /// Returns the value of a property of a fixed size.
    fn fixed(&self, tag: u16) -> Option<u64> {
        let stream = self.file.read(self.file.child(self.storage, "__properties_version1.0")?);
        let entries = stream.get(self.header..)?.chunks_exact(16);
        let entry = entries.into_iter().find(|entry| entry[2..4] == tag.to_le_bytes())?;
        entry[8..].try_into().ok().map(u64::from_le_bytes)
    }

    /// Returns a time in ISO 8601: the number of 100 nanoseconds since 1601.
    fn time(&self, tag: u16) -> Option<String> {
        let seconds = i64::try_from(self.fixed(tag)? / 10_000_000).ok().filter(|seconds| *seconds > 0)?;
        let (days, seconds) = (seconds / 86_400, seconds % 86_400);
        // 1601-01-01 is 134,774 days before 1970-01-01.
        let (year, month, day) = crate::number_format::civil_from_days(days - 134_774);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        (year <= 9999).then(|| format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"))
    }
}
