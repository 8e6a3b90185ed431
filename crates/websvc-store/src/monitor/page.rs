//! Recording of pages: one transaction with all consequences.

use super::row::{is_workable, page_hash};
use super::types::{
    BaselineChange, CheckPageStatus, CheckSummary, MonitorLimits, NewCheckPage, RecordPagesOutcome,
};
use crate::database::{Durability, Locked};
use crate::document::CompressedDocument;
use crate::error::StoreError;
use crate::ledger::{Charges, CreditHold, Usage};
use crate::sql::{self, Transaction, params};
use crate::store::Store;
use crate::webhook::{DataEvent, JobEvent, enqueue_data, subscribed_webhook};

/// A page with its documents compressed, ready to be written.
struct PreparedPage {
    id: String,
    target: String,
    url: String,
    hash: [u8; 32],
    status: CheckPageStatus,
    document: CompressedDocument,
    event: Option<CompressedDocument>,
    event_success: bool,
    baseline: PreparedBaseline,
    baseline_url: Option<String>,
    baseline_hash: [u8; 32],
    charge: Option<(CreditHold, Usage)>,
    /// Credits that the transaction charges, once it is written.
    charged: Option<u64>,
}

enum PreparedBaseline {
    Keep,
    Replace(CompressedDocument),
    Removed,
}

impl PreparedPage {
    /// Compresses a page. This takes CPU time, so it is a step before the database is locked.
    fn new(page: NewCheckPage) -> Self {
        let NewCheckPage {
            id,
            target,
            url,
            status,
            document,
            event,
            event_success,
            baseline,
            baseline_url,
            charge,
        } = page;
        Self {
            hash: page_hash(&target, &url),
            baseline_hash: page_hash(&target, baseline_url.as_ref().unwrap_or(&url)),
            baseline_url,
            id,
            target,
            url,
            status,
            document: CompressedDocument::new(&document),
            event: event.map(|event| CompressedDocument::new(&event)),
            event_success,
            baseline: match baseline {
                BaselineChange::Keep => PreparedBaseline::Keep,
                BaselineChange::Replace(document) => {
                    PreparedBaseline::Replace(CompressedDocument::new(&document))
                }
                BaselineChange::Removed => PreparedBaseline::Removed,
            },
            charge,
            charged: None,
        }
    }
}

/// A check whose pages are written.
struct OpenCheck {
    number: i64,
    monitor: i64,
    /// The webhook for page events.
    webhook: Option<i64>,
    summary: CheckSummary,
    bytes: u64,
    credits: u64,
}

impl Store {
    /// Records pages of a check in one transaction, at `now_ms` (milliseconds since the Unix epoch). It stores each page
    /// and its event, changes its baseline, and charges for it. Pages that the check already has are skipped.
    ///
    /// # Errors
    /// Failures of the database; then nothing is stored or charged.
    pub fn record_check_pages(
        &self,
        check: i64,
        pages: Vec<NewCheckPage>,
        limits: &MonitorLimits,
        now_ms: u64,
    ) -> Result<RecordPagesOutcome, StoreError> {
        let replica = self.membership().id();
        let mut pages: Vec<PreparedPage> = pages.into_iter().map(PreparedPage::new).collect();
        let outcome =
            self.database().write_locked(Locked::Check(check), Durability::Process, |transaction| {
                let Some(mut open) = open_check(transaction, check, replica)? else {
                    return Ok(RecordPagesOutcome::NotRunning);
                };
                let new = new_pages(transaction, check, &pages)?;
                if !has_space(transaction, &open, &pages, &new, limits)? {
                    return Ok(RecordPagesOutcome::StorageFull);
                }
                let mut charges = Charges::default();
                for (page, _) in pages.iter_mut().zip(&new).filter(|(_, is_new)| **is_new) {
                    write(transaction, &mut open, page, &mut charges, now_ms)?;
                }
                charges.write(transaction, self)?;
                update_check(transaction, &open, now_ms)?;
                Ok(RecordPagesOutcome::Recorded(new))
            })?;
        for PreparedPage { charge, charged, .. } in pages {
            if let (Some((hold, _)), Some(charged)) = (charge, charged)
                && charged > 0
            {
                hold.finish_settlement(charged);
            }
        }
        Ok(outcome)
    }
}

/// Returns a check on which this replica may work.
fn open_check(
    transaction: &Transaction<'_>,
    check: i64,
    replica: Option<i64>,
) -> sql::Result<Option<OpenCheck>> {
    if !is_workable(transaction, check, replica)? {
        return Ok(None);
    }
    let webhook = subscribed_webhook(transaction, check, JobEvent::MonitorPage)?;
    let sql =
        "SELECT monitor, pages, same, changed, added, removed, failed FROM monitor_checks WHERE number = ?1";
    transaction
        .query_row(sql, params![check], |row| {
            Ok(OpenCheck {
                number: check,
                monitor: row.get(0)?,
                webhook,
                summary: CheckSummary {
                    total: row.get(1)?,
                    same: row.get(2)?,
                    changed: row.get(3)?,
                    new: row.get(4)?,
                    removed: row.get(5)?,
                    error: row.get(6)?,
                },
                bytes: 0,
                credits: 0,
            })
        })
        .map(Some)
}

