//! The message that asks a recipient to confirm a subscription.

use jiff::Timestamp;
use url::Url;

use super::{Draft, Mail, html};
use crate::address::Mailbox;
use crate::escape::escape;
use crate::wording::monitor_name;

/// A message that asks a recipient to confirm that they want the results of a monitor.
#[derive(Debug, Clone, Copy)]
pub struct ConfirmationMail<'a> {
    /// Name of the monitor.
    pub monitor_name: &'a str,
    /// Sender of the message.
    pub from: &'a Mailbox,
    /// Recipient of the message.
    pub to: &'a Mailbox,
    /// URL of the page on which the recipient confirms.
    pub confirm_url: &'a Url,
    /// Date of the message.
    pub date: Timestamp,
}

impl ConfirmationMail<'_> {
    /// Composes the message. The name of the monitor is from a person who is unknown to the recipient, so it is the only
    /// text of theirs.
    #[must_use]
    pub fn compose(&self) -> Mail {
        let Self { monitor_name: name, from, to, confirm_url, date } = *self;
        let name = monitor_name(name);
        let request =
            format!("This address was entered as a recipient of the results of the monitor \"{name}\".");
        let choice = "To receive them, confirm here:";
        let otherwise = "If not, ignore this message. No more messages are sent then.";
        let subject = format!("Confirm the messages of the monitor \"{name}\"");
        let body = [
            html::paragraph(&escape(&request)),
            html::paragraph(&format!("{} {}", escape(choice), html::link(confirm_url.as_str(), "Confirm"))),
            html::paragraph(&escape(otherwise)),
        ];
        Mail::new(Draft {
            from,
            to,
            date,
            subject: &subject,
            id: confirm_url.as_str(),
            plain: format!("{request}\n\n{choice}\n{confirm_url}\n\n{otherwise}\n"),
            html: html::document(&subject, &body.concat()),
            headers: Vec::new(),
        })
    }
}
