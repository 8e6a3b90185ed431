//! Grants in the database: the budgets of teams, and the leases of processes on them.

use super::journal::Charge;
use crate::sql::{self, Connection, Row, Transaction, params};

/// Minimum and maximum of a loan. Between these it is a sixteenth of the balance, so that few requests have to wait for
/// the database, and enough credits are left for other processes.
pub(super) const MIN_LOAN: u64 = 1_000;
const MAX_LOAN: u64 = 100_000;
/// Minimum of a loan if other replicas may need credits of the same team: the last credits of a budget are spread over
/// them, and a request is rejected although another replica has some.
pub(super) const MIN_SHARED_LOAN: u64 = 100;

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
pub(crate) fn grant(transaction: &Transaction<'_>, team: &str, credits: Option<u64>) -> sql::Result<()> {
    let sql = "UPDATE grants SET voided = voided + balance, balance = 0, current = 0 \
               WHERE team = ?1 AND current = 1";
    transaction.execute(sql, params![team])?;
    let Some(credits) = credits else { return Ok(()) };
    // SQLite's integers are signed.
    let credits = credits.min(i64::MAX as u64);
    transaction.execute(
        "INSERT INTO grants (team, granted, balance, granted_at, current) VALUES (?1, ?2, ?2, ?3, 1)",
        params![team, credits, transaction.now_ms()],
    )?;
    Ok(())
}

/// Returns the number of the newest grant of any team. While it does not change, all current grants stay current.
pub(super) fn newest(connection: &Connection) -> sql::Result<i64> {
    connection.query_row("SELECT coalesce(max(id), 0) FROM grants", params![], |row| row.get(0))
}

/// Returns the current grant of a team.
pub(super) fn current(connection: &Connection, team: &str) -> sql::Result<Option<i64>> {
    connection.query_optional("SELECT id FROM grants WHERE team = ?1 AND current = 1", params![team], |row| {
        row.get(0)
    })
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
    pub(super) min_loan: u64,
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
) -> sql::Result<BorrowResponse> {
    // Before the grant: a flush, which this waits for, locks the spender first too.
    transaction.execute(
        "INSERT INTO spenders (journal) VALUES (?1) ON CONFLICT DO NOTHING",
        params![request.journal],
    )?;
    let newest = newest(transaction)?;
    // Returned leases and late charges change the balance without the lock of the team.
    let sql =
        format!("SELECT id, balance FROM grants WHERE team = ?1 AND current = 1{}", transaction.for_update());
    let current = transaction
        .query_optional(&sql, params![request.team], |row| Ok((row.get::<i64>(0)?, row.get::<u64>(1)?)))?;
    let Some((grant, balance)) = current else { return Ok(BorrowResponse::Unlimited) };
    let lease = request.lease.filter(|lease| lease.grant == grant);
    let missing = request.credits.saturating_sub(lease.map_or(0, |lease| lease.free));
    let is_insufficient = balance < missing && request.amount == BorrowAmount::All;
    // If nothing is missing, even a loan of 0 credits is useful: it confirms that the lease is of the current grant.
    if is_insufficient || (balance == 0 && missing > 0) {
        return Ok(BorrowResponse::Insufficient { grant, balance, newest });
    }
    let credits = missing.max((balance / 16).clamp(request.min_loan, MAX_LOAN)).min(balance);
    transaction.execute("UPDATE grants SET balance = balance - ?2 WHERE id = ?1", params![grant, credits])?;
    let lease = match lease {
        Some(CurrentLease { id, .. }) if add_to_lease(transaction, id, credits)? => id,
        // A new row: a lease that is being returned must not return the new credits too.
        Some(_) | None => transaction.query_row(
            "INSERT INTO leases (journal, grant_id, rest) VALUES (?1, ?2, ?3) RETURNING id",
            params![request.journal, grant, credits],
            |row| row.get(0),
        )?,
    };
    Ok(BorrowResponse::Borrowed { lease, grant, credits, newest })
}

fn add_to_lease(transaction: &Transaction<'_>, lease: i64, credits: u64) -> sql::Result<bool> {
    let sql = "UPDATE leases SET rest = rest + ?2 WHERE id = ?1 AND is_lost = 0";
    Ok(transaction.execute(sql, params![lease, credits])? == 1)
}

