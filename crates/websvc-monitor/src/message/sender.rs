//! The work on messages, for the runner of durable tasks.

use std::time::Duration;

use tokio::sync::{Notify, watch};
use websvc_store::{MessageKind, MessageRecord, Store, WorkKind};
use websvc_tasks::{Active, TaskError, Work};
use websvc_transport::BoxFuture;

use super::{attempt, expand};
use crate::monitors::Monitors;

/// A kind of messages with a concurrency limit of its own, so that a slow receiver of one does not delay the others.
struct Channel {
    kinds: &'static [MessageKind],
    /// Maximum of messages at the same time. The mail server gets as many connections.
    concurrency: usize,
    /// True for messages that wait while no mail server is configured.
    needs_mail: bool,
}

const CHANNELS: [Channel; 3] = [
    Channel { kinds: &[MessageKind::Check], concurrency: 4, needs_mail: false },
    Channel { kinds: &[MessageKind::Email, MessageKind::Confirmation], concurrency: 4, needs_mail: true },
    Channel { kinds: &[MessageKind::Channel], concurrency: 8, needs_mail: false },
];

/// The messages of monitors that are due.
pub(crate) struct Messages(pub(crate) Monitors);

impl Messages {
    /// Returns the kinds of messages that may start, and how many of each.
    fn free(&self, active: &Active<MessageRecord>) -> Vec<(&'static [MessageKind], u64)> {
        let has_mail = self.0.config().mail.is_some();
        let channels = CHANNELS.iter().filter(|channel| has_mail || !channel.needs_mail);
        channels
            .map(|Channel { kinds, concurrency, .. }| {
                let busy = active.count(|message| kinds.contains(&message.kind));
                (*kinds, concurrency.saturating_sub(busy) as u64)
            })
            .filter(|(_, free)| *free > 0)
            .collect()
    }
}

impl Work for Messages {
    type Task = MessageRecord;

    const NAME: &'static str = "monitor messages";
    const KIND: WorkKind = WorkKind::Messages;
    const POLL_INTERVAL: Duration = Duration::from_secs(1);
    const LISTS_OWNED: bool = false;

    fn store(&self) -> &Store {
        &self.0.inner.store
    }

    fn wakeup(&self) -> &Notify {
        &self.0.inner.message_wakeup
    }

    fn number(message: &MessageRecord) -> i64 {
        message.number
    }

    fn claim<'a>(
        &'a self,
        active: &'a Active<MessageRecord>,
    ) -> BoxFuture<'a, Result<Vec<MessageRecord>, TaskError>> {
        let free = self.free(active);
        Box::pin(self.0.with_store(move |store, _| {
            let mut claimed = Vec::new();
            for (kinds, max) in free {
                match store.claim_messages(kinds, max, store.now_ms()) {
                    Ok(messages) => claimed.extend(messages),
                    Err(error) if claimed.is_empty() => return Err(error),
                    // What was claimed must be worked on.
                    Err(_error) => break,
                }
            }
            Ok(claimed)
        }))
    }

    fn start<'a>(
        &'a self,
        message: MessageRecord,
        _active: &'a Active<MessageRecord>,
        _cancelled: watch::Receiver<bool>,
    ) -> BoxFuture<'a, Result<Option<BoxFuture<'static, ()>>, TaskError>> {
        let monitors = self.0.clone();
        let work: BoxFuture<'static, ()> = match message.kind {
            MessageKind::Check => Box::pin(expand::expand(monitors, message)),
            MessageKind::Confirmation | MessageKind::Email | MessageKind::Channel => {
                Box::pin(attempt::deliver(monitors, message))
            }
        };
        Box::pin(std::future::ready(Ok(Some(work))))
    }

    fn end_panicked<'a>(&'a self, message: &'a MessageRecord) -> BoxFuture<'a, Result<(), TaskError>> {
        Box::pin(async {
            attempt::fail(self.0.clone(), message.clone()).await;
            Ok(())
        })
    }

    /// The sweep of checks deletes messages too.
    fn sweep(&self) -> BoxFuture<'_, Result<bool, TaskError>> {
        Box::pin(std::future::ready(Ok(false)))
    }
}
