//! Processes that borrowed credits on a server and are lost: their leases are returned, and their charges are late.

use std::time::Duration;

use super::{Ledger, grant};
use crate::database::{Database, Durability};
use crate::error::StoreError;
use crate::sql::postgres::MAX_OUTAGE;
use crate::sql::{self, Connection, Transaction, params};

/// How long a process must be silent until its leases are returned: longer than it may spend leased credits without
/// reaching the server.
pub(crate) const SPENDER_LOST_AFTER: Duration = MAX_OUTAGE.saturating_add(Duration::from_secs(15));

/// How long the records of lost processes are stored. Charges of a data directory that is used again later are ignored.
const RETENTION: Duration = Duration::from_secs(30 * 86_400);

impl Ledger {
    /// Returns the name under which this process has borrowed credits; `None` if it has not.
    pub(crate) fn used_journal(&self) -> Option<String> {
        self.unwritten.lock().journal.as_ref().map(|journal| journal.name().to_owned())
    }

    /// Gives up the leases of this process if it counts as lost, because the others have returned them, and lets it
    /// borrow again.
    pub(crate) fn revive(&self, database: &Database, session: &Connection) -> Result<(), StoreError> {
        let Some(journal) = self.used_journal() else { return Ok(()) };
        let error = |error| database.error(error);
        let sql = "SELECT 1 FROM spenders WHERE journal = ?1 AND lost_at IS NOT NULL";
        if !session.exists(sql, params![journal]).map_err(error)? {
            return Ok(());
        }
        // First the late charges, while the balance has the returned credits.
        self.flush(database)?;
        for account in self.all_accounts() {
            self.retire(account.take_lease());
        }
        let sql = "UPDATE spenders SET beat = beat + 1, lost_at = NULL WHERE journal = ?1";
        session.execute(sql, params![journal]).map(drop).map_err(error)
    }

    /// Returns the leases of another process whose beat has not changed.
    pub(crate) fn settle_lost(
        &self,
        database: &Database,
        journal: &str,
        beat: i64,
    ) -> Result<(), StoreError> {
        database.write(Durability::Power, |transaction| settle(transaction, journal, beat))
    }
}

fn settle(transaction: &Transaction<'_>, journal: &str, beat: i64) -> sql::Result<()> {
    let sql = "UPDATE spenders SET lost_at = ?3 WHERE journal = ?1 AND beat = ?2 AND lost_at IS NULL";
    if transaction.execute(sql, params![journal, beat, transaction.now_ms()])? == 0 {
        return Ok(());
    }
    grant::return_lost_leases(transaction, journal)
}