/// Records credits that were spent from a lease, with the commit of a transaction. Late charges, of a lease that was taken
/// from a lost process, are taken from the balance of the grant, as far as it goes. The lease is missing only if an older
/// copy of the database was restored; then there is nothing to charge.
pub(super) fn spend(transaction: &Transaction<'_>, lease: i64, credits: u64) -> sql::Result<()> {
    let grant = "UPDATE grants SET spent = spent + ?2 \
                 WHERE id = (SELECT grant_id FROM leases WHERE leases.id = ?1 AND is_lost = 0)";
    transaction.execute_at_commit(grant, params![lease, credits])?;
    let rest = "UPDATE leases SET rest = rest - ?2 WHERE id = ?1 AND is_lost = 0";
    transaction.execute_at_commit(rest, params![lease, credits])?;
    let late = "UPDATE grants SET spent = spent + CASE WHEN balance < ?2 THEN balance ELSE ?2 END, \
                balance = balance - CASE WHEN balance < ?2 THEN balance ELSE ?2 END \
                WHERE id = (SELECT grant_id FROM leases WHERE leases.id = ?1 AND is_lost = 1)";
    transaction.execute_at_commit(late, params![lease, credits])
}

/// Returns the rests of the leases of a lost process to their grants. The rows stay, for late charges.
pub(super) fn return_lost_leases(transaction: &Transaction<'_>, journal: &str) -> sql::Result<()> {
    let leases: Vec<i64> = transaction.query(
        "SELECT id FROM leases WHERE journal = ?1 AND is_lost = 0 ORDER BY grant_id, id",
        params![journal],
        |row| row.get(0),
    )?;
    for lease in leases {
        return_rest(transaction, lease)?;
        let sql = "UPDATE leases SET rest = 0, is_lost = 1 WHERE id = ?1";
        transaction.execute_at_commit(sql, params![lease])?;
    }
    Ok(())
}

/// Returns the rest of a lease to its grant. The rest of a former grant is void.
pub(super) fn return_lease(transaction: &Transaction<'_>, lease: i64) -> sql::Result<()> {
    return_rest(transaction, lease)?;
    transaction.execute_at_commit("DELETE FROM leases WHERE id = ?1", params![lease])
}

fn return_rest(transaction: &Transaction<'_>, lease: i64) -> sql::Result<()> {
    transaction.execute_at_commit(
        "UPDATE grants SET balance = balance + CASE current WHEN 1 THEN leases.rest ELSE 0 END, \
             voided = voided + CASE current WHEN 1 THEN 0 ELSE leases.rest END \
             FROM leases WHERE leases.id = ?1 AND grants.id = leases.grant_id",
        params![lease],
    )
}

/// Charges of a dead process since its last write to the database: team, number of requests, credits.
pub(super) type OrphanSpending = Vec<(String, u64, u64)>;

/// Ends the leases of a dead process: spends the charges of its journal, and returns the rest.
pub(super) fn settle_orphan(
    transaction: &Transaction<'_>,
    journal: &str,
    charges: &[Charge],
) -> sql::Result<OrphanSpending> {
    let applied = transaction.query_optional(
        "SELECT applied FROM spenders WHERE journal = ?1",
        params![journal],
        |row| row.get::<u64>(0),
    )?;
    // Without a row, another process did this and died before it removed the file.
    let Some(applied) = applied else { return Ok(Vec::new()) };
    let mut recovered = Vec::new();
    let leases = transaction.query(
        "SELECT leases.id, grants.team FROM leases JOIN grants ON grants.id = grant_id WHERE journal = ?1 \
         ORDER BY grant_id, leases.id",
        params![journal],
        |row| Ok((row.get::<i64>(0)?, row.get::<String>(1)?)),
    )?;
    for (lease, team) in leases {
        let unapplied = charges.iter().filter(|charge| charge.lease == lease && charge.number > applied);
        let (count, credits) = unapplied.fold((0, 0_u64), |(n, sum), charge| (n + 1, sum + charge.credits));
        if count > 0 {
            spend(transaction, lease, credits)?;
            recovered.push((team, count, credits));
        }
        return_lease(transaction, lease)?;
    }
    transaction.execute_at_commit("DELETE FROM spenders WHERE journal = ?1", params![journal])?;
    Ok(recovered)
}

/// Returns the budget of a team; `None` if it is unlimited.
pub(super) fn budget(connection: &Connection, team: &str) -> sql::Result<Option<Budget>> {
    let sql = "SELECT granted, granted_at, spent, \
               balance + (SELECT coalesce(sum(rest), 0) FROM leases WHERE grant_id = grants.id) \
               FROM grants WHERE team = ?1 AND current = 1";
    let read = |row: &Row<'_>| {
        Ok(Budget {
            granted: row.get(0)?,
            granted_at_ms: row.get(1)?,
            spent: row.get(2)?,
            remaining: row.get(3)?,
        })
    };
    connection.query_optional(sql, params![team], read)
}
