//! The webhook scheduler: starts the next deliveries, as long as there is capacity.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::task::{Id, JoinSet};
use websvc_store::{DueWebhook, WebhookQueue, WorkKind};
use websvc_tasks::{Sweep, TaskError};

use super::WebhookConfig;
use super::send::attempt;
use super::sweep::sweep;
use crate::fair_queue::FairQueue;
use crate::jobs::Jobs;

/// Interval at which the store is read for events that another process made pending.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Minimum interval at which the store is read for events while others are delivered.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Due events of a webhook that are read at once.
const READ_AHEAD: usize = 64;

/// Delay after a failure of the store, or a panic.
const FAILURE_DELAY: Duration = Duration::from_secs(1);

/// State of the scheduler.
struct DeliveryScheduler {
    jobs: Jobs,
    /// The webhooks with pending events in their fair order.
    queue: FairQueue,
    /// The webhooks that may have more due events than those in `due`.
    unread: HashMap<i64, WebhookQueue>,
    /// Events of webhooks that are due and not in flight.
    due: HashMap<i64, (WebhookQueue, VecDeque<DueWebhook>)>,
    last_read: Option<Instant>,
    /// Time of the next read of the webhooks.
    next_read: Instant,
    attempts: JoinSet<()>,
    in_flight: HashMap<Id, InFlightDelivery>,
    sweep: Sweep,
}

/// A delivery attempt in flight.
struct InFlightDelivery {
    queue: WebhookQueue,
    event: DueWebhook,
}

/// Delivers events until it is dropped.
pub(crate) async fn deliver(jobs: Jobs) -> Infallible {
    let mut scheduler = DeliveryScheduler {
        jobs,
        queue: FairQueue::default(),
        unread: HashMap::new(),
        due: HashMap::new(),
        last_read: None,
        next_read: Instant::now(),
        attempts: JoinSet::new(),
        in_flight: HashMap::new(),
        sweep: Sweep::default(),
    };
    loop {
        if let Err(error) = scheduler.step().await {
            tracing::error!(error = &error as &dyn std::error::Error, "webhook scheduler failed; retrying");
            tokio::time::sleep(FAILURE_DELAY).await;
        }
    }
}

impl DeliveryScheduler {
    /// Starts the deliveries that can start, then waits for one event.
    async fn step(&mut self) -> Result<(), TaskError> {
        if self.jobs.inner.has_abandoned_events.swap(false, Ordering::Relaxed) {
            self.sweep.request();
        }
        // If it fails, the next step repeats it.
        if self.sweep.is_due() {
            sweep(&self.jobs).await?;
            self.sweep.record(false);
        }
        if self.next_read <= Instant::now() {
            self.read_queues().await?;
        }
        self.start().await?;
        let wait = self.next_read.saturating_duration_since(Instant::now());
        tokio::select! {
            Some(result) = self.attempts.join_next_with_id(), if !self.attempts.is_empty() => {
                let id = match result {
                    Ok((id, ())) => id,
                    Err(error) => {
                        if error.is_panic() {
                            tracing::error!(error = &error as &dyn std::error::Error, "webhook delivery panicked");
                            tokio::time::sleep(FAILURE_DELAY).await;
                        }
                        error.id()
                    }
                };
                self.in_flight.remove(&id);
                // Another event may have waited for this one, or this one may be tried again.
                if self.due.is_empty() {
                    self.request_read();
                }
            }
            () = self.jobs.inner.webhook_wakeup.notified() => self.request_read(),
            () = self.jobs.inner.store.poll_for_work(WorkKind::Webhooks, wait) => {}
        }
        Ok(())
    }

    /// Makes the webhooks be read at the next step, or soon if they were read a moment ago.
    fn request_read(&mut self) {
        let now = Instant::now();
        let earliest = self.last_read.map_or(now, |last| last + MIN_POLL_INTERVAL);
        self.next_read = self.next_read.min(earliest.max(now));
    }

