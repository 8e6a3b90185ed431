//! The engine PostgreSQL: one session with a server.

mod class;
mod pipeline;
mod server_state;
mod statement;
mod statement_times;
mod value;
mod wait;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::error::Error as _;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::{Error, Params, Result, Row, ValueRef};
pub(crate) use class::StatementClass;
use pipeline::{StoredStatement, Unsent, all, both, query};
pub(crate) use server_state::{MAX_OUTAGE, ServerState};
use statement::{SessionStatement, with_dollar_placeholders};
pub(crate) use statement_times::BOUNDS_US;
pub(crate) use value::without_nul;
use value::{Column, Parameter};
pub(crate) use wait::{GivenUp, wait};

/// Time since the last response after which a session is checked before a transaction begins.
const MAX_UNCHECKED: Duration = Duration::from_millis(10);
/// The beginning of each statement that begins a transaction.
const BEGIN: &str = "BEGIN";
/// Maximum of prepared statements of a session, more than this crate has.
const MAX_STATEMENTS: usize = 512;

/// A session with a server. The runtime of the connection drives it; the calls wait for its responses.
#[derive(Debug)]
pub(crate) struct Session {
    client: Client,
    scope: SessionScope,
    statements: RefCell<HashMap<String, SessionStatement>>,
    in_transaction: Cell<bool>,
    unsent: RefCell<Unsent>,
    /// Time of the last response.
    last_response: Cell<Instant>,
    /// True after a failure that leaves the state of the session unknown or unusable.
    is_broken: Cell<bool>,
    epoch: SessionEpoch,
    server: Arc<ServerState>,
}

/// The time for which the server keeps a session for a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionScope {
    /// Until the connection ends.
    Connection,
    /// Until a transaction ends: a pooler such as PgBouncer gives the next one another session of the server.
    Transaction,
}

/// The time in which the server of a session is the primary.
#[derive(Debug)]
pub(crate) struct SessionEpoch {
    pub(crate) generation: u64,
    /// The generation of the sessions that may be used.
    pub(crate) current: Arc<AtomicU64>,
}

impl SessionEpoch {
    fn has_ended(&self) -> bool {
        self.generation != self.current.load(Ordering::Acquire)
    }
}

impl Session {
    pub(crate) fn new(
        client: Client,
        scope: SessionScope,
        epoch: SessionEpoch,
        server: Arc<ServerState>,
    ) -> Self {
        Self {
            client,
            scope,
            epoch,
            server,
            statements: RefCell::default(),
            in_transaction: Cell::new(false),
            unsent: RefCell::default(),
            last_response: Cell::new(Instant::now()),
            is_broken: Cell::new(false),
        }
    }

    /// Returns whether the session can be used again.
    pub(crate) fn is_usable(&self) -> bool {
        !self.is_broken.get() && !self.client.is_closed() && !self.epoch.has_ended()
    }

    /// Executes statements without parameters, separated by semicolons.
    pub(crate) fn batch(&self, sql: &str) -> Result<()> {
        self.send(self.client.batch_execute(sql))
    }

    pub(super) fn execute(&self, sql: &str, params: Params<'_>) -> Result<u64> {
        let (statement, values) = (self.prepare(sql)?, bind(params)?);
        self.send(statement.execute(&self.client, &values))
    }

