//! Mail: the message for one recipient.

mod confirmation;
mod html;
mod plain;
mod report;

use std::fmt;
use std::time::SystemTime;

use data_encoding::HEXLOWER;
use jiff::Timestamp;
use lettre::Message;
use lettre::message::header::{ContentTransferEncoding, ContentType, HeaderName, HeaderValue};
use lettre::message::{Body, MultiPart, MultiPartKind, SinglePart};
use sha2::{Digest, Sha256};

pub use confirmation::ConfirmationMail;
pub(crate) use html::content as content_html;
pub(crate) use plain::{body, change_words, notes, summary};
pub use report::ReportMail;

use crate::address::{EmailAddress, Mailbox, header_text};

/// Separates the parts of a message. Neither of the encodings that are used can produce `=_` (RFC 2045, section 6.7),
/// so no text can end its part.
const BOUNDARY: &str = "=_websvc_part";

/// A message for one recipient, ready to be sent.
#[derive(Clone)]
pub struct Mail {
    from: EmailAddress,
    to: EmailAddress,
    subject: String,
    bytes: Vec<u8>,
}

/// Content of a message before it is encoded.
struct Draft<'a> {
    from: &'a Mailbox,
    to: &'a Mailbox,
    date: Timestamp,
    subject: &'a str,
    /// Value from which the message ID is made. A message that is composed again has the same ID, so that the mail
    /// server of the recipient can detect a repeated delivery.
    id: &'a str,
    plain: String,
    html: String,
    headers: Vec<(&'static str, String)>,
}

impl Mail {
    fn new(draft: Draft<'_>) -> Self {
        let Draft { from, to, date, subject, id, plain, html, headers } = draft;
        let subject = header_text(subject);
        let identity = format!("{id}\n{}", to.address);
        let digest = HEXLOWER.encode(&Sha256::digest(identity.as_bytes())[..16]);
        let mut message = Message::builder()
            .from(from.to_lettre())
            .to(to.to_lettre())
            .date(SystemTime::from(date.max(Timestamp::UNIX_EPOCH)))
            .subject(subject.clone())
            .message_id(Some(format!("<{digest}@{}>", from.address.domain())))
            .raw_header(header("Auto-Submitted", "auto-generated"));
        for (name, value) in headers {
            message = message.raw_header(header(name, &value));
        }
        let parts = MultiPart::builder()
            .kind(MultiPartKind::Alternative)
            .boundary(BOUNDARY)
            .singlepart(part(ContentType::TEXT_PLAIN, plain))
            .singlepart(part(ContentType::TEXT_HTML, html));
        let message = message.multipart(parts).expect("the message has one sender and one recipient");
        Self { from: from.address.clone(), to: to.address.clone(), subject, bytes: message.formatted() }
    }

    /// Returns the address of the sender.
    #[must_use]
    pub fn sender(&self) -> &EmailAddress {
        &self.from
    }

    /// Returns the address of the recipient.
    #[must_use]
    pub fn recipient(&self) -> &EmailAddress {
        &self.to
    }

    /// Returns the subject.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// Returns the message in the Internet Message Format (RFC 5322), in ASCII.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl fmt::Debug for Mail {
    /// Prints no content, which may have secret links.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mail").field("to", &self.to).field("bytes", &self.bytes.len()).finish_non_exhaustive()
    }
}

fn header(name: &'static str, value: &str) -> HeaderValue {
    HeaderValue::new(HeaderName::new_from_ascii_str(name), value.to_owned())
}

/// Encodes one part, so that it is ASCII with short lines: as quoted-printable, or as Base64 if that is shorter.
fn part(content_type: ContentType, text: String) -> SinglePart {
    let other_bytes = text.bytes().filter(|byte| !byte.is_ascii()).count();
    let is_base64_shorter = other_bytes * 6 > text.len();
    let encoding = if is_base64_shorter {
        ContentTransferEncoding::Base64
    } else {
        ContentTransferEncoding::QuotedPrintable
    };
    let body = Body::new_with_encoding(text, encoding).expect("every text has this encoding");
    SinglePart::builder().header(content_type).body(body)
}