/// Deletes the records of processes that have been lost for long.
pub(super) fn trim(transaction: &Transaction<'_>, now_ms: u64) -> sql::Result<()> {
    let oldest_ms = now_ms.saturating_sub(RETENTION.as_millis() as u64);
    let leases = "DELETE FROM leases WHERE is_lost = 1 AND journal IN \
                  (SELECT journal FROM spenders WHERE lost_at < ?1)";
    transaction.execute(leases, params![oldest_ms])?;
    let spenders = "DELETE FROM spenders WHERE lost_at < ?1 \
                    AND NOT EXISTS (SELECT 1 FROM leases WHERE leases.journal = spenders.journal)";
    transaction.execute(spenders, params![oldest_ms]).map(drop)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::super::{HoldOutcome, Usage, UsageRetention};
    use crate::api_version::ApiVersion;
    use crate::database::Durability;
    use crate::sql::params;
    use crate::store::Store;
    use crate::team::TeamChange;

    fn usage(price: u64) -> Usage {
        Usage {
            key: None,
            request: String::new(),
            result: None,
            operation: "search",
            api_version: ApiVersion::V2,
            status: 200,
            elapsed: std::time::Duration::ZERO,
            items: vec![super::super::UsageItem { item: "page".to_owned(), count: 1, credits: price }],
            stages: Vec::new(),
            query: None,
            retention: UsageRetention::Whole,
        }
    }

    fn charge(store: &Store, credits: u64) {
        let team = store.team("tea").unwrap().unwrap();
        let HoldOutcome::Granted(hold) = store.hold(&team, credits).unwrap() else { panic!("insufficient") };
        assert_eq!(hold.settle(usage(credits)), credits);
    }

    /// Returns two handles of a database, which behave like two processes. The first one has spent 10 of 100 credits.
    fn spent_ten_of_hundred() -> (TempDir, Store, Store) {
        let dir = tempfile::tempdir().unwrap();
        let (store, other) = (Store::open(dir.path()).unwrap(), Store::open(dir.path()).unwrap());
        let change = TeamChange { credits: Some(Some(100)), ..TeamChange::default() };
        store.set_team("tea", &change).unwrap();
        charge(&store, 10);
        (dir, store, other)
    }

    fn spent_and_remaining(store: &Store) -> (u64, u64) {
        let budget = store.budget("tea").unwrap().unwrap();
        (budget.spent, budget.remaining)
    }

    /// Ends the leases of the only spender, as another process does that misses its beats.
    fn settle_lost(store: &Store) {
        let database = store.database();
        let spender = "SELECT journal, beat FROM spenders";
        let (journal, beat): (String, i64) = database
            .read(|connection| connection.query_row(spender, params![], |row| Ok((row.get(0)?, row.get(1)?))))
            .unwrap();
        store.ledger().settle_lost(database, &journal, beat).unwrap();
    }

    /// Does what the heartbeat does for a spender.
    fn beat(store: &Store) {
        let session = store.database().open_writer_for_tests();
        session.execute("UPDATE spenders SET beat = beat + 1 WHERE lost_at IS NULL", params![]).unwrap();
        store.ledger().revive(store.database(), &session).unwrap();
    }

    fn count(store: &Store, sql: &str) -> u64 {
        store.database().read(|connection| connection.query_row(sql, params![], |row| row.get(0))).unwrap()
    }

    const WRONG_GRANTS: &str = "SELECT count(*) FROM grants WHERE granted <> balance + voided + spent + \
                                (SELECT coalesce(sum(rest), 0) FROM leases WHERE grant_id = grants.id)";

    #[test]
    fn late_charges_are_taken_from_the_balance() {
        let (_dir, store, other) = spent_ten_of_hundred();
        settle_lost(&other);
        store.flush_credits().unwrap();
        assert_eq!(spent_and_remaining(&other), (10, 90));
        // The process still lives and spends more of what was returned.
        charge(&store, 20);
        store.flush_credits().unwrap();
        assert_eq!(spent_and_remaining(&other), (30, 70));
        // Others have spent the balance in the meantime: the rest of a late charge is forgiven.
        let team = other.team("tea").unwrap().unwrap();
        let HoldOutcome::Granted(all) = other.hold(&team, 65).unwrap() else { panic!("insufficient") };
        charge(&store, 20);
        store.flush_credits().unwrap();
        assert_eq!(all.settle(usage(65)), 65);
        other.flush_credits().unwrap();
        let (spent, remaining) = spent_and_remaining(&other);
        assert_eq!(spent + remaining, 100);
        assert!(spent >= 95, "{spent}");
        assert_eq!(count(&other, WRONG_GRANTS), 0);
    }

    #[test]
    fn process_that_counted_as_lost_borrows_again_after_its_next_beat() {
        let (_dir, store, other) = spent_ten_of_hundred();
        settle_lost(&other);
        beat(&store);
        assert_eq!(count(&store, "SELECT count(*) FROM spenders WHERE lost_at IS NULL AND beat > 0"), 1);
        charge(&store, 20);
        store.flush_credits().unwrap();
        assert_eq!(spent_and_remaining(&store), (30, 70));
        assert_eq!(count(&store, "SELECT sum(rest) FROM leases WHERE is_lost = 0"), 70);
        assert_eq!(count(&store, WRONG_GRANTS), 0);
    }

    #[test]
    fn beat_in_the_meantime_shows_that_a_process_lives() {
        let (_dir, store, _other) = spent_ten_of_hundred();
        let journal: String = store
            .database()
            .read(|connection| {
                connection.query_row("SELECT journal FROM spenders", params![], |row| row.get(0))
            })
            .unwrap();
        beat(&store);
        store.ledger().settle_lost(store.database(), &journal, 0).unwrap();
        assert_eq!(count(&store, "SELECT count(*) FROM spenders WHERE lost_at IS NULL"), 1);
        assert_eq!(count(&store, "SELECT count(*) FROM leases WHERE is_lost = 0"), 1);
    }

    #[test]
    fn records_of_lost_processes_are_deleted_after_a_month() {
        let (_dir, _store, other) = spent_ten_of_hundred();
        settle_lost(&other);
        let trim = |now_ms| {
            other
                .database()
                .write(Durability::Process, |transaction| super::trim(transaction, now_ms))
                .unwrap();
        };
        let now_ms = other.now_ms();
        trim(now_ms);
        assert_eq!(count(&other, "SELECT count(*) FROM spenders"), 1);
        trim(now_ms + super::RETENTION.as_millis() as u64 + 60_000);
        assert_eq!(count(&other, "SELECT count(*) FROM spenders"), 0);
        assert_eq!(count(&other, "SELECT count(*) FROM leases"), 0);
    }
}