    /// Reads the webhooks that have due events.
    async fn read_queues(&mut self) -> Result<(), TaskError> {
        let now_ms = self.jobs.inner.store.now_ms();
        let (queues, next_due_ms) = self
            .jobs
            .with_store(move |store, _| {
                Ok((store.webhook_queues(now_ms)?, store.next_webhook_due_ms(now_ms)?))
            })
            .await?;
        let running: Vec<(i64, String)> =
            queues.iter().map(|queue| (queue.webhook, queue.team.clone())).collect();
        self.queue.sync(&running);
        self.unread = queues.into_iter().map(|queue| (queue.webhook, queue)).collect();
        // Another process may deliver the events of the others now.
        self.due.retain(|webhook, _| self.unread.contains_key(webhook));
        let now = Instant::now();
        let wait = next_due_ms.map_or(POLL_INTERVAL, |due_ms| {
            Duration::from_millis(due_ms.saturating_sub(now_ms).max(1)).min(POLL_INTERVAL)
        });
        (self.last_read, self.next_read) = (Some(now), now + wait);
        Ok(())
    }

    /// Starts delivery attempts up to the limits.
    async fn start(&mut self) -> Result<(), TaskError> {
        let config = self.jobs.inner.config.webhooks;
        while self.attempts.len() < config.concurrency {
            let Some((webhook, queue)) = self.next_webhook(&config) else { break };
            let Some(event) = self.next_due(webhook, &queue).await? else { continue };
            let bytes: u64 = self.in_flight.values().map(|delivery| delivery.event.document_bytes).sum();
            if bytes > 0 && bytes.saturating_add(event.document_bytes) > config.max_document_bytes {
                // It starts when others are done. No smaller ones start before it, so it does not starve.
                break;
            }
            self.take_due(webhook);
            self.queue.record_served(webhook);
            let handle = self.attempts.spawn(attempt(self.jobs.clone(), event.number));
            self.in_flight.insert(handle.id(), InFlightDelivery { queue, event });
        }
        Ok(())
    }

    /// Returns the webhook whose turn it is.
    fn next_webhook(&self, config: &WebhookConfig) -> Option<(i64, WebhookQueue)> {
        self.queue.order().into_iter().find_map(|webhook| {
            let queue =
                self.due.get(&webhook).map(|(queue, _)| queue).or_else(|| self.unread.get(&webhook))?;
            self.has_capacity(queue, config).then(|| (webhook, queue.clone()))
        })
    }

    /// Returns the next due event of a webhook, which stays in `due`.
    async fn next_due(
        &mut self,
        webhook: i64,
        queue: &WebhookQueue,
    ) -> Result<Option<DueWebhook>, TaskError> {
        if let Some((_, events)) = self.due.get(&webhook) {
            return Ok(events.front().copied());
        }
        let in_flight: Vec<i64> = self
            .in_flight
            .values()
            .filter(|delivery| delivery.queue.webhook == webhook)
            .map(|delivery| delivery.event.number)
            .collect();
        let now_ms = self.jobs.inner.store.now_ms();
        let events: VecDeque<DueWebhook> = self
            .jobs
            .with_store(move |store, _| store.due_webhooks(webhook, now_ms, &in_flight, READ_AHEAD))
            .await?
            .into();
        if events.len() < READ_AHEAD {
            self.unread.remove(&webhook);
        }
        let next = events.front().copied();
        if next.is_some() {
            self.due.insert(webhook, (queue.clone(), events));
        }
        Ok(next)
    }

    /// Removes the next due event of a webhook.
    fn take_due(&mut self, webhook: i64) {
        if let Some((_, events)) = self.due.get_mut(&webhook) {
            events.pop_front();
            if events.is_empty() {
                self.due.remove(&webhook);
            }
        }
    }

    fn has_capacity(&self, queue: &WebhookQueue, config: &WebhookConfig) -> bool {
        let of_host = self.in_flight.values().filter(|delivery| delivery.queue.host == queue.host).count();
        let of_team = self.in_flight.values().filter(|delivery| delivery.queue.team == queue.team).count();
        of_host < config.max_per_host && of_team < (config.concurrency / 2).max(1)
    }
}
