//! The heartbeat of a process on a server, its reads of what others changed, and the takeover from lost ones.

use std::time::{Duration, Instant};

use super::observer::Observer;
use super::{LOST_AFTER, delete, insert};
use crate::clock::boot_ms;
use crate::database::Durability;
use crate::error::StoreError;
use crate::ledger::SPENDER_LOST_AFTER;
use crate::sql::postgres::StatementClass;
use crate::sql::{self, Connection, params};
use crate::store::Shared;

/// A read that fails within this time is repeated on a new session.
const RETRY_WITHIN: Duration = Duration::from_millis(300);

/// The heartbeat of this process. It has a session of its own, so that it never waits for other statements.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    session: Option<Connection>,
    replicas: Observer<i64>,
    spenders: Observer<String>,
}

impl Heartbeat {
    pub(crate) fn new() -> Self {
        Self {
            session: None,
            replicas: Observer::new(LOST_AFTER),
            spenders: Observer::new(SPENDER_LOST_AFTER),
        }
    }

    /// Reads what other processes changed, and if it is time, increments the beats of this process and takes over from
    /// processes that are lost.
    pub(crate) fn run(&mut self, shared: &Shared, is_beat_due: bool) -> Result<(), StoreError> {
        let (had_session, begun) = (self.session.is_some(), Instant::now());
        let mut result = self.try_run(shared, is_beat_due);
        // The server may have ended the session only, as it does when it restarts.
        if result.is_err() && had_session && begun.elapsed() < RETRY_WITHIN {
            result = self.try_run(shared, is_beat_due);
        }
        if result.is_err() {
            self.session = None;
            self.replicas.reset();
            self.spenders.reset();
        }
        result
    }

    fn try_run(&mut self, shared: &Shared, is_beat_due: bool) -> Result<(), StoreError> {
        let database = &shared.database;
        let class = StatementClass::Watch.enter();
        let session = match self.session.take().filter(Connection::is_usable) {
            Some(session) => session,
            None => match database.open_server_connection()? {
                Some(session) => session,
                None => return Ok(()),
            },
        };
        read_changes(shared, &session).map_err(|error| database.error(error))?;
        if is_beat_due {
            let lost = self.beat(shared, &session)?;
            drop(class);
            // A failure, such as a busy lock, says nothing about the server. The next beat finds the same processes lost.
            let _ = take_over(shared, lost);
        }
        self.session = Some(session);
        Ok(())
    }

    /// Increments the beats of this process, and returns the processes that are lost.
    fn beat(&mut self, shared: &Shared, session: &Connection) -> Result<Lost, StoreError> {
        let error = |error| shared.database.error(error);
        increment(shared, session).map_err(error)?;
        shared.ledger.beat(&shared.database, session)?;
        let replicas = read_replicas(session).map_err(error)?;
        shared.membership.set_workers(replicas.iter().filter(|replica| replica.is_worker).count());
        let now = Instant::now();
        let beats = replicas.iter().map(|replica| (replica.id, replica.beat)).collect();
        let lost_replicas = self.replicas.observe(beats, now);
        let sql = "SELECT journal, beat FROM spenders WHERE lost_at IS NULL";
        let beats = session.query(sql, params![], |row| Ok((row.get(0)?, row.get(1)?))).map_err(error)?;
        Ok(Lost { replicas: lost_replicas, spenders: self.spenders.observe(beats, now) })
    }

    /// Leaves the replicas, so that the others need not wait until this process counts as lost.
    pub(crate) fn leave(&mut self, shared: &Shared) {
        let Some(id) = shared.membership.id() else { return };
        // If this fails, the others take over when they miss its beats.
        let _ = shared.database.write_rows(Durability::Process, |transaction| delete(transaction, id));
    }
}

/// Processes that are lost, with their last beats.
struct Lost {
    replicas: Vec<(i64, i64)>,
    spenders: Vec<(String, i64)>,
}

/// Frees what lost processes had, if this replica is a worker.
fn take_over(shared: &Shared, lost: Lost) -> Result<(), StoreError> {
    if shared.membership.id().is_none() || !shared.membership.role().is_worker() {
        return Ok(());
    }
    for (id, beat) in lost.replicas {
        shared.database.write_rows(Durability::Process, |transaction| {
            // A beat in the meantime shows that it lives.
            let sql = "DELETE FROM replicas WHERE id = ?1 AND beat = ?2";
            transaction.execute(sql, params![id, beat])
        })?;
    }
    for (journal, beat) in lost.spenders {
        shared.ledger.settle_lost(&shared.database, &journal, beat)?;
    }
    Ok(())
}

/// Reads what other processes changed, and the clock of the server.
fn read_changes(shared: &Shared, session: &Connection) -> sql::Result<()> {
    let sql = "SELECT version, (SELECT coalesce(max(id), 0) FROM grants), \
               CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) FROM access_version";
    let sent_ms = boot_ms();
    let (version, newest_grant, server_ms) =
        session.query_row(sql, params![], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    shared.database.clock().learn(server_ms, sent_ms..=boot_ms());
    shared.access.apply_version(version);
    shared.ledger.record_newest_grant(newest_grant);
    Ok(())
}

/// Increments the beat of this replica. If the others have deleted it, it joins again.
fn increment(shared: &Shared, session: &Connection) -> sql::Result<()> {
    let _joining = shared.membership.joining.lock();
    let Some(id) = shared.membership.id() else { return Ok(()) };
    if session.execute("UPDATE replicas SET beat = beat + 1 WHERE id = ?1", params![id])? == 0 {
        let role = shared.membership.role();
        let id = insert(session, role, shared.membership.address().as_ref())?;
        shared.membership.set(id, role);
    }
    Ok(())
}

/// A row of the table of replicas.
struct ReplicaRow {
    id: i64,
    beat: i64,
    is_worker: bool,
}

fn read_replicas(session: &Connection) -> sql::Result<Vec<ReplicaRow>> {
    session.query("SELECT id, beat, is_worker FROM replicas", params![], |row| {
        Ok(ReplicaRow { id: row.get(0)?, beat: row.get(1)?, is_worker: row.get(2)? })
    })
}
