//! The message about a check.

use jiff::Timestamp;
use url::Url;

use super::{Draft, Mail, html, plain};
use crate::address::Mailbox;
use crate::digest::{DiffMode, Digest};
use crate::report::CheckReport;
use crate::wording::headline;

/// Maximum length of an address in a header, in bytes: a line of a message has at most 998.
const MAX_HEADER_URL_BYTES: usize = 900;

/// A message about a check to one recipient.
#[derive(Debug, Clone, Copy)]
pub struct ReportMail<'a> {
    /// The check.
    pub report: &'a CheckReport,
    /// Sender of the message.
    pub from: &'a Mailbox,
    /// Recipient of the message.
    pub to: &'a Mailbox,
    /// URL that ends the subscription of this recipient: a page for `GET`, and with a `POST` from the mail program
    /// (RFC 8058) at once.
    pub unsubscribe_url: Option<&'a Url>,
    /// Decides whether the differences are shown.
    pub diffs: DiffMode,
    /// Date of the message.
    pub date: Timestamp,
}

impl ReportMail<'_> {
    /// Composes the message.
    #[must_use]
    pub fn compose(&self) -> Mail {
        let Self { report, from, to, unsubscribe_url, diffs, date } = *self;
        let digest = Digest::new(report, diffs);
        let subject = headline(report);
        let mut headers = Vec::new();
        // A URL is ASCII without blanks and angle brackets.
        if let Some(url) = unsubscribe_url.filter(|url| url.as_str().len() <= MAX_HEADER_URL_BYTES) {
            headers.push(("List-Unsubscribe", format!("<{url}>")));
            if url.scheme() == "https" {
                headers.push(("List-Unsubscribe-Post", "List-Unsubscribe=One-Click".to_owned()));
            }
        }
        Mail::new(Draft {
            from,
            to,
            date,
            subject: &subject,
            id: &report.check_id.to_string(),
            plain: plain::report(report, &digest, &subject, unsubscribe_url),
            html: html::report(report, &digest, &subject, unsubscribe_url),
            headers,
        })
    }
}
