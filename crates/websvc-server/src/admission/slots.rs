//! Leases of slots for concurrent requests, by a thread that alone talks to the database.
//!
//! It works in rounds. A round leases what the requests need that were waiting when it began, and on a tick it returns what
//! is no longer used. So requests that arrive during a round share the next one, and the slots of an account change in one
//! order. The thread also writes the counts of this replica for the others.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::watch;
use websvc_jobs::Jobs;
use websvc_store::{Store, StoreError, TeamActivity};

use super::activity;
use super::state::{AdmissionRequest, AdmissionState, ConcurrencyShare, SlotAccount};

/// The interval of the ticks.
const TICK: Duration = Duration::from_millis(200);

/// Number of ticks from one write of the counts to the next.
const TICKS_PER_WRITE: u32 = 5;

/// The maximum time that a request waits for the database.
const MAX_WAIT: Duration = Duration::from_millis(250);

/// The number of a round that has ended, and whether the database responded.
#[derive(Debug, Clone, Copy, Default)]
struct EndedRound {
    number: u64,
    is_ok: bool,
}

/// The slots that this replica leases. Dropping this returns them and joins the thread.
#[derive(Debug)]
pub(super) struct SlotLeases {
    store: Store,
    /// The number of the replica as which the slots were leased; 0 before the first lease.
    replica: Arc<AtomicI64>,
    ended: watch::Receiver<EndedRound>,
    wake: Option<SyncSender<()>>,
    /// `None` if it could not be started. Then no round ever ends.
    thread: Option<JoinHandle<()>>,
}

/// A request that waits for a round. Dropping this ends the wait.
#[derive(Debug)]
pub(super) struct SlotWait<'a> {
    state: &'a Mutex<AdmissionState>,
    /// `None` after the wait has ended.
    request: Option<&'a AdmissionRequest<'a>>,
}

impl SlotLeases {
    pub(super) fn start(store: &Store, jobs: &Jobs, state: &Arc<Mutex<AdmissionState>>) -> Self {
        let (wake, woken) = sync_channel(1);
        let (ended_sender, ended) = watch::channel(EndedRound::default());
        let replica = Arc::new(AtomicI64::new(0));
        let worker = Worker {
            store: store.clone(),
            jobs: jobs.clone(),
            state: Arc::clone(state),
            replica: Arc::clone(&replica),
            ended: ended_sender,
            accounts: HashSet::new(),
            written: BTreeMap::new(),
            ticks: 0,
        };
        let thread = std::thread::Builder::new()
            .name("websvc-slots".to_owned())
            .spawn(move || worker.run(&woken))
            .inspect_err(|error| tracing::warn!(%error, "concurrency limits are divided between replicas"));
        Self { store: store.clone(), replica, ended, wake: Some(wake), thread: thread.ok() }
    }

    /// Waits until this replica has leased slots for a request, or knows that there are none. Returns how many concurrent
    /// requests the replica may admit, and the wait, which must end when the request enters.
    pub(super) async fn wait<'a>(
        &self,
        state: &'a Mutex<AdmissionState>,
        request: &'a AdmissionRequest<'a>,
    ) -> (ConcurrencyShare, Option<SlotWait<'a>>) {
        let has_leases = self.has_leases();
        let Some(round) = state.lock().wait_for_slots(request, has_leases, Instant::now()) else {
            return (self.share(has_leases), None);
        };
        let wait = SlotWait { state, request: Some(request) };
        if let Some(wake) = &self.wake {
            // If it is full, the thread will wake anyway.
            let _ = wake.try_send(());
        }
        let mut ended = self.ended.clone();
        let ended = tokio::time::timeout(MAX_WAIT, ended.wait_for(|ended| ended.number >= round)).await;
        let is_leased = matches!(ended, Ok(Ok(ended)) if ended.is_ok);
        if !is_leased {
            tracing::debug!("concurrency limit divided between replicas: the database does not respond");
        }
        (self.share(is_leased), Some(wait))
    }

    /// Returns whether the leased slots are still those of this replica.
    fn has_leases(&self) -> bool {
        self.store.has_leases_of(self.replica.load(Ordering::Acquire))
    }

    fn share(&self, is_leased: bool) -> ConcurrencyShare {
        match (self.has_leases(), is_leased) {
            (true, true) => ConcurrencyShare::Leased,
            (true, false) => ConcurrencyShare::LeasedOrPart(self.store.workers()),
            (false, _) => ConcurrencyShare::Part(self.store.workers()),
        }
    }
}

