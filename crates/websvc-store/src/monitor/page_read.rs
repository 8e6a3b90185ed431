//! Reads of the pages of a check.

use std::ops::ControlFlow;

use super::row::page_hash;
use super::types::{CheckPageRecord, CheckPageStatus, CheckPages};
use crate::document::CompressedDocument;
use crate::error::StoreError;
use crate::sql::{self, Connection, params};
use crate::store::Store;

/// The positions of the first and the last page of a page of pages.
struct PageRange {
    first: u64,
    last: u64,
    has_more: bool,
}

impl Store {
    /// Returns for each of several URLs of a target whether a check has its page.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn check_has_pages(
        &self,
        check: i64,
        target: &str,
        urls: &[String],
    ) -> Result<Vec<bool>, StoreError> {
        let sql = "SELECT 1 FROM monitor_pages WHERE monitor_check = ?1 AND hash = ?2";
        self.database().read(|connection| {
            urls.iter().map(|url| connection.exists(sql, params![check, page_hash(target, url)])).collect()
        })
    }

    /// Returns the pages of a check after the first `skip`, with one status or with all, in the order in which they were
    /// recorded. Returns at most `max` pages whose documents have at most `max_bytes` before compression, but always one
    /// if there is one.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when a document cannot be decoded; otherwise failures of the database.
    pub fn check_pages(
        &self,
        check: i64,
        status: Option<CheckPageStatus>,
        skip: u64,
        max: u64,
        max_bytes: u64,
    ) -> Result<CheckPages, StoreError> {
        let status = status.map(CheckPageStatus::as_str);
        let (rows, has_more) = self.database().read(|connection| {
            let Some(range) = page_range(connection, check, status, skip, max, max_bytes)? else {
                return Ok((Vec::new(), false));
            };
            let sql = "SELECT id, target, url, status, created_at, bytes, document FROM monitor_pages \
                       WHERE monitor_check = ?1 AND (status = ?2 OR ?2 IS NULL) \
                       AND position >= ?3 AND position <= ?4 ORDER BY position";
            let rows = connection.query(sql, params![check, status, range.first, range.last], |row| {
                let record = CheckPageRecord {
                    id: row.get(0)?,
                    target: row.get(1)?,
                    url: row.get(2)?,
                    status: row.get(3)?,
                    document: Vec::new(),
                    created_at_ms: row.get(4)?,
                };
                Ok((record, CompressedDocument { bytes: row.get(5)?, content: row.get(6)? }))
            })?;
            Ok((rows, range.has_more))
        })?;
        let decompress = |(record, document): (CheckPageRecord, CompressedDocument)| {
            let name = format!("page {} of a check", record.id);
            Ok(CheckPageRecord { document: document.decompress(self.database(), &name)?, ..record })
        };
        let pages = rows.into_iter().map(decompress).collect::<Result<_, StoreError>>()?;
        Ok(CheckPages { pages, has_more })
    }
}

/// Returns the range of at most `max` pages after `skip` that have at most `max_bytes` together; the first one always
/// counts. Reads the sizes only, because a server sends all rows of a query.
fn page_range(
    connection: &Connection,
    check: i64,
    status: Option<&str>,
    skip: u64,
    max: u64,
    max_bytes: u64,
) -> sql::Result<Option<PageRange>> {
    let sql = "SELECT position, bytes FROM monitor_pages WHERE monitor_check = ?1 \
               AND (status = ?2 OR ?2 IS NULL) ORDER BY position LIMIT ?4 OFFSET ?3";
    let (mut range, mut count, mut bytes) = (None::<PageRange>, 0_u64, 0_u64);
    let (skip, limit) = (skip.min(i64::MAX as u64), max.saturating_add(1).min(i64::MAX as u64));
    connection.for_each(sql, params![check, status, skip, limit], |row| {
        let position = row.get(0)?;
        count += 1;
        bytes = bytes.saturating_add(row.get(1)?);
        match &mut range {
            Some(range) if count > max || bytes > max_bytes => {
                range.has_more = true;
                return Ok(ControlFlow::Break(()));
            }
            Some(range) => range.last = position,
            None => range = Some(PageRange { first: position, last: position, has_more: false }),
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(range)
}
