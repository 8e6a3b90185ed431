//! Whose event is sent next, as long as there is room.

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

/// How often is looked for events that another process wants to be tried.
const LOOK: Duration = Duration::from_secs(2);

/// How often is looked for events that waited for too long.
const SWEEP: Duration = Duration::from_secs(60);

/// How long to wait after the store failed.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// The state of the deliveries.
struct DeliveryScheduler {
    jobs: Jobs,
    turns: FairQueue,
    tries: JoinSet<()>,
    busy: HashMap<Id, InFlightDelivery>,
    swept: Option<Instant>,
}

/// An event that is sent.
struct InFlightDelivery {
    lane: WebhookQueue,
    turn: DueWebhook,
}

/// Delivers events for as long as it is awaited.
pub(crate) async fn deliver(jobs: Jobs) -> Infallible {
    let mut deliveries = DeliveryScheduler {
        jobs,
        turns: FairQueue::default(),
        tries: JoinSet::new(),
        busy: HashMap::new(),
        swept: None,
    };
    loop {
        if let Err(error) = deliveries.round().await {
            tracing::error!(error = &error as &dyn std::error::Error, "events cannot be delivered");
            tokio::time::sleep(AFTER_FAILURE).await;
        }
    }
}

impl DeliveryScheduler {
    /// Starts what may start, and waits for something to happen.
    async fn round(&mut self) -> Result<(), JobsError> {
        let is_due = self.swept.is_none_or(|swept| swept.elapsed() >= SWEEP);
        if self.jobs.inner.abandoned.swap(false, Ordering::Relaxed) || is_due {
            // Should it fail, the next round does it.
            self.swept = None;
            sweep(&self.jobs).await?;
            self.swept = Some(Instant::now());
        }
        let now_ms = now_ms();
        let (lanes, due_ms) = self
            .jobs
            .with_store(move |store, _| {
                Ok((store.webhook_queues(now_ms)?, store.next_webhook_due_ms(now_ms)?))
            })
            .await?;
        let running: Vec<(i64, String)> = lanes.iter().map(|lane| (lane.job, lane.team.clone())).collect();
        self.turns.sync(&running);
        let lanes = lanes.into_iter().map(|lane| (lane.job, lane)).collect();
        self.start(&lanes, now_ms).await?;
        let due = due_ms.map_or(LOOK, |due_ms| Duration::from_millis(due_ms.saturating_sub(now_ms).max(1)));
        tokio::select! {
            Some(ended) = self.tries.join_next_with_id(), if !self.tries.is_empty() => {
                let id = match ended {
                    Ok((id, ())) => id,
                    Err(failed) => {
                        if failed.is_panic() {
                            tracing::error!(error = &failed as &dyn std::error::Error, "a delivery panicked");
                            tokio::time::sleep(AFTER_FAILURE).await;
                        }
                        failed.id()
                    }
                };
                self.busy.remove(&id);
            }
            () = self.jobs.inner.happened.notified() => {}
            () = tokio::time::sleep(due.min(LOOK)) => {}
        }
        Ok(())
    }

    /// Starts tries as long as there is room for them.
    async fn start(&mut self, lanes: &HashMap<i64, WebhookQueue>, now_ms: u64) -> Result<(), JobsError> {
        let config = self.jobs.inner.config.webhooks;
        let mut dry = HashSet::new();
        'turns: while self.tries.len() < config.concurrency {
            for job in self.turns.order() {
                let Some(lane) =
                    lanes.get(&job).filter(|lane| !dry.contains(&job) && self.has_room(lane, &config))
                else {
                    continue;
                };
                let busy: Vec<i64> = self
                    .busy
                    .values()
                    .filter(|busy| busy.lane.job == job)
                    .map(|busy| busy.turn.number)
                    .collect();
                let next =
                    self.jobs.with_store(move |store, _| store.next_due_webhook(job, now_ms, &busy)).await?;
                let Some(turn) = next else {
                    dry.insert(job);
                    continue;
                };
                let bytes: u64 = self.busy.values().map(|busy| busy.turn.bytes).sum();
                if bytes > 0 && bytes.saturating_add(turn.bytes) > config.bytes {
                    // Its turn comes when others are done: small ones do not pass it for ever.
                    break 'turns;
                }
                self.turns.record_served(job);
                let handle = self.tries.spawn(attempt(self.jobs.clone(), turn.number));
                self.busy.insert(handle.id(), InFlightDelivery { lane: lane.clone(), turn });
                continue 'turns;
            }
            break;
        }
        Ok(())
    }

    fn has_room(&self, lane: &WebhookQueue, config: &WebhookConfig) -> bool {
        let of_host = self.busy.values().filter(|busy| busy.lane.host == lane.host).count();
        let of_team = self.busy.values().filter(|busy| busy.lane.team == lane.team).count();
        of_host < config.per_host && of_team < (config.concurrency / 2).max(1)
    }
}
