//! One attempt to send one message, and its outcome.

use std::time::Duration;

use websvc_notify::webhook::{PostError, send_message};
use websvc_notify::{EmailAddress, MailError, MailPhase};
use websvc_store::{ConfirmationPermit, MessageKind, MessageOutcome, MessageRecord};
use websvc_tasks::TaskError;

use super::compose::{Composed, compose};
use super::metrics::CountedOutcome;
use crate::monitors::Monitors;
use crate::notification::Deliveries;
use crate::time::to_ms;

/// Maximum of attempts that may have sent the message without a record of it: at most one duplicate is sent.
const MAX_UNCERTAIN: u32 = 2;

/// Delay after a failure of the store.
const FAILURE_DELAY: Duration = Duration::from_secs(1);

/// The end of an attempt.
enum Attempt {
    Sent,
    /// The message is no longer wanted.
    Unwanted,
    Failed(SendFailure),
    /// Nothing was sent: a limit postpones the message, or another replica has it.
    Postponed,
}

/// The reason why a message was not sent.
struct SendFailure {
    error: String,
    /// True if another attempt may succeed.
    is_transient: bool,
    /// True if the message may have been sent nevertheless.
    is_uncertain: bool,
    /// The delay that the receiver requests.
    retry_after: Option<Duration>,
}

impl SendFailure {
    /// Returns a failure that no further attempt would change.
    fn permanent(error: impl Into<String>) -> Self {
        Self { error: error.into(), is_transient: false, is_uncertain: false, retry_after: None }
    }

    /// Returns the failure for a monitor that a later version stored. A replica of that version may take the message.
    fn unreadable() -> Self {
        let error = "the monitor was stored by a later version of websvc".to_owned();
        Self { error, is_transient: true, is_uncertain: false, retry_after: None }
    }
}

/// Sends a message once, and stores the outcome.
pub(super) async fn deliver(monitors: Monitors, message: MessageRecord) {
    loop {
        match attempt(&monitors, &message).await {
            Ok(attempt) => return record(&monitors, &message, attempt).await,
            Err(TaskError::Stopping) => return,
            Err(error) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "a monitor message could not be composed; retrying"
                );
                tokio::time::sleep(FAILURE_DELAY).await;
            }
        }
    }
}

/// Ends a message whose task panicked.
pub(super) async fn fail(monitors: Monitors, message: MessageRecord) {
    let failure = SendFailure::permanent("an internal error ended the delivery");
    record(&monitors, &message, Attempt::Failed(failure)).await;
}

/// Ends an attempt at a message whose monitor a later version stored.
pub(super) async fn leave_to_later_version(monitors: &Monitors, message: &MessageRecord) {
    record(monitors, message, Attempt::Failed(SendFailure::unreadable())).await;
}

/// Sends a message once. An error of the store means that nothing was sent.
async fn attempt(monitors: &Monitors, message: &MessageRecord) -> Result<Attempt, TaskError> {
    let config = monitors.config();
    if message.interruptions >= MAX_UNCERTAIN {
        let text = "the delivery was interrupted twice; the message may have been sent";
        return Ok(Attempt::Failed(SendFailure::permanent(text)));
    }
    let age_ms = monitors.inner.store.now_ms().saturating_sub(message.created_at_ms);
    if message.kind != MessageKind::Confirmation && u128::from(age_ms) > config.messages.max_age.as_millis() {
        return Ok(Attempt::Failed(SendFailure::permanent("the message waited for too long")));
    }
    let owned = message.clone();
    let composed = monitors.run_blocking(move |inner| compose(inner, &owned)).await?;
    Ok(match composed {
        Composed::Unwanted => Attempt::Unwanted,
        Composed::Unreadable => Attempt::Failed(SendFailure::unreadable()),
        Composed::Channel(request) => {
            if !begin_sending(monitors, message).await? {
                return Ok(Attempt::Postponed);
            }
            let client = monitors.inner.engine.scraper().client();
            match send_message(client, *request, config.messages.channel_timeout).await {
                Ok(_status) => Attempt::Sent,
                Err(error) => Attempt::Failed(channel_failure(&error)),
            }
        }
        Composed::Mail(mail) => {
            let Some(settings) = &config.mail else { return Ok(Attempt::Unwanted) };
            if message.kind == MessageKind::Confirmation
                && !is_permitted(monitors, message, mail.recipient()).await?
            {
                return Ok(Attempt::Postponed);
            }
            if !begin_sending(monitors, message).await? {
                return Ok(Attempt::Postponed);
            }
            match settings.mailer.send(&mail).await {
                Ok(()) => Attempt::Sent,
                Err(error) => Attempt::Failed(mail_failure(&error)),
            }
        }
    })
}

