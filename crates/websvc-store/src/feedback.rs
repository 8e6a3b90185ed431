//! Feedback: ratings that clients give to results of searches, scrapes, maps and uploads.
//!
//! Only results of logged requests can be rated, so a rating needs no other record of the request. The log has digests of
//! the IDs of results: with the ID itself, a reader of the database could decrypt the stored results of scrapes.

use std::fmt;
use std::str::FromStr;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use crate::database::{Durability, Locked};
use crate::error::StoreError;
use crate::key::KeyId;
use crate::sql::{self, Row, Transaction, params};
use crate::store::Store;

/// Length of a digest in bytes. Two results of a team with the same digest are as unlikely as two equal UUIDs.
const DIGEST_BYTES: usize = 16;

const COLUMNS: &str = "number, id, team, key, operation, target, rating, content, created_at";

/// Rating of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedbackRating {
    /// It was what the client needed.
    Good,
    /// A part of it was.
    Partial,
    /// It was not.
    Bad,
}

/// A text that is not a rating.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown rating {0:?}")]
pub struct UnknownRating(String);

/// Feedback to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFeedback {
    /// ID of the feedback.
    pub id: String,
    /// Team that owns the result.
    pub team: String,
    /// Key of the request; `None` for an anonymous request.
    pub key: Option<KeyId>,
    /// ID of the rated result.
    pub result: String,
    /// Operation of the rated request.
    pub operation: String,
    /// Query or URL of the rated request.
    pub target: Option<String>,
    /// The rating.
    pub rating: FeedbackRating,
    /// The rest of the feedback, as a JSON object.
    pub content: String,
}

/// Stored feedback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedbackRecord {
    /// Number, which is higher for newer feedback.
    pub number: i64,
    /// ID of the feedback.
    pub id: String,
    /// Team that owns the result.
    pub team: String,
    /// Key of the request; `None` for an anonymous request.
    pub key: Option<String>,
    /// Operation of the rated request.
    pub operation: String,
    /// Query or URL of the rated request.
    pub target: Option<String>,
    /// The rating.
    pub rating: FeedbackRating,
    /// The rest of the feedback, as a JSON object.
    pub content: String,
    /// Time of the feedback, in milliseconds since the Unix epoch.
    pub created_at_ms: u64,
}

/// Outcome of storing feedback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PutFeedbackOutcome {
    /// It is stored.
    Stored,
    /// The result has feedback with this ID already; nothing was changed.
    AlreadySubmitted {
        /// ID of the existing feedback.
        id: String,
    },
}

/// A logged request whose result can be rated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RatedRequest {
    /// Operation of the request.
    pub operation: String,
    /// HTTP status of the response.
    pub status: u16,
    /// Time of the response, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// Query or URL of the request.
    pub target: Option<String>,
}

impl FeedbackRating {
    /// Returns the name of the rating.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Partial => "partial",
            Self::Bad => "bad",
        }
    }
}

impl fmt::Display for FeedbackRating {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for FeedbackRating {
    type Err = UnknownRating;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::Good, Self::Partial, Self::Bad]
            .into_iter()
            .find(|rating| rating.as_str() == text)
            .ok_or_else(|| UnknownRating(text.to_owned()))
    }
}

impl Store {
    /// Returns the logged request of a team that had the result with this ID; `None` if the log has none, such as for a
    /// request with zero data retention. Requests of other processes are in the log about a second after their response.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn rated_request(&self, team: &str, result: &str) -> Result<Option<RatedRequest>, StoreError> {
        self.flush_credits()?;
        // The redundant condition makes SQLite use the partial index.
        let sql = "SELECT operation, status, at, query FROM usage_log \
                   WHERE result = ?1 AND result IS NOT NULL AND team = ?2 LIMIT 1";
        self.database().read(|connection| {
            connection.query_optional(sql, params![result_digest(result), team], |row| {
                Ok(RatedRequest {
                    operation: row.get(0)?,
                    status: row.get(1)?,
                    at_ms: row.get(2)?,
                    target: row.get(3)?,
                })
            })
        })
    }

    /// Returns the ID of the feedback on a result of a team.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn feedback_id(&self, team: &str, result: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT id FROM feedback WHERE team = ?1 AND result = ?2";
        self.database().read(|connection| {
            connection.query_optional(sql, params![team, result_digest(result)], |row| row.get(0))
        })
    }

    /// Stores feedback at `now_ms` (milliseconds since the Unix epoch), unless the result has feedback already. Deletes the
    /// oldest feedback of the team, until it has at most `max_per_team`.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn put_feedback(
        &self,
        feedback: &NewFeedback,
        max_per_team: u64,
        now_ms: u64,
    ) -> Result<PutFeedbackOutcome, StoreError> {
        let NewFeedback { id, team, key, result, operation, target, rating, content } = feedback;
        let digest = result_digest(result);
        self.database().write_locked(Locked::Team(team), Durability::Process, |transaction| {
            let sql = "INSERT INTO feedback (id, team, key, result, operation, target, rating, content, created_at) \
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (team, result) DO NOTHING";
            let key = key.as_ref().map(KeyId::as_str);
            let values =
                params![id, team, key, digest, operation, target, rating.as_str(), content, now_ms];
            if transaction.execute(sql, values)? == 0 {
                let sql = "SELECT id FROM feedback WHERE team = ?1 AND result = ?2";
                let id = transaction.query_row(sql, params![team, digest], |row| row.get(0))?;
                return Ok(PutFeedbackOutcome::AlreadySubmitted { id });
            }
            let sql = "DELETE FROM feedback WHERE team = ?1 AND number <= ( \
                           SELECT number FROM feedback WHERE team = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)";
            transaction.execute(sql, params![team, max_per_team])?;
            Ok(PutFeedbackOutcome::Stored)
        })
    }

    /// Returns feedback of one team or of all, the newest first. With `before`, returns that with lower numbers.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn feedback(
        &self,
        team: Option<&str>,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<FeedbackRecord>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM feedback WHERE (team = ?1 OR ?1 IS NULL) AND (number < ?2 OR ?2 IS NULL) \
             ORDER BY number DESC LIMIT ?3"
        );
        self.database().read(|connection| connection.query(&sql, params![team, before, limit], from_row))
    }
}

/// Deletes feedback that is older than `oldest_ms` (milliseconds since the Unix epoch).
pub(crate) fn trim(transaction: &Transaction<'_>, oldest_ms: u64) -> sql::Result<()> {
    transaction.execute("DELETE FROM feedback WHERE created_at < ?1", params![oldest_ms]).map(drop)
}

/// Returns the digest of the ID of a result.
pub(crate) fn result_digest(result: &str) -> String {
    let digest = Sha256::digest(result.as_bytes());
    HEXLOWER.encode(&digest[..DIGEST_BYTES])
}

fn from_row(row: &Row<'_>) -> sql::Result<FeedbackRecord> {
    Ok(FeedbackRecord {
        number: row.get(0)?,
        id: row.get(1)?,
        team: row.get(2)?,
        key: row.get(3)?,
        operation: row.get(4)?,
        target: row.get(5)?,
        rating: row.parse(6, str::parse)?,
        content: row.get(7)?,
        created_at_ms: row.get(8)?,
    })
}
