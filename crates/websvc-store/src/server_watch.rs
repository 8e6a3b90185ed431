//! The watch of a database on a server: a thread that reads what other processes changed, so that requests do not wait
//! for the network. It reads with each heartbeat, and more often while requests use the database.
//!
//! While the server cannot be reached, cached keys, teams and leased credits stay valid for [`MAX_OUTAGE`](crate::sql::postgres::MAX_OUTAGE). Everything
//! that is not cached fails at once. If the server does not respond, the watch notices it within 2 seconds, and ends
//! the statements that wait, too.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::background_thread::{BackgroundThread, StopSignal};
use crate::replica::heartbeat::Heartbeat;
use crate::shared::Shared;
use crate::sql::postgres::ServerState;

/// Interval of the reads while requests use the database or what is cached of it.
const WATCH_INTERVAL: Duration = Duration::from_millis(200);
/// Minimum interval of the heartbeats, which begin at each fifth interval of the watch.
const BEAT_INTERVAL: Duration = Duration::from_millis(900);

/// The thread of the watch.
#[derive(Debug)]
pub(crate) struct ServerWatch(#[expect(dead_code, reason = "dropped, not read")] BackgroundThread);

impl ServerWatch {
    /// Starts the watch; returns `None` if the database is a file, which requests read themselves.
    pub(crate) fn start(shared: &Arc<Shared>) -> io::Result<Option<Self>> {
        let Some(state) = shared.database.server_state().cloned() else { return Ok(None) };
        let shared = Arc::clone(shared);
        let thread =
            BackgroundThread::start("websvc-db-watch", move |signal| watch(&shared, &state, signal))?;
        Ok(Some(Self(thread)))
    }
}

fn watch(shared: &Shared, state: &ServerState, signal: &StopSignal) {
    let mut heartbeat = Heartbeat::new();
    let mut last_beat: Option<Instant> = None;
    while signal.wait(WATCH_INTERVAL) {
        let is_beat_due = last_beat.is_none_or(|last| last.elapsed() >= BEAT_INTERVAL);
        let is_used = state.take_use();
        if is_beat_due {
            last_beat = Some(Instant::now());
        } else if !is_used {
            continue;
        }
        let begun_ms = state.now_ms();
        // The success is recorded after the beat: a process whose leased credits were taken over must learn of it before
        // it may use its cached state again.
        let result = heartbeat.run(shared, is_beat_due);
        state.record(result.is_ok(), begun_ms);
    }
    heartbeat.leave(shared);
}
