//! The webhook scheduler: starts the next deliveries, as long as there is capacity.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::task::{Id, JoinSet};
use websvc_store::{DueWebhook, WebhookQueue};

use super::WebhookConfig;
use super::send::attempt;
use super::sweep::sweep;
use crate::fair_queue::FairQueue;
use crate::jobs::{Jobs, JobsError, now_ms};

/// Interval at which the store is read for events that another process made pending.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Interval at which events are swept that were pending for too long.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

/// Delay after a failure of the store, or a panic.
const FAILURE_DELAY: Duration = Duration::from_secs(1);

/// State of the scheduler.
struct DeliveryScheduler {
    jobs: Jobs,
    /// The webhooks with pending events in their fair order.
    queue: FairQueue,
    attempts: JoinSet<()>,
    in_flight: HashMap<Id, InFlightDelivery>,
    last_sweep: Option<Instant>,
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
        attempts: JoinSet::new(),
        in_flight: HashMap::new(),
        last_sweep: None,
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
    async fn step(&mut self) -> Result<(), JobsError> {
        let is_sweep_due = self.last_sweep.is_none_or(|last| last.elapsed() >= SWEEP_INTERVAL);
        if self.jobs.inner.has_abandoned_events.swap(false, Ordering::Relaxed) || is_sweep_due {
            // If the sweep fails, the next step repeats it.
            self.last_sweep = None;
            sweep(&self.jobs).await?;
            self.last_sweep = Some(Instant::now());
        }
        let now_ms = now_ms();
        let (queues, next_due_ms) = self
            .jobs
            .with_store(move |store, _| {
                Ok((store.webhook_queues(now_ms)?, store.next_webhook_due_ms(now_ms)?))
            })
            .await?;
        let running: Vec<(i64, String)> =
            queues.iter().map(|queue| (queue.webhook, queue.team.clone())).collect();
        self.queue.sync(&running);
        let queues = queues.into_iter().map(|queue| (queue.webhook, queue)).collect();
        self.start(&queues, now_ms).await?;
        let wait = next_due_ms.map_or(POLL_INTERVAL, |due_ms| {
            Duration::from_millis(due_ms.saturating_sub(now_ms).max(1)).min(POLL_INTERVAL)
        });
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
            }
            () = self.jobs.inner.webhook_wakeup.notified() => {}
            () = tokio::time::sleep(wait) => {}
        }
        Ok(())
    }

    /// Starts delivery attempts up to the limits.
    async fn start(&mut self, queues: &HashMap<i64, WebhookQueue>, now_ms: u64) -> Result<(), JobsError> {
        let config = self.jobs.inner.config.webhooks;
        let mut exhausted = HashSet::new();
        'capacity: while self.attempts.len() < config.concurrency {
            for webhook in self.queue.order() {
                let Some(queue) = queues
                    .get(&webhook)
                    .filter(|queue| !exhausted.contains(&webhook) && self.has_capacity(queue, &config))
                else {
                    continue;
                };
                let in_flight: Vec<i64> = self
                    .in_flight
                    .values()
                    .filter(|delivery| delivery.queue.webhook == webhook)
                    .map(|delivery| delivery.event.number)
                    .collect();
                let next = self
                    .jobs
                    .with_store(move |store, _| store.next_due_webhook(webhook, now_ms, &in_flight))
                    .await?;
                let Some(event) = next else {
                    exhausted.insert(webhook);
                    continue;
                };
                let bytes: u64 = self.in_flight.values().map(|delivery| delivery.event.document_bytes).sum();
                if bytes > 0 && bytes.saturating_add(event.document_bytes) > config.max_document_bytes {
                    // It starts when others are done. No smaller ones start before it, so it does not starve.
                    break 'capacity;
                }
                self.queue.record_served(webhook);
                let handle = self.attempts.spawn(attempt(self.jobs.clone(), event.number));
                self.in_flight.insert(handle.id(), InFlightDelivery { queue: queue.clone(), event });
                continue 'capacity;
            }
            break;
        }
        Ok(())
    }

    fn has_capacity(&self, queue: &WebhookQueue, config: &WebhookConfig) -> bool {
        let of_host = self.in_flight.values().filter(|delivery| delivery.queue.host == queue.host).count();
        let of_team = self.in_flight.values().filter(|delivery| delivery.queue.team == queue.team).count();
        of_host < config.max_per_host && of_team < (config.concurrency / 2).max(1)
    }
}