/// Records that a message is about to be sent. Returns false if another replica has it.
async fn begin_sending(monitors: &Monitors, message: &MessageRecord) -> Result<bool, TaskError> {
    let message = message.clone();
    monitors.with_store(move |store, _| store.begin_sending(&message)).await
}

/// Returns whether the limits allow a confirmation.
async fn is_permitted(
    monitors: &Monitors,
    message: &MessageRecord,
    address: &EmailAddress,
) -> Result<bool, TaskError> {
    let (message, hash) = (message.clone(), address.mailbox_hash());
    let permit = monitors
        .run_blocking(move |inner| {
            let (limits, now_ms) = (&inner.config.messages.confirmations, inner.store.now_ms());
            Ok(inner.store.permit_confirmation(&message, &hash, limits, now_ms)?)
        })
        .await?;
    match permit {
        ConfirmationPermit::Granted => Ok(true),
        ConfirmationPermit::Postponed => {
            tracing::info!("confirmation email delayed: rate limit of its address or team");
            Ok(false)
        }
        ConfirmationPermit::Lost => Ok(false),
    }
}

fn mail_failure(error: &MailError) -> SendFailure {
    let is_uncertain = matches!(
        error,
        MailError::Timeout { phase: MailPhase::Message, .. }
            | MailError::Connection { phase: MailPhase::Message, .. }
    );
    SendFailure {
        error: error.to_string(),
        is_transient: error.is_transient(),
        is_uncertain,
        retry_after: None,
    }
}

fn channel_failure(error: &PostError) -> SendFailure {
    let (is_transient, is_uncertain, retry_after) = match error {
        PostError::Status { status, retry_after } => {
            (*status == 408 || *status == 429 || *status >= 500, false, *retry_after)
        }
        PostError::Forbidden => (false, false, None),
        PostError::Unreachable(_) => (true, false, None),
        PostError::NoResponse(_) => (true, true, None),
    };
    SendFailure { error: format!("the channel: {error}"), is_transient, is_uncertain, retry_after }
}

/// Stores the outcome of an attempt, until the store accepts it.
async fn record(monitors: &Monitors, message: &MessageRecord, attempt: Attempt) {
    let Some(recorded) = recorded(monitors, message, attempt) else { return };
    let Recorded { outcome, counted, error } = recorded;
    report(message, error.as_deref(), counted);
    monitors.inner.message_metrics.add((message.kind, counted), 1);
    loop {
        let (owned, error) = (message.clone(), error.clone());
        let recording = monitors.run_blocking(move |inner| {
            let now_ms = inner.store.now_ms();
            let change = |json: &str| changed(json, &owned, outcome, error.as_deref());
            Ok(inner.store.record_message_outcome(&owned, outcome, change, now_ms)?)
        });
        match recording.await {
            Ok(_is_owned) => return,
            Err(TaskError::Stopping) => return,
            Err(error) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "the outcome of a monitor message could not be stored; retrying"
                );
                tokio::time::sleep(FAILURE_DELAY).await;
            }
        }
    }
}

/// The outcome of an attempt, as it is stored and counted.
struct Recorded {
    outcome: MessageOutcome,
    counted: CountedOutcome,
    error: Option<String>,
}

/// Returns the outcome to be stored; `None` if there is none.
fn recorded(monitors: &Monitors, message: &MessageRecord, attempt: Attempt) -> Option<Recorded> {
    let failure = match attempt {
        Attempt::Sent => {
            return Some(Recorded {
                outcome: MessageOutcome::Sent,
                counted: CountedOutcome::Sent,
                error: None,
            });
        }
        Attempt::Unwanted => {
            return Some(Recorded {
                outcome: MessageOutcome::Dropped,
                counted: CountedOutcome::Dropped,
                error: None,
            });
        }
        Attempt::Postponed => return None,
        Attempt::Failed(failure) => failure,
    };
    let SendFailure { error, is_transient, is_uncertain, retry_after } = failure;
    let config = &monitors.config().messages;
    if !is_transient || message.attempts >= config.max_attempts {
        let (outcome, counted) = (MessageOutcome::Dropped, CountedOutcome::Failed);
        return Some(Recorded { outcome, counted, error: Some(error) });
    }
    let delay = config.backoff.delay(message.attempts, retry_after);
    let due = monitors.inner.store.clock().now().checked_add(delay);
    let due_at_ms = to_ms(due.unwrap_or(jiff::Timestamp::MAX));
    let (outcome, counted) = (MessageOutcome::Retry { due_at_ms, is_uncertain }, CountedOutcome::Retried);
    Some(Recorded { outcome, counted, error: Some(error) })
}

