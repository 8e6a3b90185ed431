//! Grants in the database: the budgets of teams, and the leases of processes on them.

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::journal::Charge;
use crate::clock::now_ms;

/// Minimum and maximum of a loan. Between these it is a sixteenth of the balance, so that few requests have to wait for
/// the database, and enough credits are left for other processes.
const MIN_LOAN: u64 = 1_000;
const MAX_LOAN: u64 = 100_000;

/// The budget of a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Credits of the team's last grant.
    pub granted: u64,
    /// Time of the grant, in milliseconds since the Unix epoch.
    pub granted_at_ms: u64,
    /// Credits charged to it.
    pub spent: u64,
    /// Remaining credits, including those that requests in flight hold.
    pub remaining: u64,
}

/// Replaces the budget of a team; `None` makes it unlimited.
pub(crate) fn grant(transaction: &Transaction<'_>, team: &str, credits: Option<u64>) -> rusqlite::Result<()> {
    transaction.execute(
        "UPDATE grants SET voided = voided + balance, balance = 0, current = 0 WHERE team = ?1 AND current = 1",
        [team],
    )?;
    let Some(credits) = credits else { return Ok(()) };
    // SQLite's integers are signed.
    let credits = credits.min(i64::MAX as u64);
    transaction.execute(
        "INSERT INTO grants (team, granted, balance, granted_at, current) VALUES (?1, ?2, ?2, ?3, 1)",
        params![team, credits, now_ms()],
    )?;
    Ok(())
}

/// Returns the number of the newest grant of any team. While it does not change, all current grants stay current.
pub(super) fn newest(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("SELECT ifnull(max(id), 0) FROM grants")?.query_row([], |row| row.get(0))
}

/// Returns the current grant of a team.
pub(super) fn current(connection: &Connection, team: &str) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT id FROM grants WHERE team = ?1 AND current = 1")?
        .query_row([team], |row| row.get(0))
        .optional()
}

/// The amount that a borrow request accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BorrowAmount {
    /// All missing credits or none.
    All,
    /// As many of the missing credits as there are.
    Partial,
}

/// Request of a process to borrow credits.
#[derive(Debug, Clone, Copy)]
pub(super) struct BorrowRequest<'a> {
    pub(super) team: &'a str,
    pub(super) journal: &'a str,
    /// Number of free credits that the process needs.
    pub(super) credits: u64,
    /// The lease that the process has.
    pub(super) lease: Option<CurrentLease>,
    pub(super) amount: BorrowAmount,
}

/// The lease of a process that borrows more.
#[derive(Debug, Clone, Copy)]
pub(super) struct CurrentLease {
    pub(super) id: i64,
    pub(super) grant: i64,
    /// Credits of the lease that no hold uses.
    pub(super) free: u64,
}

/// Response of the database to a borrow request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BorrowResponse {
    /// The lease has this many more credits.
    Borrowed { lease: i64, grant: i64, credits: u64, newest: i64 },
    /// The grant has only this balance, besides the lease of the process.
    Insufficient { grant: i64, balance: u64, newest: i64 },
    /// The team has no budget.
    Unlimited,
}

/// Lends credits to a process.
pub(super) fn borrow(
    transaction: &Transaction<'_>,
    request: BorrowRequest<'_>,
) -> rusqlite::Result<BorrowResponse> {
    let newest = newest(transaction)?;
    let current = transaction
        .prepare_cached("SELECT id, balance FROM grants WHERE team = ?1 AND current = 1")?
        .query_row([request.team], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, u64>(1)?)))
        .optional()?;
    let Some((grant, balance)) = current else { return Ok(BorrowResponse::Unlimited) };
    let lease = request.lease.filter(|lease| lease.grant == grant);
    let missing = request.credits.saturating_sub(lease.map_or(0, |lease| lease.free));
    let is_insufficient = balance < missing && request.amount == BorrowAmount::All;
    // If nothing is missing, even a loan of 0 credits is useful: it confirms that the lease is of the current grant.
    if is_insufficient || (balance == 0 && missing > 0) {
        return Ok(BorrowResponse::Insufficient { grant, balance, newest });
    }
    let credits = missing.max((balance / 16).clamp(MIN_LOAN, MAX_LOAN)).min(balance);
    transaction
        .prepare_cached("UPDATE grants SET balance = balance - ?2 WHERE id = ?1")?
        .execute(params![grant, credits])?;
    transaction
        .prepare_cached("INSERT INTO spenders (journal) VALUES (?1) ON CONFLICT DO NOTHING")?
        .execute([request.journal])?;
    let lease = match lease {
        Some(CurrentLease { id, .. }) if add_to_lease(transaction, id, credits)? => id,
        // A new row: a lease that is being returned must not return the new credits too.
        Some(_) | None => transaction
            .prepare_cached("INSERT INTO leases (journal, grant_id, rest) VALUES (?1, ?2, ?3) RETURNING id")?
            .query_row(params![request.journal, grant, credits], |row| row.get(0))?,
    };
    Ok(BorrowResponse::Borrowed { lease, grant, credits, newest })
}

