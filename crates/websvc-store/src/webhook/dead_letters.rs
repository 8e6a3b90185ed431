//! Dead letters: events whose attempts are used up, or that were pending for too long.

use super::{JobEvent, WebhookSource};
use crate::database::Durability;
use crate::error::StoreError;
use crate::sql::postgres::StatementClass;
use crate::sql::{self, Row, params};
use crate::store::Store;

/// An event that could not be delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    /// Identifier of the event on the wire.
    pub id: String,
    /// Team that owns the job or check.
    pub team: String,
    /// Identifier of the job or check on the wire.
    pub source_id: String,
    /// The kind of work that the event reports.
    pub source: WebhookSource,
    /// Kind of the event.
    pub event: JobEvent,
    /// Destination URL; it may contain secrets.
    pub url: String,
    /// Number of all attempts; 0 if none was made before the event expired.
    pub attempts: u32,
    /// HTTP status of the last response, if there was one.
    pub status: Option<u16>,
    /// The reason why it was not delivered.
    pub error: String,
    /// Time of the event, in milliseconds since the Unix epoch.
    pub created_at_ms: u64,
    /// Time of the last attempt, or of the event if there was none, in milliseconds since the Unix epoch.
    pub last_attempt_at_ms: u64,
    /// Time of its deletion, in milliseconds since the Unix epoch.
    pub expires_at_ms: u64,
}

/// A page of dead letters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeadLetterPage {
    /// The dead letters, in the order of their events.
    pub letters: Vec<DeadLetter>,
    /// Number of all dead letters that match.
    pub total: u64,
}

/// A filter for dead letters; all conditions must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeadLetterFilter {
    /// Only those of this team.
    pub team: Option<String>,
    /// Only those of these kinds of work.
    pub sources: Option<Vec<WebhookSource>>,
    /// Only the one with this identifier.
    pub id: Option<String>,
}

impl DeadLetterFilter {
    /// Returns the parameters of [`WHERE`]. The names of the sources are between commas.
    fn parameters(&self) -> (&Option<String>, Option<String>, &Option<String>) {
        let Self { team, sources, id } = self;
        let sources = sources.as_ref().map(|sources| {
            let names: Vec<&str> = sources.iter().map(|source| source.as_str()).collect();
            format!(",{},", names.join(","))
        });
        (team, sources, id)
    }
}

const WHERE: &str = "events.forget_at IS NOT NULL AND (webhooks.team = ?1 OR ?1 IS NULL) \
     AND (?2 LIKE '%,' || webhooks.source || ',%' OR ?2 IS NULL) AND (events.id = ?3 OR ?3 IS NULL)";
const FROM: &str = "webhook_events AS events JOIN webhooks ON webhooks.number = events.webhook";

impl Store {
    /// Returns up to `max` dead letters after the first `skip`.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn dead_letters(
        &self,
        filter: &DeadLetterFilter,
        skip: u64,
        max: u64,
    ) -> Result<DeadLetterPage, StoreError> {
        let (team, sources, id) = filter.parameters();
        let (skip, max) = (skip.min(i64::MAX as u64), max.min(i64::MAX as u64));
        self.database().read(|connection| {
            let total = connection.query_row(
                &format!("SELECT count(*) FROM {FROM} WHERE {WHERE}"),
                params![team, sources, id],
                |row| row.get(0),
            )?;
            let letters = connection.query(
                &format!(
                    "SELECT events.id, webhooks.team, webhooks.source_id, webhooks.source, events.event, webhooks.url, \
                     events.attempts, events.status, coalesce(events.error, ''), events.created_at, \
                     coalesce(events.tried_at, events.created_at), events.forget_at \
                     FROM {FROM} WHERE {WHERE} ORDER BY events.number LIMIT ?5 OFFSET ?4"
                ),
                params![team, sources, id, skip, max],
                letter_from_row,
            )?;
            Ok(DeadLetterPage { letters, total })
        })
    }

    /// Makes dead letters pending again, due at once and with all attempts of a new event. Returns how many.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn retry_dead_letters(&self, filter: &DeadLetterFilter, now_ms: u64) -> Result<u64, StoreError> {
        let sql = format!(
            "UPDATE webhook_events SET forget_at = NULL, round = 0, due_at = ?4, since = ?4 \
             WHERE number IN (SELECT events.number FROM {FROM} WHERE {WHERE})"
        );
        let (team, sources, id) = filter.parameters();
        self.database().write(Durability::Power, |transaction| {
            transaction.execute(&sql, params![team, sources, id, now_ms])
        })
    }

    /// Deletes dead letters, and returns how many.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn delete_dead_letters(&self, filter: &DeadLetterFilter) -> Result<u64, StoreError> {
        let _class = StatementClass::Background.enter();
        let sql = format!(
            "DELETE FROM webhook_events WHERE number IN (SELECT events.number FROM {FROM} WHERE {WHERE})"
        );
        let (team, sources, id) = filter.parameters();
        self.database()
            .write(Durability::Power, |transaction| transaction.execute(&sql, params![team, sources, id]))
    }
}

fn letter_from_row(row: &Row<'_>) -> sql::Result<DeadLetter> {
    Ok(DeadLetter {
        id: row.get(0)?,
        team: row.get(1)?,
        source_id: row.get(2)?,
        source: row.get(3)?,
        event: row.get(4)?,
        url: row.get(5)?,
        attempts: row.get(6)?,
        status: row.get(7)?,
        error: row.get(8)?,
        created_at_ms: row.get(9)?,
        last_attempt_at_ms: row.get(10)?,
        expires_at_ms: row.get(11)?,
    })
}
