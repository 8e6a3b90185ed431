//! Reads of jobs.

use std::ops::ControlFlow;

use super::row::{COLUMNS, by_number, entry, find, record};
use super::{JobDocumentPage, JobError, JobKind, JobLease, JobRecord, JobUrl, UrlOutcome};
use crate::document::CompressedDocument;
use crate::error::StoreError;
use crate::sql::{self, Connection, params};
use crate::store::Store;

impl Store {
    /// Returns a job of a team; `None` for a job of another team, and for one that expired before `now_ms`
    /// (milliseconds since the Unix epoch).
    ///
    /// # Errors
    /// Failures of the database.
    pub fn job(
        &self,
        team: &str,
        kind: JobKind,
        id: &str,
        now_ms: u64,
    ) -> Result<Option<JobRecord>, StoreError> {
        let job = self.database().read(|connection| find(connection, team, id, now_ms))?;
        Ok(job.filter(|job| job.kind == kind))
    }

    /// Returns a job by its number.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn job_by_number(&self, number: i64) -> Result<Option<JobRecord>, StoreError> {
        self.database().read(|connection| by_number(connection, number))
    }

    /// Returns the running jobs of one team and kind or of all, the oldest first.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn running_jobs(&self, filter: Option<(&str, JobKind)>) -> Result<Vec<JobRecord>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM jobs WHERE state = 'running' \
             AND ((team = ?1 AND kind = ?2) OR ?1 IS NULL) ORDER BY number"
        );
        let (team, kind) = filter.unzip();
        self.database()
            .read(|connection| connection.query(&sql, params![team, kind.map(JobKind::as_str)], record))
    }

    /// Returns how many URLs are queued or leased: in the jobs of a team, or in all jobs that this replica owns. A process
    /// that has not joined the replicas counts those of all.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn open_job_pages(&self, team: Option<&str>) -> Result<u64, StoreError> {
        let sum = "SELECT coalesce(sum(open), 0) FROM jobs WHERE state = 'running'";
        let replica = self.membership().id();
        self.database().read(|connection| match team {
            Some(team) => {
                connection.query_row(&format!("{sum} AND team = ?1"), params![team], |row| row.get(0))
            }
            None => {
                let sql = format!("{sum} AND (replica = ?1 OR ?1 IS NULL)");
                connection.query_row(&sql, params![replica], |row| row.get(0))
            }
        })
    }

    /// Returns the documents of a job after the first `skip`, in the order of their completion. Returns at most `max`
    /// documents with at most `max_bytes` before compression, but always one if there is one.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when one cannot be decoded; otherwise failures of the database.
    pub fn job_documents(
        &self,
        job: i64,
        skip: u64,
        max: u64,
        max_bytes: u64,
    ) -> Result<JobDocumentPage, StoreError> {
        let skip = skip.min(i64::MAX as u64 - 1);
        let (rows, next) = self.database().read(|connection| {
            let Some(last) = last_of_page(connection, job, skip, max, max_bytes)? else {
                return Ok((Vec::new(), None));
            };
            let rows: Vec<(u64, Vec<u8>)> = connection.query(
                "SELECT bytes, document FROM job_documents WHERE job = ?1 AND position > ?2 AND position <= ?3 \
                 ORDER BY position",
                params![job, skip, last.position],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
            Ok((rows, last.has_more.then_some(last.position)))
        })?;
        let documents = rows.into_iter().map(|(length, bytes)| self.decompress(job, length, bytes));
        Ok(JobDocumentPage { documents: documents.collect::<Result<_, _>>()?, next })
    }

    /// Returns all URLs of a job in the order in which they were found, including aliases.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn job_urls(&self, job: i64) -> Result<Vec<JobUrl>, StoreError> {
        self.database().read(|connection| {
            connection.query(
                "SELECT url, key, depth, given, list_index FROM job_urls WHERE job = ?1 ORDER BY place",
                params![job],
                |row| {
                    Ok(JobUrl {
                        url: row.get(0)?,
                        key: row.get(1)?,
                        depth: row.get(2)?,
                        entry: entry(row, 3)?,
                    })
                },
            )
        })
    }

    /// Returns up to `max` URLs of a job that were completed without a document, in the order in which they were found.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn job_errors(&self, job: i64, max: usize) -> Result<Vec<JobError>, StoreError> {
        let sql = "SELECT place, coalesce(given, url), coalesce(ended_at, 0), state = 'blocked', coalesce(code, ''), \
                   coalesce(error, '') FROM job_urls WHERE job = ?1 AND state IN ('failed', 'blocked') \
                   ORDER BY place LIMIT ?2";
        self.database().read(|connection| {
            connection.query(sql, params![job, max as u64], |row| {
                Ok(JobError {
                    position: row.get(0)?,
                    url: row.get(1)?,
                    ended_at_ms: row.get(2)?,
                    is_blocked: row.get(3)?,
                    code: row.get(4)?,
                    error: row.get(5)?,
                })
            })
        })
    }

    /// Returns the outcome of the URL that a [copy](JobLease::is_copy) repeats; `None` if the lease is not that of a
    /// copy.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when its document cannot be decoded; otherwise failures of the database.
    pub fn original_outcome(&self, lease: &JobLease) -> Result<Option<UrlOutcome>, StoreError> {
        let Some(original) = lease.copy_of else { return Ok(None) };
        let found = self.database().read(|connection| {
            connection.query_optional(
                "SELECT state, coalesce(code, ''), coalesce(error, ''), bytes, document \
                     FROM job_urls LEFT JOIN job_documents USING (job, place) WHERE job = ?1 AND place = ?2",
                params![lease.job, original],
                |row| {
                    let document: Option<(u64, Vec<u8>)> = row.get::<Option<u64>>(3)?.zip(row.get(4)?);
                    Ok((row.get::<String>(0)?, row.get(1)?, row.get(2)?, document))
                },
            )
        })?;
        let Some((state, code, error, document)) = found else { return Ok(None) };
        Ok(match (state.as_str(), document) {
            ("document", Some((length, bytes))) => {
                Some(UrlOutcome::Document(self.decompress(lease.job, length, bytes)?))
            }
            ("failed", _) => Some(UrlOutcome::Failed { code, error }),
            ("blocked", _) => Some(UrlOutcome::Blocked),
            ("dropped", _) => Some(UrlOutcome::OutOfScope),
            _ => None,
        })
    }

    fn decompress(&self, job: i64, length: u64, compressed: Vec<u8>) -> Result<Vec<u8>, StoreError> {
        let document = CompressedDocument { bytes: length, content: compressed };
        document.decompress(self.database(), &format!("a document of job {job}"))
    }
}

/// The last document of a page of documents.
struct LastDocument {
    position: u64,
    /// True if the job has later documents.
    has_more: bool,
}

/// Returns the last of at most `max` documents after `skip` that have at most `max_bytes` together; the first one always
/// counts. Reads the sizes only, because a server sends all rows of a query.
fn last_of_page(
    connection: &Connection,
    job: i64,
    skip: u64,
    max: u64,
    max_bytes: u64,
) -> sql::Result<Option<LastDocument>> {
    let sql = "SELECT position, bytes FROM job_documents WHERE job = ?1 AND position > ?2 ORDER BY position LIMIT ?3";
    let (mut last, mut count, mut bytes) = (None::<LastDocument>, 0_u64, 0_u64);
    let limit = max.saturating_add(1).min(i64::MAX as u64);
    connection.for_each(sql, params![job, skip, limit], |row| {
        count += 1;
        bytes = bytes.saturating_add(row.get(1)?);
        match &mut last {
            Some(last) if count > max || bytes > max_bytes => {
                last.has_more = true;
                return Ok(ControlFlow::Break(()));
            }
            _ => last = Some(LastDocument { position: row.get(0)?, has_more: false }),
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(last)
}