/// Returns the deliveries of a check after an attempt. `error` is the reason of a failure.
fn changed(json: &str, message: &MessageRecord, outcome: MessageOutcome, error: Option<&str>) -> String {
    let mut deliveries = Deliveries::decode(json);
    let is_last = match outcome {
        MessageOutcome::Sent | MessageOutcome::Dropped => true,
        MessageOutcome::Retry { .. } => false,
    };
    match message.kind {
        // Its messages were not enqueued.
        MessageKind::Check => {
            if let Some(error) = error {
                deliveries.email.error.get_or_insert_with(|| error.to_owned());
                for outcome in deliveries.channels.values_mut() {
                    outcome.error.get_or_insert_with(|| error.to_owned());
                }
            }
        }
        MessageKind::Confirmation => {}
        MessageKind::Email => {
            let email = &mut deliveries.email;
            email.pending = email.pending.saturating_sub(u64::from(is_last));
            email.failed += u64::from(is_last && error.is_some());
            if let Some(error) = error {
                email.error = Some(error.to_owned());
            } else if email.pending == 0 && email.failed == 0 {
                // A repeated attempt of each failed email succeeded.
                email.error = None;
            }
        }
        MessageKind::Channel => {
            let channel = deliveries.channels.entry(message.channel.clone().unwrap_or_default()).or_default();
            channel.is_sent = outcome == MessageOutcome::Sent;
            channel.error = error.map(str::to_owned);
        }
    }
    deliveries.encode()
}

/// Logs an attempt, without address and URL.
fn report(message: &MessageRecord, error: Option<&str>, counted: CountedOutcome) {
    let (kind, monitor, check) = (message.kind.as_str(), message.monitor, message.check);
    let address = message.recipient.as_ref().map(|recipient| recipient.address.as_str());
    let error = error.map(|error| match address {
        Some(address) => error.replace(address, "(the recipient)"),
        None => error.to_owned(),
    });
    match counted {
        CountedOutcome::Sent => tracing::debug!(kind, monitor, check, "monitor message sent"),
        CountedOutcome::Dropped => tracing::debug!(kind, monitor, check, "monitor message no longer wanted"),
        CountedOutcome::Retried => {
            tracing::info!(kind, monitor, check, error, "monitor message not sent; retrying later");
        }
        CountedOutcome::Failed => tracing::warn!(kind, monitor, check, error, "monitor message failed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notification::EmailDeliveries;

    fn email(pending: u64, failed: u64, error: Option<&str>) -> EmailDeliveries {
        let recipients = vec!["anna@tea.test".to_owned(), "bea@tea.test".to_owned()];
        EmailDeliveries { recipients, pending, failed, error: error.map(str::to_owned) }
    }

    #[track_caller]
    fn check(
        before: EmailDeliveries,
        outcome: MessageOutcome,
        error: Option<&str>,
        expected: &EmailDeliveries,
    ) {
        let before = Deliveries { email: before, ..Deliveries::default() };
        let message = MessageRecord {
            number: 1,
            kind: MessageKind::Email,
            monitor: 1,
            check: Some(1),
            recipient: None,
            channel: None,
            attempts: 1,
            interruptions: 0,
            created_at_ms: 0,
        };
        let after = Deliveries::decode(&changed(&before.encode(), &message, outcome, error));
        assert_eq!(after.email, *expected);
    }

    #[test]
    fn email_attempts_change_the_counts_of_their_check() {
        let retry = MessageOutcome::Retry { due_at_ms: 1, is_uncertain: false };
        check(email(2, 0, None), MessageOutcome::Sent, None, &email(1, 0, None));
        check(email(2, 0, None), retry, Some("busy"), &email(2, 0, Some("busy")));
        check(email(1, 0, Some("busy")), MessageOutcome::Sent, None, &email(0, 0, None));
        check(email(1, 0, None), MessageOutcome::Dropped, Some("no"), &email(0, 1, Some("no")));
        check(email(1, 0, None), MessageOutcome::Dropped, None, &email(0, 0, None));
        check(email(1, 1, Some("no")), MessageOutcome::Sent, None, &email(0, 1, Some("no")));
    }

    #[test]
    fn status_of_a_channel_decides_on_a_further_attempt() {
        for (status, is_transient) in [(400, false), (404, false), (429, true), (500, true), (503, true)] {
            let failure = channel_failure(&PostError::Status { status, retry_after: None });
            assert_eq!((failure.is_transient, failure.is_uncertain), (is_transient, false), "{status}");
        }
        let failure = channel_failure(&PostError::NoResponse("no response in time"));
        assert_eq!((failure.is_transient, failure.is_uncertain), (true, true));
        assert!(!channel_failure(&PostError::Forbidden).is_transient);
    }
}
