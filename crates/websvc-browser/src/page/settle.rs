//! Waiting until a page has become what it will be.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use super::Page;
use crate::error::BrowserError;
use crate::request::WaitUntil;

/// How long a page that is read may take to load its pictures and styles.
const LOADING: Duration = Duration::from_secs(10);
/// How long a loaded page may take to become quiet.
const SETTLING: Duration = Duration::from_secs(5);
/// How long what an action has started may take.
const AFTERMATH: Duration = Duration::from_secs(3);
/// Nothing changes and nothing is loading for so long: the page is quiet.
const QUIET: Duration = Duration::from_millis(150);
/// The same for a page that shows nothing yet.
const QUIET_WHEN_EMPTY: Duration = Duration::from_millis(1000);
/// A page with fewer characters shows nothing yet.
const EMPTY_CHARS: u64 = 40;
/// How often the document is looked at.
const GLANCE: Duration = Duration::from_millis(25);

const QUIET_SCRIPT: &str = include_str!("quiet.js");

impl Page<'_> {
    pub(super) async fn wait_until(&self, until: WaitUntil) -> Result<(), BrowserError> {
        self.parsed().await;
        match until {
            WaitUntil::Parsed => Ok(()),
            WaitUntil::Loaded => {
                self.loaded().await;
                Ok(())
            }
            WaitUntil::Settled => {
                self.loaded().await;
                self.settle(SETTLING, QUIET_WHEN_EMPTY).await
            }
        }
    }

    /// Waits for a time, or for as much of it as there is.
    pub(super) async fn wait(&self, time: Duration) {
        let end = Instant::now() + time;
        if end > self.soft_deadline {
            self.warn(format!("{} ms of waiting are more than there was time for", time.as_millis()));
        }
        sleep_until(end.min(self.soft_deadline)).await;
    }

    /// Waits until what an action has started is over: a new document, requests, changes.
    pub(crate) async fn calm(&self) -> Result<(), BrowserError> {
        sleep(GLANCE).await;
        if self.watch.lock().is_navigating {
            self.arrived().await;
            self.parsed().await;
            self.loaded().await;
        }
        self.settle(AFTERMATH, QUIET).await
    }

    async fn arrived(&self) {
        let _ = timeout_at(self.soft_deadline, self.watch.until(|state| !state.is_navigating)).await;
    }

    async fn parsed(&self) {
        let parsed = self.watch.until(|state| state.is_parsed || state.is_loaded);
        if timeout_at(self.soft_deadline, parsed).await.is_err() {
            self.warn("the page was still being read when its time was over".to_owned());
        }
    }

    async fn loaded(&self) {
        let patience = self.soft_deadline.min(Instant::now() + LOADING);
        // Something that never ends, most likely; the page itself is there.
        let _ = timeout_at(patience, self.watch.until(|state| state.is_loaded)).await;
    }

    /// Waits until nothing changes and nothing is loading, or until the patience is over. A page that shows nothing
    /// yet must be quiet for longer.
    async fn settle(&self, patience: Duration, when_empty: Duration) -> Result<(), BrowserError> {
        let end = self.soft_deadline.min(Instant::now() + patience);
        while Instant::now() < end {
            let Ok(glance) = timeout_at(end, self.ask(QUIET_SCRIPT, &[])).await else { break };
            let Ok(glance) = glance? else { break };
            if self.is_settled(&glance, when_empty) {
                break;
            }
            sleep(GLANCE).await;
        }
        Ok(())
    }

    fn is_settled(&self, glance: &Value, when_empty: Duration) -> bool {
        // Nothing can change a document without scripts once it is there.
        if glance["scripts"] == false && glance["ready"] == "complete" {
            return true;
        }
        let is_empty = glance["text"].as_u64().is_some_and(|chars| chars < EMPTY_CHARS);
        let enough = if is_empty { when_empty } else { QUIET };
        let unchanged = Duration::try_from_secs_f64(glance["quiet"].as_f64().unwrap_or_default() / 1000.0);
        let state = self.watch.lock();
        state.in_flight.is_empty()
            && !state.is_navigating
            && state.last_traffic.elapsed() >= enough
            && unchanged.unwrap_or_default() >= enough
    }
}