fn add_to_lease(transaction: &Transaction<'_>, lease: i64, credits: u64) -> rusqlite::Result<bool> {
    let mut statement = transaction.prepare_cached("UPDATE leases SET rest = rest + ?2 WHERE id = ?1")?;
    Ok(statement.execute(params![lease, credits])? == 1)
}

/// Records credits that were spent from a lease.
pub(super) fn spend(transaction: &Transaction<'_>, lease: i64, credits: u64) -> rusqlite::Result<()> {
    let grant = transaction
        .prepare_cached("UPDATE leases SET rest = rest - ?2 WHERE id = ?1 RETURNING grant_id")?
        .query_row(params![lease, credits], |row| row.get::<_, i64>(0))
        .optional()?;
    // The lease is missing only if an older copy of the database was restored. Then there is nothing to charge.
    let Some(grant) = grant else { return Ok(()) };
    transaction
        .prepare_cached("UPDATE grants SET spent = spent + ?2 WHERE id = ?1")?
        .execute(params![grant, credits])?;
    Ok(())
}

/// Returns the rest of a lease to its grant. The rest of a former grant is void.
pub(super) fn return_lease(transaction: &Transaction<'_>, lease: i64) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "UPDATE grants SET balance = balance + CASE current WHEN 1 THEN leases.rest ELSE 0 END, \
             voided = voided + CASE current WHEN 1 THEN 0 ELSE leases.rest END \
             FROM leases WHERE leases.id = ?1 AND grants.id = leases.grant_id",
        )?
        .execute([lease])?;
    transaction.prepare_cached("DELETE FROM leases WHERE id = ?1")?.execute([lease])?;
    Ok(())
}

/// Charges of a dead process since its last write to the database: team, number of requests, credits.
pub(super) type OrphanSpending = Vec<(String, u64, u64)>;

/// Ends the leases of a dead process: spends the charges of its journal, and returns the rest.
pub(super) fn settle_orphan(
    transaction: &Transaction<'_>,
    journal: &str,
    charges: &[Charge],
) -> rusqlite::Result<OrphanSpending> {
    let applied = transaction
        .query_row("SELECT applied FROM spenders WHERE journal = ?1", [journal], |row| row.get::<_, u64>(0))
        .optional()?;
    // Without a row, another process did this and died before it removed the file.
    let Some(applied) = applied else { return Ok(Vec::new()) };
    let mut recovered = Vec::new();
    let leases = transaction
        .prepare("SELECT leases.id, grants.team FROM leases JOIN grants ON grants.id = grant_id WHERE journal = ?1")?
        .query_map([journal], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?
        .collect::<Result<Vec<_>, _>>()?;
    for (lease, team) in leases {
        let unapplied = charges.iter().filter(|charge| charge.lease == lease && charge.number > applied);
        let (count, credits) = unapplied.fold((0, 0_u64), |(n, sum), charge| (n + 1, sum + charge.credits));
        if count > 0 {
            spend(transaction, lease, credits)?;
            recovered.push((team, count, credits));
        }
        return_lease(transaction, lease)?;
    }
    transaction.execute("DELETE FROM spenders WHERE journal = ?1", [journal])?;
    Ok(recovered)
}

/// Returns the budget of a team; `None` if it is unlimited.
pub(super) fn budget(connection: &Connection, team: &str) -> rusqlite::Result<Option<Budget>> {
    let sql = "SELECT granted, granted_at, spent, \
               balance + (SELECT ifnull(sum(rest), 0) FROM leases WHERE grant_id = grants.id) \
               FROM grants WHERE team = ?1 AND current = 1";
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Budget {
            granted: row.get(0)?,
            granted_at_ms: row.get(1)?,
            spent: row.get(2)?,
            remaining: row.get(3)?,
        })
    };
    connection.prepare_cached(sql)?.query_row([team], read).optional()
}
