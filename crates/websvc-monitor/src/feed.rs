//! The Atom feed of a monitor, behind a token in its URL.
//!
//! The token is a keyed hash of the ID of the monitor by the signing secret of the team, so it needs no storage. A new
//! signing secret ends all feeds of the team.

use subtle::ConstantTimeEq;
use url::Url;
use uuid::Uuid;
use websvc_notify::{AtomFeed, DiffMode};
use websvc_store::{MonitorRecord, StoreError};
use websvc_tasks::TaskError;

use crate::monitors::{Inner, Monitors};
use crate::report::{check_report, found_statuses};
use crate::stored::StoredDefinition;
use crate::time::from_ms;
use crate::token::keyed_token;

/// Number of checks in which entries are searched, and of entries.
const MAX_CHECKS: u64 = 100;
const MAX_ENTRIES: usize = 20;

/// Maximum size of the pages of each status that are read for an entry, in bytes.
const MAX_ENTRY_BYTES: u64 = 256 * 1024;

/// Maximum size of a feed in bytes.
const MAX_BYTES: usize = 1024 * 1024;

impl Monitors {
    /// Returns the token of the feed of a monitor.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn feed_token(&self, record: &MonitorRecord) -> Result<String, TaskError> {
        let (team, id) = (record.team.clone(), record.id.clone());
        self.run_blocking(move |inner| Ok(token(inner, &team, &id)?)).await
    }

    /// Returns the feed of a monitor at `self_url`: the last checks that found something. Returns `None` if there is no
    /// such monitor, or the token is wrong.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn feed(&self, id: &str, given: &str, self_url: Url) -> Result<Option<String>, TaskError> {
        let (id, given) = (id.to_owned(), given.to_owned());
        self.run_blocking(move |inner| {
            let Some(record) = inner.store.monitor_by_id(&id)? else { return Ok(None) };
            let expected = token(inner, &record.team, &record.id)?;
            if !bool::from(expected.as_bytes().ct_eq(given.as_bytes())) {
                return Ok(None);
            }
            Ok(write(inner, &record, &self_url)?)
        })
        .await
    }
}

fn token(inner: &Inner, team: &str, id: &str) -> Result<String, StoreError> {
    let secret = inner.store.webhook_secret(team)?;
    Ok(keyed_token(&secret, &format!("feed of monitor {id}")))
}

fn write(inner: &Inner, record: &MonitorRecord, self_url: &Url) -> Result<Option<String>, StoreError> {
    let Some(stored) = StoredDefinition::decode(&record.definition) else { return Ok(None) };
    let Ok(monitor_id) = Uuid::parse_str(&record.id) else { return Ok(None) };
    let name = &stored.definition.name;
    let mut reports = Vec::new();
    for check in inner.store.checks(record.number, None, 0, MAX_CHECKS)? {
        if !found_statuses(&inner.store, &check)?.is_empty() {
            reports.extend(check_report(&inner.store, &check, name, MAX_ENTRY_BYTES)?);
        }
        if reports.len() == MAX_ENTRIES {
            break;
        }
    }
    let feed = AtomFeed {
        monitor_id,
        monitor_name: name,
        updated_at: from_ms(record.updated_at_ms),
        self_url,
        dashboard_url: None,
        diffs: DiffMode::Include,
    };
    Ok(Some(feed.write(&reports, MAX_BYTES)))
}
