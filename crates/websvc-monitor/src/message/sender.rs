//! The sender: takes messages that are due, and gives each a task.

use std::collections::HashMap;
use std::convert::Infallible;
use std::time::Duration;

use tokio::task::{Id, JoinError, JoinSet};
use websvc_store::{MessageKind, MessageRecord};

use super::{attempt, expand};
use crate::error::MonitorsError;
use crate::monitors::Monitors;

/// Interval at which the store is read for messages whose time has come, and for those of other processes.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Delay after a failure of the store.
const FAILURE_DELAY: Duration = Duration::from_secs(1);

/// A kind of work with a concurrency limit of its own, so that a slow receiver of one does not delay the others.
struct Channel {
    kinds: &'static [MessageKind],
    concurrency: usize,
}

const CHECKS: Channel = Channel { kinds: &[MessageKind::Check], concurrency: 4 };
/// The mail server gets as many connections at the same time.
const MAIL: Channel = Channel { kinds: &[MessageKind::Email, MessageKind::Confirmation], concurrency: 4 };
const SLACK: Channel = Channel { kinds: &[MessageKind::Slack], concurrency: 8 };

/// State of the sender.
struct Sender {
    monitors: Monitors,
    tasks: JoinSet<()>,
    /// The messages in progress.
    active: HashMap<Id, MessageRecord>,
}

/// Sends messages until it is dropped.
pub(crate) async fn run(monitors: Monitors) -> Infallible {
    let mut sender = Sender { monitors, tasks: JoinSet::new(), active: HashMap::new() };
    loop {
        if let Err(error) = sender.step().await {
            tracing::error!(error = &error as &dyn std::error::Error, "monitor messages failed; retrying");
            tokio::time::sleep(FAILURE_DELAY).await;
        }
    }
}

impl Sender {
    /// Starts the work on messages that are due, then waits for one event.
    async fn step(&mut self) -> Result<(), MonitorsError> {
        self.claim(&CHECKS).await?;
        // Without a mail server, emails wait for one.
        if self.monitors.config().mail.is_some() {
            self.claim(&MAIL).await?;
        }
        self.claim(&SLACK).await?;
        tokio::select! {
            Some(result) = self.tasks.join_next_with_id(), if !self.tasks.is_empty() => self.finish(result),
            () = self.monitors.inner.message_wakeup.notified() => {}
            () = tokio::time::sleep(POLL_INTERVAL) => {}
        }
        Ok(())
    }

    async fn claim(&mut self, channel: &Channel) -> Result<(), MonitorsError> {
        let kinds = channel.kinds;
        let busy = self.active.values().filter(|message| kinds.contains(&message.kind)).count();
        let free = channel.concurrency.saturating_sub(busy) as u64;
        if free == 0 {
            return Ok(());
        }
        let claiming = self.monitors.run_blocking(move |inner| {
            let now_ms = inner.store.now_ms();
            Ok(inner.store.claim_messages(kinds, free, now_ms)?)
        });
        for message in claiming.await? {
            let monitors = self.monitors.clone();
            let task = match message.kind {
                MessageKind::Check => self.tasks.spawn(expand::expand(monitors, message.clone())),
                MessageKind::Confirmation | MessageKind::Email | MessageKind::Slack => {
                    self.tasks.spawn(attempt::deliver(monitors, message.clone()))
                }
            };
            self.active.insert(task.id(), message);
        }
        Ok(())
    }

    /// Forgets a message whose task ended. One whose task panicked fails.
    fn finish(&mut self, result: Result<(Id, ()), JoinError>) {
        match result {
            Ok((id, ())) => drop(self.active.remove(&id)),
            Err(error) => {
                let message = self.active.remove(&error.id());
                let Some(message) = message.filter(|_| error.is_panic()) else { return };
                tracing::error!(error = &error as &dyn std::error::Error, "monitor message panicked");
                let failing = attempt::fail(self.monitors.clone(), message.clone());
                let task = self.tasks.spawn(failing);
                self.active.insert(task.id(), message);
            }
        }
    }
}
