//! Messages, composed when they are sent.

use url::Url;
use websvc_notify::{
    ChannelMessage, CheckReport, ConfirmationMail, DiffMode, EmailAddress, Mail, Mailbox, ReportMail,
    channel_message,
};
use websvc_store::{LinkAction, MessageRecord, MonitorRecord, RecipientRecord, RecipientStatus};
use websvc_tasks::TaskError;
use websvc_types::monitor::MonitorPageStatus;
use websvc_validate::MonitorDefinition;

use crate::channel::{REPORTED, channels};
use crate::config::MailSettings;
use crate::monitors::Inner;
use crate::notification::enabled_email;
use crate::report::{MAX_PAGES_BYTES, check_report};
use crate::stored::StoredDefinition;
use crate::subscription::{addresses, link_url};
use crate::time::from_ms;

/// A message that is ready to be sent.
pub(super) enum Composed {
    Mail(Box<Mail>),
    Channel(Box<ChannelMessage>),
    /// It is no longer wanted.
    Unwanted,
    /// A later version of websvc stored the monitor, so this process cannot read it.
    Unreadable,
}

/// Composes a message as the monitor is now: one that was unsubscribed, paused in its notifications or deleted meanwhile
/// is not sent. Blocks.
pub(super) fn compose(inner: &Inner, message: &MessageRecord) -> Result<Composed, TaskError> {
    let Some(monitor) = inner.store.monitor_by_number(message.monitor)? else {
        return Ok(Composed::Unwanted);
    };
    let Some(stored) = StoredDefinition::decode(&monitor.definition) else { return Ok(Composed::Unreadable) };
    let definition = stored.definition;
    let Some(recipient) = &message.recipient else {
        return Ok(channel_report(inner, message, &definition)?.unwrap_or(Composed::Unwanted));
    };
    let mail = match message.check {
        Some(check) => report(inner, check, &definition, recipient)?,
        None => confirmation(inner, &monitor, &definition, recipient, message)?,
    };
    Ok(mail.map_or(Composed::Unwanted, |mail| Composed::Mail(Box::new(mail))))
}

/// Returns the mailbox of a recipient whom the monitor still names.
fn mailbox(definition: &MonitorDefinition, recipient: &RecipientRecord) -> Option<Mailbox> {
    let mut named = addresses(definition).into_iter();
    let address: EmailAddress = named.find(|address| address.as_str() == recipient.address)?;
    Some(Mailbox::from(address))
}

fn report(
    inner: &Inner,
    check: i64,
    definition: &MonitorDefinition,
    recipient: &RecipientRecord,
) -> Result<Option<Mail>, TaskError> {
    let (Some(mail), Some(to)) = (&inner.config.mail, mailbox(definition, recipient)) else {
        return Ok(None);
    };
    if recipient.status != RecipientStatus::Confirmed {
        return Ok(None);
    }
    let email = enabled_email(definition);
    let statuses = email.and_then(|email| email.statuses.as_deref()).unwrap_or(&REPORTED);
    let Some(report) = report_of(inner, check, definition, statuses)? else { return Ok(None) };
    let includes_diffs = email.and_then(|email| email.include_diffs).unwrap_or_default();
    let unsubscribe_url = link(inner, mail, LinkAction::Unsubscribe, recipient)?;
    let mail = ReportMail {
        report: &report,
        from: mail.mailer.from(),
        to: &to,
        unsubscribe_url: unsubscribe_url.as_ref(),
        diffs: if includes_diffs { DiffMode::Include } else { DiffMode::Omit },
        date: report.finished_at,
    };
    Ok(Some(mail.compose()))
}

fn confirmation(
    inner: &Inner,
    monitor: &MonitorRecord,
    definition: &MonitorDefinition,
    recipient: &RecipientRecord,
    message: &MessageRecord,
) -> Result<Option<Mail>, TaskError> {
    let (Some(mail), Some(to)) = (&inner.config.mail, mailbox(definition, recipient)) else {
        return Ok(None);
    };
    if recipient.status != RecipientStatus::Pending {
        return Ok(None);
    }
    let Some(confirm_url) = link(inner, mail, LinkAction::Confirm, recipient)? else {
        tracing::error!(monitor = monitor.id, "the link of a confirmation is not a URL");
        return Ok(None);
    };
    let mail = ConfirmationMail {
        monitor_name: &definition.name,
        from: mail.mailer.from(),
        to: &to,
        confirm_url: &confirm_url,
        date: from_ms(message.created_at_ms),
    };
    Ok(Some(mail.compose()))
}

fn link(
    inner: &Inner,
    mail: &MailSettings,
    action: LinkAction,
    recipient: &RecipientRecord,
) -> Result<Option<Url>, TaskError> {
    let secret = inner.store.link_secret()?;
    Ok(link_url(&mail.public_url, &secret, action, recipient).ok())
}

fn channel_report(
    inner: &Inner,
    message: &MessageRecord,
    definition: &MonitorDefinition,
) -> Result<Option<Composed>, TaskError> {
    let key = message.channel.as_deref().unwrap_or_default();
    let found = channels(definition).into_iter().find(|channel| channel.key == key);
    let (Some(found), Some(check)) = (found, message.check) else { return Ok(None) };
    let Some(report) = report_of(inner, check, definition, &found.statuses)? else { return Ok(None) };
    // A repeated message has the same ID.
    let id = format!("{}-{key}", report.check_id);
    let message = channel_message(&found.channel, found.template.as_ref(), &report, &id);
    Ok(message.map(|message| Composed::Channel(Box::new(message))))
}

/// Returns the report of a check about pages of these statuses, with the name that the monitor had then, or with its present name if a later version
/// stored the other one; `None` if the check was deleted.
fn report_of(
    inner: &Inner,
    check: i64,
    definition: &MonitorDefinition,
    statuses: &[MonitorPageStatus],
) -> Result<Option<CheckReport>, TaskError> {
    let Some(record) = inner.store.check_by_number(check)? else { return Ok(None) };
    let stored = StoredDefinition::decode(&record.definition);
    let name = &stored.as_ref().map_or(definition, |stored| &stored.definition).name;
    let report = check_report(&inner.store, &record, name, MAX_PAGES_BYTES)?;
    Ok(report.map(|report| report.only(statuses)))
}
