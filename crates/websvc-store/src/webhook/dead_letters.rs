//! Dead letters: events that were tried as often as they may be, or waited for as long.

use rusqlite::{Row, params};

use super::JobEvent;
use crate::database::Durability;
use crate::error::StoreError;
use crate::job::JobKind;
use crate::store::Store;

/// An event that could not be delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    /// ID of the event at the receiver.
    pub id: String,
    /// Whose it is.
    pub team: String,
    /// The name of the job.
    pub job: String,
    /// Kind of the job.
    pub kind: JobKind,
    /// Event.
    pub event: JobEvent,
    /// Destination URL; it may contain secrets.
    pub url: String,
    /// All tries; none, when its turn never came.
    pub attempts: u32,
    /// The status of the last answer, if there was one.
    pub status: Option<u16>,
    /// Why it was not taken.
    pub error: String,
    /// When it happened, in milliseconds since the Unix epoch.
    pub created_at_ms: u64,
    /// When it was tried last, or else happened, in milliseconds since the Unix epoch.
    pub tried_at_ms: u64,
    /// When it is forgotten, in milliseconds since the Unix epoch.
    pub forget_at_ms: u64,
}

/// A part of the dead letters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeadLetterPage {
    /// The letters, in the order in which they happened.
    pub letters: Vec<DeadLetter>,
    /// How many there are in all.
    pub total: u64,
}

/// Which dead letters are meant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeadLetterFilter {
    /// Those of this team alone.
    pub team: Option<String>,
    /// Those of jobs of this kind alone.
    pub kind: Option<JobKind>,
    /// This one alone.
    pub id: Option<String>,
}

const WHERE: &str = "events.forget_at IS NOT NULL AND (?1 IS NULL OR jobs.team = ?1) \
     AND (?2 IS NULL OR jobs.kind = ?2) AND (?3 IS NULL OR events.id = ?3)";
const FROM: &str = "webhook_events AS events JOIN webhooks ON webhooks.job = events.job \
     JOIN jobs ON jobs.number = events.job";

impl Store {
    /// Returns dead letters after the first `skip`, at most `most` of them.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn dead_letters(
        &self,
        which: &DeadLetterFilter,
        skip: u64,
        most: u64,
    ) -> Result<DeadLetterPage, StoreError> {
        let DeadLetterFilter { team, kind, id } = which;
        let kind = kind.map(JobKind::as_str);
        let (skip, most) = (skip.min(i64::MAX as u64), most.min(i64::MAX as u64));
        self.database().read(|connection| {
            let total = connection
                .prepare_cached(&format!("SELECT count(*) FROM {FROM} WHERE {WHERE}"))?
                .query_row(params![team, kind, id], |row| row.get(0))?;
            let letters = connection
                .prepare_cached(&format!(
                    "SELECT events.id, jobs.team, jobs.id, jobs.kind, events.event, webhooks.url, \
                     events.attempts, events.status, ifnull(events.error, ''), events.created_at, \
                     ifnull(events.tried_at, events.created_at), events.forget_at \
                     FROM {FROM} WHERE {WHERE} ORDER BY events.number LIMIT ?5 OFFSET ?4"
                ))?
                .query_map(params![team, kind, id, skip, most], letter)?
                .collect::<rusqlite::Result<_>>()?;
            Ok(DeadLetterPage { letters, total })
        })
    }

    /// Lets dead letters be tried anew at once, as often as an event may be; returns how many.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn retry_dead_letters(&self, which: &DeadLetterFilter, now_ms: u64) -> Result<u64, StoreError> {
        let sql = format!(
            "UPDATE webhook_events SET forget_at = NULL, round = 0, due_at = ?4, since = ?4 \
             WHERE number IN (SELECT events.number FROM {FROM} WHERE {WHERE})"
        );
        let DeadLetterFilter { team, kind, id } = which;
        self.database().write(Durability::Power, |transaction| {
            transaction
                .execute(&sql, params![team, kind.map(JobKind::as_str), id, now_ms])
                .map(|rows| rows as u64)
        })
    }

    /// Forgets dead letters, and returns how many.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn delete_dead_letters(&self, which: &DeadLetterFilter) -> Result<u64, StoreError> {
        let sql = format!(
            "DELETE FROM webhook_events WHERE number IN (SELECT events.number FROM {FROM} WHERE {WHERE})"
        );
        let DeadLetterFilter { team, kind, id } = which;
        self.database().write(Durability::Power, |transaction| {
            transaction.execute(&sql, params![team, kind.map(JobKind::as_str), id]).map(|rows| rows as u64)
        })
    }
}

fn letter(row: &Row<'_>) -> rusqlite::Result<DeadLetter> {
    Ok(DeadLetter {
        id: row.get(0)?,
        team: row.get(1)?,
        job: row.get(2)?,
        kind: row.get(3)?,
        event: row.get(4)?,
        url: row.get(5)?,
        attempts: row.get(6)?,
        status: row.get(7)?,
        error: row.get(8)?,
        created_at_ms: row.get(9)?,
        tried_at_ms: row.get(10)?,
        forget_at_ms: row.get(11)?,
    })
}