impl Drop for SlotLeases {
    fn drop(&mut self) {
        drop(self.wake.take());
        if let Some(thread) = self.thread.take() {
            // The panic hook has already reported a panic of the thread.
            let _ = thread.join();
        }
    }
}

impl SlotWait<'_> {
    /// Ends the wait in the state, in which the request enters next.
    pub(super) fn end(mut self, state: &mut AdmissionState) {
        if let Some(request) = self.request.take() {
            state.stop_waiting(request);
        }
    }
}

impl Drop for SlotWait<'_> {
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            self.state.lock().stop_waiting(request);
        }
    }
}

/// The thread.
struct Worker {
    store: Store,
    jobs: Jobs,
    state: Arc<Mutex<AdmissionState>>,
    replica: Arc<AtomicI64>,
    ended: watch::Sender<EndedRound>,
    /// The accounts that may have slots.
    accounts: HashSet<SlotAccount>,
    /// The counts that were written last.
    written: BTreeMap<String, TeamActivity>,
    /// Ticks since then.
    ticks: u32,
}

impl Worker {
    fn run(mut self, woken: &Receiver<()>) {
        let mut next_tick = Instant::now() + TICK;
        // The owner is dropped when it is disconnected.
        while let Ok(()) | Err(RecvTimeoutError::Timeout) =
            woken.recv_timeout(next_tick.saturating_duration_since(Instant::now()))
        {
            let is_tick = Instant::now() >= next_tick;
            if is_tick {
                next_tick = Instant::now() + TICK;
            }
            self.run_round(is_tick);
            if is_tick {
                self.write_activity();
            }
        }
        if !self.accounts.is_empty() {
            // If this fails, the others free them when this replica ends.
            let _ = self.store.return_slots();
        }
    }

    fn run_round(&mut self, is_tick: bool) {
        let (number, waiting) = self.state.lock().start_slot_round();
        // After a failure the others would wait for the next one.
        let is_ok = waiting.into_iter().all(|account| self.change(account, false));
        self.ended.send_replace(EndedRound { number, is_ok });
        if is_tick && is_ok {
            let accounts: Vec<_> = self.accounts.iter().cloned().collect();
            // What fails is repeated at the next tick.
            let _ = accounts.into_iter().all(|account| self.change(account, true));
        }
    }

    /// Changes the slots of an account, if they must change. Returns whether the database responded.
    fn change(&mut self, account: SlotAccount, is_tick: bool) -> bool {
        let has_responded = self.try_change(&account, is_tick);
        if self.state.lock().has_slots(account.name()) {
            self.accounts.insert(account);
        } else {
            self.accounts.remove(&account);
        }
        has_responded
    }

    fn try_change(&self, account: &SlotAccount, is_tick: bool) -> bool {
        let Some(change) = self.state.lock().slot_change(account.name(), is_tick) else { return true };
        let lease = match self.store.lease_slots(&account.name().key(), change.limit, change.slots) {
            Ok(Some(lease)) => lease,
            Ok(None) => return false,
            Err(error) => {
                let error: &dyn std::error::Error = &error as &StoreError;
                tracing::debug!(error, "slots for concurrent requests were not leased");
                return false;
            }
        };
        if self.replica.swap(lease.replica, Ordering::AcqRel) != lease.replica {
            // The others have freed what this replica had before it joined again.
            for account in &self.accounts {
                self.state.lock().forget_slots(account.name());
            }
        }
        self.state.lock().apply_slots(account.name(), change, lease, Instant::now());
        true
    }

    /// Writes the counts of this replica, if it is time, unless there were and are none.
    fn write_activity(&mut self) {
        self.ticks += 1;
        if self.ticks < TICKS_PER_WRITE {
            return;
        }
        let teams = activity::collect(&self.store, &self.jobs, &self.state);
        // Counts that have not changed are written again, because the server may have lost them.
        let must_write = !(teams.is_empty() && self.written.is_empty());
        if must_write && let Err(error) = self.store.publish_activity(&teams) {
            let error: &dyn std::error::Error = &error as &StoreError;
            tracing::debug!(error, "the counts of this replica were not written");
            return;
        }
        self.written = teams;
        self.ticks = 0;
    }
}
