//! The messages of a check, when it has ended: an email to each confirmed recipient, and a message to each channel.

use std::time::Duration;

use websvc_store::{CheckRecord, MessageOutcome, MessageRecord, RecipientRecord, RecipientStatus};
use websvc_tasks::TaskError;
use websvc_types::monitor::MonitorPageStatus;
use websvc_validate::MonitorDefinition;

use super::attempt::leave_to_later_version;
use crate::channel::{ChannelOutcome, MonitorChannel, REPORTED, channels};
use crate::monitors::{Inner, Monitors};
use crate::notification::{Deliveries, EmailDeliveries, enabled_email, end_messages};
use crate::report::found_statuses;
use crate::stored::StoredDefinition;
use crate::subscription::addresses;

/// Maximum number of messages of all teams that wait. Further ones are not sent.
const MAX_WAITING: u64 = 100_000;

/// Delay after a failure of the store.
const FAILURE_DELAY: Duration = Duration::from_secs(1);

const NOTHING_NOTABLE: &str = "the check found nothing to report";
const NOT_CONFIRMED: &str = "no recipient has confirmed their address";
const TOO_MANY: &str = "too many messages are waiting";

/// Outcome of enqueueing the messages of a check.
enum Expansion {
    /// They are enqueued, or there are none.
    Done,
    /// A later version of websvc stored the monitor.
    Unreadable,
}

/// Enqueues the messages of a check.
pub(super) async fn expand(monitors: Monitors, message: MessageRecord) {
    loop {
        let owned = message.clone();
        match monitors.run_blocking(move |inner| try_expand(inner, &owned)).await {
            Ok(Expansion::Done) => break,
            Ok(Expansion::Unreadable) => return leave_to_later_version(&monitors, &message).await,
            Err(TaskError::Stopping) => return,
            Err(error) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "the messages of a check could not be enqueued; retrying"
                );
                tokio::time::sleep(FAILURE_DELAY).await;
            }
        }
    }
    monitors.inner.message_wakeup.notify_one();
}

/// Enqueues the messages of a check. Blocks.
fn try_expand(inner: &Inner, message: &MessageRecord) -> Result<Expansion, TaskError> {
    let now_ms = inner.store.now_ms();
    let Some(record) = check(inner, message)? else {
        inner.store.record_message_outcome(message, MessageOutcome::Dropped, str::to_owned, now_ms)?;
        return Ok(Expansion::Done);
    };
    let Some(StoredDefinition { definition, .. }) = StoredDefinition::decode(&record.definition) else {
        return Ok(Expansion::Unreadable);
    };
    let deliveries = end_messages(&definition, inner.config.mail.is_some()).deliveries;
    let found = found_statuses(&inner.store, &record)?;
    let is_notable = |statuses: &[MonitorPageStatus]| found.iter().any(|status| statuses.contains(status));
    let email = enabled_email(&definition).filter(|_| deliveries.email.error.is_none());
    let has_email = email.is_some_and(|email| is_notable(email.statuses.as_deref().unwrap_or(&REPORTED)));
    let recipients = if has_email { confirmed(inner, &record, &definition)? } else { Vec::new() };
    let numbers: Vec<i64> = recipients.iter().map(|recipient| recipient.number).collect();
    let (notified, silent): (Vec<_>, Vec<_>) =
        channels(&definition).into_iter().partition(|channel| is_notable(&channel.statuses));
    let keys = |channels: Vec<MonitorChannel>| -> Vec<String> {
        channels.into_iter().map(|channel| channel.key).collect()
    };
    let (notified, silent) = (keys(notified), keys(silent));
    let notifications = |emails: u64, fits: bool| {
        let no_emails = match (has_email, recipients.is_empty()) {
            (false, _) => NOTHING_NOTABLE,
            (true, true) => NOT_CONFIRMED,
            (true, false) => TOO_MANY,
        };
        let addresses = recipients.iter().map(|recipient| recipient.address.clone());
        let email = EmailDeliveries {
            recipients: if emails > 0 { addresses.collect() } else { Vec::new() },
            pending: emails,
            failed: 0,
            error: deliveries.email.error.or_else(|| (emails == 0).then(|| no_emails.to_owned())),
        };
        let mut channels = deliveries.channels;
        let outcome = |error: Option<&str>| ChannelOutcome {
            is_attempted: error.is_none(),
            is_sent: false,
            error: error.map(str::to_owned),
        };
        let too_many = (!fits).then_some(TOO_MANY);
        channels.extend(notified.iter().map(|key| (key.clone(), outcome(too_many))));
        channels.extend(silent.into_iter().map(|key| (key, outcome(Some(NOTHING_NOTABLE)))));
        Deliveries { email, channels, found: Some(found.clone()) }.encode()
    };
    inner.store.expand_check_message(message, &numbers, &notified, MAX_WAITING, notifications, now_ms)?;
    Ok(Expansion::Done)
}

/// Returns the check of a message; `None` if it was deleted.
fn check(inner: &Inner, message: &MessageRecord) -> Result<Option<CheckRecord>, TaskError> {
    let Some(number) = message.check else { return Ok(None) };
    Ok(inner.store.check_by_number(number)?)
}

/// Returns the recipients of a check that have confirmed their addresses.
fn confirmed(
    inner: &Inner,
    record: &CheckRecord,
    definition: &MonitorDefinition,
) -> Result<Vec<RecipientRecord>, TaskError> {
    let addresses = addresses(definition);
    let is_named =
        |recipient: &RecipientRecord| addresses.iter().any(|address| address.as_str() == recipient.address);
    let mut recipients = inner.store.recipients(record.monitor)?;
    recipients.retain(|recipient| is_named(recipient) && recipient.status == RecipientStatus::Confirmed);
    Ok(recipients)
}
