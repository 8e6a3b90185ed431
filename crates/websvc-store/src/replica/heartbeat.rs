//! The heartbeat of a process on a server, its reads of what others changed, and the takeover from lost ones.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::membership::{LOST_AFTER, delete, insert};
use super::observer::Observer;
use crate::clock::boot_ms;
use crate::database::Durability;
use crate::error::StoreError;
use crate::ledger::SPENDER_LOST_AFTER;
use crate::pending_work::PendingWork;
use crate::shared::Shared;
use crate::sql::postgres::StatementClass;
use crate::sql::{self, Connection, Row, params};

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
            shared.pending_work.forget();
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
        if is_beat_due {
            let lost = self.beat(shared, &session)?;
            drop(class);
            // A failure, such as a busy lock, says nothing about the server. The next beat finds the same processes lost.
            let _ = take_over(shared, lost);
        } else {
            read_changes(shared, &session).map_err(|error| database.error(error))?;
        }
        self.session = Some(session);
        Ok(())
    }

    /// Increments the beats of this process, and returns the processes that are lost.
    fn beat(&mut self, shared: &Shared, session: &Connection) -> Result<Lost, StoreError> {
        let journal = shared.ledger.used_journal();
        let processes = beat_and_read(shared, session, journal.as_deref())
            .map_err(|error| shared.database.error(error))?;
        if journal.is_some_and(|journal| !processes.spenders.iter().any(|(name, _)| *name == journal)) {
            shared.ledger.revive(&shared.database, session)?;
        }
        shared.membership.set_workers(processes.workers);
        let now = Instant::now();
        Ok(Lost {
            replicas: self.replicas.observe(processes.replicas, now),
            spenders: self.spenders.observe(processes.spenders, now),
        })
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
        let deleted = shared.database.write_rows(Durability::Process, |transaction| {
            // A beat in the meantime shows that it lives.
            let sql = "DELETE FROM replicas WHERE id = ?1 AND beat = ?2";
            transaction.execute(sql, params![id, beat])
        })?;
        shared.membership.takeovers.fetch_add(deleted, Ordering::Relaxed);
    }
    for (journal, beat) in lost.spenders {
        shared.ledger.settle_lost(&shared.database, &journal, beat)?;
    }
    Ok(())
}

/// Columns of what other processes may have changed: the version of keys and teams, the newest grant, the clock of the server in
/// milliseconds.
const CHANGES: &str = "version, (SELECT coalesce(max(id), 0) FROM grants), \
                       CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)";

/// Reads what other processes changed, and the clock of the server.
fn read_changes(shared: &Shared, session: &Connection) -> sql::Result<()> {
    let sql = format!("SELECT {CHANGES} FROM access_version");
    let sent_ms = boot_ms();
    let changes = session.query_row(&sql, params![], changes)?;
    apply_changes(shared, changes, sent_ms);
    Ok(())
}

fn changes(row: &Row<'_>) -> sql::Result<(i64, i64, i64)> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
}

fn apply_changes(shared: &Shared, (version, newest_grant, server_ms): (i64, i64, i64), sent_ms: i64) {
    shared.database.clock().learn(server_ms, sent_ms..=boot_ms());
    shared.access.apply_version(version);
    shared.ledger.record_newest_grant(newest_grant);
}

/// The processes that count as living, with their beats.
#[derive(Default)]
struct Processes {
    replicas: Vec<(i64, i64)>,
    workers: usize,
    spenders: Vec<(String, i64)>,
}

/// Increments the beats of this process, and reads what other processes changed, which work waits, and the beats of all
/// processes: one statement, so that an idle replica costs the server little. If the others have deleted this replica, it
/// joins again. The beats are those before the increment.
fn beat_and_read(shared: &Shared, session: &Connection, journal: Option<&str>) -> sql::Result<Processes> {
    let sql = format!(
        "WITH beaten AS (UPDATE replicas SET beat = beat + 1 WHERE id = ?1), \
         spending AS (UPDATE spenders SET beat = beat + 1 WHERE journal = ?2 AND lost_at IS NULL) \
         SELECT {CHANGES}, {}, processes.id, processes.journal, beat, is_worker FROM access_version LEFT JOIN \
         (SELECT id, CAST(NULL AS TEXT) AS journal, beat, is_worker FROM replicas UNION ALL \
         SELECT NULL, journal, beat, 0 FROM spenders WHERE lost_at IS NULL) AS processes ON 1 = 1",
        PendingWork::sql("extract(epoch FROM now()) * 1000")
    );
    let _joining = shared.membership.joining.lock();
    let own = shared.membership.id();
    let sent_ms = boot_ms();
    let rows = session.query(&sql, params![own.unwrap_or_default(), journal], |row| {
        let process: (Option<i64>, Option<String>, Option<i64>, Option<i64>) =
            (row.get(4)?, row.get(5)?, row.get(6)?, row.get(7)?);
        Ok((changes(row)?, row.get::<i64>(3)?, process))
    })?;
    if let Some((changes, pending, _)) = rows.first() {
        apply_changes(shared, *changes, sent_ms);
        shared.pending_work.record(*pending);
    }
    let mut processes = Processes::default();
    for (_, _, process) in rows {
        match process {
            (Some(id), _, Some(beat), is_worker) => {
                processes.replicas.push((id, beat));
                processes.workers += usize::from(is_worker == Some(1));
            }
            (None, Some(journal), Some(beat), _) => processes.spenders.push((journal, beat)),
            _ => {}
        }
    }
    if let Some(own) = own
        && !processes.replicas.iter().any(|(id, _)| *id == own)
    {
        let role = shared.membership.role();
        let id = insert(session, role, shared.membership.address().as_ref())?;
        shared.membership.set(id, role);
    }
    Ok(processes)
}