    /// Calls `read` with the first row of a query for each of the parameters; `None` if it has none.
    pub(super) fn query_each<T>(
        &self,
        sql: &str,
        params: &[Params<'_>],
        read: &mut dyn FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<Option<T>>> {
        let statement = self.prepare(sql)?;
        let values =
            params.iter().map(|&params| bind(params)).collect::<Result<Vec<Vec<Parameter<'_>>>>>()?;
        let queries = values.iter().map(|values| query(&self.client, &statement, values)).collect();
        let responses = self.send(all(queries))?;
        responses.iter().map(|rows| rows.first().map(|row| read(&Row::Postgres(row))).transpose()).collect()
    }

    /// Executes a statement of a transaction whose result is not needed, when its next statement is sent.
    pub(super) fn enqueue(&self, sql: &str, params: Params<'_>) -> Result<()> {
        let stored = StoredStatement::new(self.prepare(sql)?, params)?;
        self.unsent.borrow_mut().queued.push(stored);
        Ok(())
    }

    /// Executes a statement of a transaction when it is committed.
    pub(super) fn execute_at_commit(&self, sql: &str, params: Params<'_>) -> Result<()> {
        let stored = StoredStatement::new(self.prepare(sql)?, params)?;
        self.unsent.borrow_mut().at_commit.push(stored);
        Ok(())
    }

    /// Calls `next` with each row until it breaks. All rows are received first, so statements that may have many rows
    /// limit their number.
    pub(crate) fn for_each(
        &self,
        sql: &str,
        params: Params<'_>,
        next: &mut dyn FnMut(&Row<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let (statement, values) = (self.prepare(sql)?, bind(params)?);
        for row in self.send(statement.query(&self.client, &values))? {
            if next(&Row::Postgres(&row))?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Begins a transaction with `sql`, which contains `BEGIN`. It is sent with the first statement, unless the session
    /// was idle: then its server may have ended it, which the caller must learn before the transaction begins.
    pub(crate) fn begin(&self, sql: &str) -> Result<()> {
        if self.last_response.get().elapsed() >= MAX_UNCHECKED {
            return self.begin_at_once(sql);
        }
        self.in_transaction.set(true);
        self.unsent.borrow_mut().begin = Some(self.with_settings(sql));
        Ok(())
    }

    /// Begins a transaction with `sql`, and waits for the response.
    pub(crate) fn begin_at_once(&self, sql: &str) -> Result<()> {
        // Before the response: after a failure the server may have begun it.
        self.in_transaction.set(true);
        let begun = self.batch(&self.with_settings(sql));
        if begun.is_err() {
            self.roll_back();
        }
        begun
    }

    /// Commits the transaction together with its next statement.
    pub(super) fn commit_with_next(&self) {
        self.unsent.borrow_mut().commits = true;
    }

    pub(crate) fn commit(&self) -> Result<()> {
        if !self.in_transaction.get() {
            return Ok(());
        }
        let is_empty = {
            let mut unsent = self.unsent.borrow_mut();
            let at_commit = std::mem::take(&mut unsent.at_commit);
            unsent.queued.extend(at_commit);
            unsent.begin.is_some() && unsent.queued.is_empty()
        };
        if is_empty {
            *self.unsent.borrow_mut() = Unsent::default();
        } else {
            self.send(self.client.batch_execute("COMMIT"))?;
        }
        self.in_transaction.set(false);
        Ok(())
    }

    /// Rolls the transaction back, unless it has ended.
    pub(crate) fn roll_back(&self) {
        let unsent = std::mem::take(&mut *self.unsent.borrow_mut());
        let is_open = self.in_transaction.replace(false) && unsent.begin.is_none();
        if is_open && self.is_usable() && self.response(self.client.batch_execute("ROLLBACK")).is_err() {
            self.is_broken.set(true);
        }
    }

    /// Returns a statement that begins a transaction, with the settings that the session does not keep.
    fn with_settings(&self, begin: &str) -> String {
        match self.scope {
            SessionScope::Connection => begin.to_owned(),
            SessionScope::Transaction => {
                let locks = begin.strip_prefix(BEGIN).unwrap_or(begin);
                format!("{BEGIN}; {}{locks}", StatementClass::current().transaction_settings())
            }
        }
    }

    fn prepare(&self, sql: &str) -> Result<SessionStatement> {
        if let Some(statement) = self.statements.borrow().get(sql) {
            return Ok(statement.clone());
        }
        let text = with_dollar_placeholders(sql);
        let statement = match self.scope {
            SessionScope::Connection => {
                SessionStatement::Prepared(self.response(self.client.prepare(&text))?)
            }
            SessionScope::Transaction => SessionStatement::Unnamed(text.into()),
        };
        let mut statements = self.statements.borrow_mut();
        if statements.len() >= MAX_STATEMENTS {
            statements.clear();
        }
        statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    /// Sends a statement after those that were not sent yet, and waits for its response.
    fn send<T>(
        &self,
        last: impl Future<Output = std::result::Result<T, tokio_postgres::Error>>,
    ) -> Result<T> {
        let mut unsent = self.unsent.borrow_mut().take();
        if self.scope == SessionScope::Transaction && !self.in_transaction.get() {
            // A read. Its settings need a transaction.
            unsent.begin = Some(self.with_settings(BEGIN));
            unsent.commits = true;
        }
        if unsent.is_empty() {
            return self.response(last);
        }
        let statements = both(all(unsent.executions(&self.client)), last);
        if !unsent.commits {
            return self.response(statements).map(|(_, last)| last);
        }
        let response = self.response(both(statements, self.client.batch_execute("COMMIT")));
        let ((_, last), ()) = response?;
        self.in_transaction.set(false);
        Ok(last)
    }

    /// Waits for a response. Marks the session as broken if it cannot be used any more. Nothing is sent to a server that
    /// is not the primary any more: a future sends its statement when it is awaited.
    fn response<T>(
        &self,
        response: impl Future<Output = std::result::Result<T, tokio_postgres::Error>>,
    ) -> Result<T> {
        if self.epoch.has_ended() {
            self.is_broken.set(true);
            return Err(Error::Unreachable("another server is the primary now".into()));
        }
        let class = StatementClass::current();
        let deadline = Instant::now() + class.response_timeout();
        let response =
            self.server.wait(class, response, deadline).inspect_err(|_| self.is_broken.set(true))?;
        self.last_response.set(Instant::now());
        response.map_err(|error| {
            if ends_session(&error) {
                self.is_broken.set(true);
            }
            Error::Postgres(error)
        })
    }
}

/// Returns whether a session cannot be used after this error: it ended, its server became a standby, or its prepared
/// statements are outdated.
fn ends_session(error: &tokio_postgres::Error) -> bool {
    let ends = [
        SqlState::FEATURE_NOT_SUPPORTED,
        SqlState::INVALID_SQL_STATEMENT_NAME,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
    ];
    is_unreachable(error) || error.code().is_some_and(|code| ends.contains(code))
}

/// Returns whether an error says that the connection failed, or that the server is down, starts, stops, is a standby,
/// or accepts no more connections.
pub(crate) fn is_unreachable(error: &tokio_postgres::Error) -> bool {
    match error.code() {
        // Class 08 is that of connection failures, and class 57P that of interventions of the operator.
        Some(code) => {
            code.code().starts_with("08")
                || code.code().starts_with("57P")
                || [SqlState::TOO_MANY_CONNECTIONS, SqlState::READ_ONLY_SQL_TRANSACTION].contains(code)
        }
        None => {
            error.is_closed() || error.source().is_some_and(<dyn std::error::Error>::is::<std::io::Error>)
        }
    }
}

fn bind<'a>(params: Params<'a>) -> Result<Vec<Parameter<'a>>> {
    params.iter().map(|value| value.to_sql().map(Parameter)).collect()
}

pub(super) fn value(row: &tokio_postgres::Row, column: usize) -> Result<ValueRef<'_>> {
    let Column(value) = row.try_get(column)?;
    Ok(value)
}