/// Returns for each page whether the check does not have it yet.
fn new_pages(transaction: &Transaction<'_>, check: i64, pages: &[PreparedPage]) -> sql::Result<Vec<bool>> {
    let sql = "SELECT 1 FROM monitor_pages WHERE monitor_check = ?1 AND hash = ?2";
    let mut earlier = std::collections::HashSet::new();
    pages
        .iter()
        .map(|page| Ok(earlier.insert(page.hash) && !transaction.exists(sql, params![check, page.hash])?))
        .collect()
}

/// Returns whether the baselines of new pages fit into the storage. What does not need more space always fits.
fn has_space(
    transaction: &Transaction<'_>,
    check: &OpenCheck,
    pages: &[PreparedPage],
    new: &[bool],
    limits: &MonitorLimits,
) -> sql::Result<bool> {
    let (mut added, mut replaced) = (0_u64, 0_u64);
    let sql =
        "SELECT length(document) FROM monitor_baselines WHERE monitor = ?1 AND target = ?2 AND hash = ?3";
    for (page, _) in pages.iter().zip(new).filter(|(_, is_new)| **is_new) {
        match &page.baseline {
            PreparedBaseline::Keep | PreparedBaseline::Removed => {}
            PreparedBaseline::Replace(document) => {
                added += document.content.len() as u64;
                let values = params![check.monitor, page.target, page.baseline_hash];
                replaced += transaction.query_optional(sql, values, |row| row.get(0))?.unwrap_or(0_u64);
            }
        }
    }
    let sql = "SELECT CAST(sum(baseline_bytes) AS BIGINT) FROM monitor_storage";
    let stored: u64 = transaction.query_row(sql, params![], |row| row.get(0))?;
    Ok(added <= replaced || stored.saturating_add(added - replaced) <= limits.max_baseline_bytes)
}

/// Writes a page, its baseline, its event and its charge.
fn write(
    transaction: &Transaction<'_>,
    check: &mut OpenCheck,
    page: &mut PreparedPage,
    charges: &mut Charges,
    now_ms: u64,
) -> sql::Result<()> {
    check.summary.add(page.status);
    check.bytes += page.document.content.len() as u64;
    let sql = "INSERT INTO monitor_pages \
               (monitor_check, position, hash, id, target, url, status, bytes, document, created_at) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    let PreparedPage { id, target, url, hash, status, document, .. } = &*page;
    let position = check.summary.total;
    let (bytes, content) = (document.bytes, &document.content);
    let values =
        params![check.number, position, hash, id, target, url, status.as_str(), bytes, content, now_ms];
    transaction.execute(sql, values)?;
    write_baseline(transaction, check.monitor, page, now_ms)?;
    if let (Some(webhook), Some(data)) = (check.webhook, &page.event) {
        let event = DataEvent { event: JobEvent::MonitorPage, data, is_success: page.event_success };
        enqueue_data(transaction, webhook, &event, now_ms)?;
    }
    if let Some((hold, usage)) = &mut page.charge {
        let charged = hold.settle_in_transaction(charges, usage.clone());
        check.credits += charged;
        page.charged = Some(charged);
    }
    Ok(())
}

fn write_baseline(
    transaction: &Transaction<'_>,
    monitor: i64,
    page: &PreparedPage,
    now_ms: u64,
) -> sql::Result<()> {
    let PreparedPage { target, baseline_hash: hash, baseline, .. } = page;
    let url = page.baseline_url.as_ref().unwrap_or(&page.url);
    match baseline {
        PreparedBaseline::Keep => Ok(()),
        PreparedBaseline::Replace(document) => {
            let sql = "INSERT INTO monitor_baselines \
                       (monitor, target, hash, url, is_removed, updated_at, bytes, document) \
                       VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6, ?7) ON CONFLICT (monitor, target, hash) DO UPDATE SET \
                       is_removed = 0, updated_at = excluded.updated_at, bytes = excluded.bytes, \
                       document = excluded.document";
            let values = params![monitor, target, hash, url, now_ms, document.bytes, document.content];
            transaction.execute(sql, values).map(drop)
        }
        PreparedBaseline::Removed => {
            let sql = "UPDATE monitor_baselines SET is_removed = 1, updated_at = ?4 \
                       WHERE monitor = ?1 AND target = ?2 AND hash = ?3";
            transaction.execute(sql, params![monitor, target, hash, now_ms]).map(drop)
        }
    }
}

fn update_check(transaction: &Transaction<'_>, check: &OpenCheck, now_ms: u64) -> sql::Result<()> {
    let OpenCheck { number, monitor: _, webhook: _, summary, bytes, credits } = check;
    let CheckSummary { total, same, changed, new, removed, error } = summary;
    let sql = "UPDATE monitor_checks SET pages = ?2, same = ?3, changed = ?4, added = ?5, removed = ?6, failed = ?7, \
               bytes = bytes + ?8, actual_credits = actual_credits + ?9, updated_at = ?10 WHERE number = ?1";
    let values = params![number, total, same, changed, new, removed, error, bytes, credits, now_ms];
    transaction.execute(sql, values).map(drop)
}
