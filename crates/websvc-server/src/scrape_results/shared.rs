//! The results of all processes of the service, in a database on a server.

use std::time::Duration;

use bytes::Bytes;
use uuid::Uuid;
use websvc_store::{ScrapeResult, Store};

use super::RETENTION;
use super::writer::{ResultWriteMetrics, ResultWriter};
use crate::blocking::run_blocking;
use crate::response::ApiError;

/// The pauses between the lookups of a result that another process may still be writing: 500 ms in total.
const RETRY_DELAYS_MS: [u64; 4] = [20, 60, 140, 280];

/// The age up to which another process may still be writing a result, with the differences of clocks.
const MAX_WRITE_AGE_MS: u64 = 60_000;

/// The results in the database.
#[derive(Debug)]
pub(super) struct SharedResults {
    store: Store,
    writer: ResultWriter,
}

impl SharedResults {
    pub(super) fn new(store: Store) -> Self {
        Self { writer: ResultWriter::start(store.clone()), store }
    }

    /// Queues a compressed result of a team for the database.
    pub(super) fn store(&self, id: Uuid, team: &str, compressed: Bytes) {
        let lifetime_ms = u64::try_from(RETENTION.as_millis()).unwrap_or(u64::MAX);
        self.writer.write(ScrapeResult {
            id: id.to_string(),
            team: team.to_owned(),
            expires_at_ms: self.store.now_ms().saturating_add(lifetime_ms),
            body: compressed,
        });
    }

    /// Returns a compressed result of a team, if it is stored. Results are written after their responses, so this waits
    /// for a recent one that is not stored yet.
    ///
    /// # Errors
    /// 503 or 500 if the database cannot be read.
    pub(super) async fn find(&self, id: Uuid, team: &str) -> Result<Option<Bytes>, ApiError> {
        let delays: &[u64] = if is_recent(id, self.store.now_ms()) { &RETRY_DELAYS_MS } else { &[] };
        for delay_ms in delays {
            if let Some(found) = self.read(id, team).await? {
                return Ok(Some(found));
            }
            tokio::time::sleep(Duration::from_millis(*delay_ms)).await;
        }
        self.read(id, team).await
    }

    pub(super) fn write_metrics(&self) -> &ResultWriteMetrics {
        self.writer.metrics()
    }

    async fn read(&self, id: Uuid, team: &str) -> Result<Option<Bytes>, ApiError> {
        let (store, team) = (self.store.clone(), team.to_owned());
        let found = run_blocking(move || store.scrape_result(&id.to_string(), &team, store.now_ms())).await?;
        let found = found.map_err(|error| ApiError::internal(&error, "the result could not be read"))?;
        Ok(found.map(Bytes::from))
    }
}

/// Returns whether another process may still be writing the result of a scrape. The ID contains the time of the scrape
/// (UUID version 7), so a client does not wait for one that has expired or never existed.
fn is_recent(id: Uuid, now_ms: u64) -> bool {
    let Some(scraped_at) = id.get_timestamp() else { return false };
    let (seconds, nanos) = scraped_at.to_unix();
    let scraped_at_ms = seconds.saturating_mul(1000).saturating_add(u64::from(nanos / 1_000_000));
    now_ms.abs_diff(scraped_at_ms) <= MAX_WRITE_AGE_MS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_recent_id_is_waited_for() {
        let now_ms = u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap();
        assert!(is_recent(Uuid::now_v7(), now_ms));
        assert!(!is_recent(Uuid::now_v7(), now_ms + 2 * MAX_WRITE_AGE_MS));
        assert!(!is_recent(Uuid::now_v7(), now_ms - 2 * MAX_WRITE_AGE_MS));
        assert!(!is_recent(Uuid::from_u128(1), now_ms), "no ID of a scrape");
        assert!(RETRY_DELAYS_MS.iter().sum::<u64>() <= 500);
    }
}
