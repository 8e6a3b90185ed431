//! Grants in the database: given to teams, lent to processes, and what is left of them.

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::journal::Charge;
use crate::clock::now_ms;

/// Minimum and maximum of one lease: a sixteenth of the balance between these, so that few requests have to wait
/// for the database, and other processes find credits left.
const LEND_MIN: u64 = 1_000;
const LEND_MAX: u64 = 100_000;

/// The budget of a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Credits of the team's last grant.
    pub granted: u64,
    /// When that was, in milliseconds since the Unix epoch.
    pub granted_at_ms: u64,
    /// Credits spent of it.
    pub spent: u64,
    /// Remaining credits; holds of requests in flight count as unspent.
    pub remaining: u64,
}

/// Gives a team a new budget in the place of the one before; `None` makes it unlimited.
pub(crate) fn grant(transaction: &Transaction<'_>, team: &str, credits: Option<u64>) -> rusqlite::Result<()> {
    transaction.execute(
        "UPDATE grants SET voided = voided + balance, balance = 0, current = 0 WHERE team = ?1 AND current = 1",
        [team],
    )?;
    let Some(credits) = credits else { return Ok(()) };
    // SQLite's integers are signed, as in the table of teams.
    let credits = credits.min(i64::MAX as u64);
    transaction.execute(
        "INSERT INTO grants (team, granted, balance, granted_at, current) VALUES (?1, ?2, ?2, ?3, 1)",
        params![team, credits, now_ms()],
    )?;
    Ok(())
}

/// Returns the number of the newest grant of any team: with a new one, every lease may be of an old one.
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

/// Minimum that a borrow request accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BorrowAmount {
    All,
    Partial,
}

/// Request of a process to borrow credits.
#[derive(Debug, Clone, Copy)]
pub(super) struct BorrowRequest<'a> {
    pub(super) team: &'a str,
    pub(super) journal: &'a str,
    /// Total credits that the process has to hold.
    pub(super) credits: u64,
    /// The lease that it has.
    pub(super) has: Option<CurrentLease>,
    pub(super) portion: BorrowAmount,
}

/// The lease of a process that wants more.
#[derive(Debug, Clone, Copy)]
pub(super) struct CurrentLease {
    pub(super) lease: i64,
    pub(super) grant: i64,
    /// Credits of the lease that no hold uses.
    pub(super) free: u64,
}

/// Response of the database to a borrow request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BorrowResponse {
    /// The lease holds so many credits more.
    More { lease: i64, grant: i64, credits: u64, newest: i64 },
    /// There are only so many beside what the process has of this grant.
    Short { grant: i64, balance: u64, newest: i64 },
    /// The team has no budget.
    Unlimited,
}

/// Lends credits to a process.
pub(super) fn borrow(
    transaction: &Transaction<'_>,
    wish: BorrowRequest<'_>,
) -> rusqlite::Result<BorrowResponse> {
    let newest = newest(transaction)?;
    let current = transaction
        .prepare_cached("SELECT id, balance FROM grants WHERE team = ?1 AND current = 1")?
        .query_row([wish.team], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, u64>(1)?)))
        .optional()?;
    let Some((grant, balance)) = current else { return Ok(BorrowResponse::Unlimited) };
    let has = wish.has.filter(|has| has.grant == grant);
    let needed = wish.credits.saturating_sub(has.map_or(0, |has| has.free));
    let is_short = balance < needed && wish.portion == BorrowAmount::All;
    // Even nothing makes a lease: the free credits of the process are perhaps enough, and known to be current then.
    if is_short || (balance == 0 && needed > 0) {
        return Ok(BorrowResponse::Short { grant, balance, newest });
    }
    let credits = needed.max((balance / 16).clamp(LEND_MIN, LEND_MAX)).min(balance);
    transaction
        .prepare_cached("UPDATE grants SET balance = balance - ?2 WHERE id = ?1")?
        .execute(params![grant, credits])?;
    transaction
        .prepare_cached("INSERT INTO spenders (journal) VALUES (?1) ON CONFLICT DO NOTHING")?
        .execute([wish.journal])?;
    let lease = match has {
        Some(CurrentLease { lease, .. }) if add(transaction, lease, credits)? => lease,
        // Another row, not a sum: one that is on its way back must not take the new credits with it.
        Some(_) | None => transaction
            .prepare_cached("INSERT INTO leases (journal, grant_id, rest) VALUES (?1, ?2, ?3) RETURNING id")?
            .query_row(params![wish.journal, grant, credits], |row| row.get(0))?,
    };
    Ok(BorrowResponse::More { lease, grant, credits, newest })
}

fn add(transaction: &Transaction<'_>, lease: i64, credits: u64) -> rusqlite::Result<bool> {
    let mut statement = transaction.prepare_cached("UPDATE leases SET rest = rest + ?2 WHERE id = ?1")?;
    Ok(statement.execute(params![lease, credits])? == 1)
}

/// Notes what was spent of a lease.
pub(super) fn spend(transaction: &Transaction<'_>, lease: i64, credits: u64) -> rusqlite::Result<()> {
    let grant = transaction
        .prepare_cached("UPDATE leases SET rest = rest - ?2 WHERE id = ?1 RETURNING grant_id")?
        .query_row(params![lease, credits], |row| row.get::<_, i64>(0))
        .optional()?;
    // Only an older copy of the database knows nothing of a lease, and then there is nothing to take it from.
    let Some(grant) = grant else { return Ok(()) };
    transaction
        .prepare_cached("UPDATE grants SET spent = spent + ?2 WHERE id = ?1")?
        .execute(params![grant, credits])?;
    Ok(())
}

/// Gives the rest of a lease back to its grant; what is left of a former grant is void.
pub(super) fn give_back(transaction: &Transaction<'_>, lease: i64) -> rusqlite::Result<()> {
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

/// Spending of a dead process since its last write to the database, by team.
pub(super) type OrphanSpending = Vec<(String, u64, u64)>;

/// Ends the leases of a dead process: the charges of its journal are spent, the rest goes back.
pub(super) fn settle_orphan(
    transaction: &Transaction<'_>,
    journal: &str,
    charges: &[Charge],
) -> rusqlite::Result<OrphanSpending> {
    let applied = transaction
        .query_row("SELECT applied FROM spenders WHERE journal = ?1", [journal], |row| row.get::<_, u64>(0))
        .optional()?;
    // Without a row, somebody else did this and died before the file was gone.
    let Some(applied) = applied else { return Ok(Vec::new()) };
    let mut recovered = Vec::new();
    let leases = transaction
        .prepare("SELECT leases.id, grants.team FROM leases JOIN grants ON grants.id = grant_id WHERE journal = ?1")?
        .query_map([journal], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?
        .collect::<Result<Vec<_>, _>>()?;
    for (lease, team) in leases {
        let fresh = charges.iter().filter(|charge| charge.lease == lease && charge.number > applied);
        let (count, credits) = fresh.fold((0, 0_u64), |(n, sum), charge| (n + 1, sum + charge.credits));
        if count > 0 {
            spend(transaction, lease, credits)?;
            recovered.push((team, count, credits));
        }
        give_back(transaction, lease)?;
    }
    transaction.execute("DELETE FROM spenders WHERE journal = ?1", [journal])?;
    Ok(recovered)
}

/// Returns the budget of a team; `None` when it is unlimited.
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
