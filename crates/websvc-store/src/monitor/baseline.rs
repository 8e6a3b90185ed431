//! Baselines: the last good states of pages, which live as long as their monitor.

use super::row::page_hash;
use super::types::Baseline;
use crate::database::Durability;
use crate::document::CompressedDocument;
use crate::error::StoreError;
use crate::sql::{ToSql, params};
use crate::store::Store;

/// Maximum of rows that one transaction deletes, so that other writers do not wait for long.
const MAX_ROWS: u64 = 500;

impl Store {
    /// Returns the baseline of a page.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when its document cannot be decoded; otherwise failures of the database.
    pub fn baseline(&self, monitor: i64, target: &str, url: &str) -> Result<Option<Baseline>, StoreError> {
        let sql = "SELECT bytes, document, is_removed, updated_at FROM monitor_baselines \
                   WHERE monitor = ?1 AND target = ?2 AND hash = ?3";
        let values = params![monitor, target, page_hash(target, url)];
        let found = self.database().read(|connection| {
            connection.query_optional(sql, values, |row| {
                let document = CompressedDocument { bytes: row.get(0)?, content: row.get(1)? };
                Ok((document, row.get(2)?, row.get(3)?))
            })
        })?;
        let Some((document, is_removed, updated_at_ms)) = found else { return Ok(None) };
        let document = document.decompress(self.database(), &format!("a baseline of monitor {monitor}"))?;
        Ok(Some(Baseline { document, is_removed, updated_at_ms }))
    }

    /// Returns up to `max` URLs of the baselines of a target, and whether their pages are removed. They are in a fixed
    /// order, which is not that of the URLs, and begin after the URL `after`.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn baseline_urls(
        &self,
        monitor: i64,
        target: &str,
        after: Option<&str>,
        max: u64,
    ) -> Result<Vec<(String, bool)>, StoreError> {
        let sql = "SELECT url, is_removed FROM monitor_baselines WHERE monitor = ?1 AND target = ?2 \
                   AND hash > ?3 ORDER BY hash LIMIT ?4";
        let after = after.map_or_else(Vec::new, |url| page_hash(target, url).to_vec());
        let max = max.min(i64::MAX as u64);
        self.database().read(|connection| {
            connection.query(sql, params![monitor, target, after, max], |row| Ok((row.get(0)?, row.get(1)?)))
        })
    }

    /// Deletes the baselines of a monitor that belong to none of the targets in `keep`.
    ///
    /// # Errors
    /// Failures of the database; then a part of them may be deleted.
    pub fn prune_baselines(&self, monitor: i64, keep: &[String]) -> Result<(), StoreError> {
        let kept: Vec<String> = (3..3 + keep.len()).map(|number| format!("?{number}")).collect();
        let condition = match kept.is_empty() {
            true => String::new(),
            false => format!(" AND target NOT IN ({})", kept.join(", ")),
        };
        let sql = format!(
            "DELETE FROM monitor_baselines WHERE monitor = ?1 AND (target, hash) IN (SELECT target, hash \
             FROM monitor_baselines WHERE monitor = ?1{condition} LIMIT ?2)"
        );
        let mut values: Vec<&dyn ToSql> = vec![&monitor, &MAX_ROWS];
        values.extend(keep.iter().map(|target| target as &dyn ToSql));
        loop {
            let deleted = self
                .database()
                .write_shared(Durability::Process, |transaction| transaction.execute(&sql, &values))?;
            if deleted < MAX_ROWS {
                return Ok(());
            }
        }
    }
}
