//! The hosts of a PostgreSQL server: finds the primary, and follows it.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_postgres::SimpleQueryMessage;
use websvc_transport::Client;

use super::server_url::DatabaseUrl;
use super::timeline::{History, OldPrimary, Timeline, newest_of};
use super::tls::Tls;
use crate::clock::{Clock, boot_ms};
use crate::sql;
use crate::sql::postgres::{SessionScope, StatementClass, is_unreachable};

/// How long the other hosts are awaited after the first primary has responded.
const ELECTION_TIME: Duration = Duration::from_secs(1);
/// Interval at which a process looks for a newer primary among the other hosts.
const PROBE_INTERVAL: Duration = Duration::from_secs(3);
/// Keeps the connections of a machine that disappeared from staying open on the server.
const KEEPALIVES: &str =
    "SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 3; SET tcp_keepalives_count = 3";
const ROLE: &str = "SELECT CASE WHEN pg_is_in_recovery() THEN 'standby' ELSE 'primary' END, NULL, NULL, \
     CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)";
/// The number in the name of the current WAL segment is right immediately after a promotion, unlike that of the last
/// checkpoint.
const ROLE_AND_TIMELINE: &str = "SELECT CASE WHEN pg_is_in_recovery() THEN 'standby' ELSE 'primary' END, \
     CASE WHEN NOT pg_is_in_recovery() \
     THEN ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint END, \
     (SELECT system_identifier FROM pg_control_system()), \
     CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)";

/// The configured hosts.
#[derive(Debug)]
pub(super) struct Hosts {
    url: DatabaseUrl,
    client: Client,
    history: History,
    clock: Clock,
    /// Position of the primary that was found last; the number of hosts before.
    primary: AtomicUsize,
    is_without_timeline: AtomicBool,
}

/// A connection to a primary.
pub(super) struct Primary {
    at: usize,
    pub(super) client: tokio_postgres::Client,
    timeline: Option<Timeline>,
    /// Its time, and the times since boot of this machine between which it was read, in milliseconds.
    time: Option<(i64, RangeInclusive<i64>)>,
}

impl Hosts {
    pub(super) fn new(url: DatabaseUrl, client: Client, history: History) -> Self {
        let primary = AtomicUsize::new(url.hosts().len());
        let (clock, is_without_timeline) = (Clock::of_server(), AtomicBool::new(false));
        Self { url, client, history, clock, primary, is_without_timeline }
    }

    /// Returns the generation of the sessions that may be used, as it changes.
    pub(super) fn generation(&self) -> &Arc<AtomicU64> {
        self.history.current()
    }

    /// Returns the clock, which each new session with the primary sets.
    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(super) fn scope(&self) -> SessionScope {
        self.url.scope()
    }

    pub(super) fn count(&self) -> usize {
        self.url.hosts().len()
    }

    /// Connects to the primary, and returns it with the [generation](History::generation) of the session. Looks for it
    /// if it is not known, or not the primary any more.
    pub(super) async fn open(
        self: &Arc<Self>,
        class: StatementClass,
    ) -> sql::Result<(tokio_postgres::Client, u64)> {
        let known = self.primary.load(Ordering::Acquire);
        if self.count() > 1
            && known < self.count()
            && let Ok(opened) = self.open_host(known, class).await.and_then(|primary| self.admit(primary))
        {
            return Ok(opened);
        }
        self.elect(class).await
    }

    /// Asks all hosts, and returns the newest primary.
    async fn elect(self: &Arc<Self>, class: StatementClass) -> sql::Result<(tokio_postgres::Client, u64)> {
        let mut asked = JoinSet::new();
        for at in 0..self.count() {
            let hosts = Arc::clone(self);
            asked.spawn(async move { hosts.open_host(at, class).await.map_err(|error| (at, error)) });
        }
        let (mut primaries, mut failures) = (Vec::new(), Vec::new());
        let mut deadline = Instant::now() + class.connect_timeout() + ELECTION_TIME;
        while let Ok(Some(answer)) = timeout_at(deadline, asked.join_next()).await {
            match answer {
                Ok(Ok(primary)) => {
                    if primaries.is_empty() {
                        deadline = deadline.min(Instant::now() + ELECTION_TIME);
                    }
                    primaries.push(primary);
                }
                Ok(Err(failure)) => failures.push(failure),
                Err(error) => failures.push((0, sql::Error::Unreachable(error.into()))),
            }
        }
        primaries.sort_by_key(|primary: &Primary| primary.at);
        let timelines: Vec<_> = primaries.iter().map(|primary| primary.timeline).collect();
        if let Some(newest) = newest_of(self.history.newest(), &timelines) {
            return self.admit(primaries.swap_remove(newest));
        }
        // As if they were asked one after the other, the failure of the last host is returned.
        let last = failures.into_iter().max_by_key(|(at, _)| *at).map(|(_, error)| error);
        Err(last.unwrap_or_else(|| sql::Error::Unreachable("the URL names no host".into())))
    }

    /// Records a primary, unless it is an old one.
    fn admit(&self, primary: Primary) -> sql::Result<(tokio_postgres::Client, u64)> {
        let Primary { at, client, timeline, time } = primary;
        let generation =
            self.history.admit(&self.name(at), timeline).map_err(|error| self.old_primary(at, &error))?;
        self.primary.store(at, Ordering::Release);
        if let Some((server_ms, read_ms)) = time {
            self.clock.learn(server_ms, read_ms);
        }
        Ok((client, generation))
    }

    fn old_primary(&self, at: usize, error: &OldPrimary) -> sql::Error {
        sql::Error::Unreachable(format!("{}: {error}", self.name(at)).into())
    }

    fn name(&self, at: usize) -> String {
        self.url.hosts().get(at).map(|(host, port)| format!("{host}:{port}")).unwrap_or_default()
    }

    /// Looks for a newer primary among the other hosts until it is dropped. Statements of sessions with the old one fail
    /// from then on, also in a transaction that has begun.
    pub(super) async fn follow(self: Arc<Self>) {
        let mut old = None;
        loop {
            sleep(PROBE_INTERVAL).await;
            for at in (0..self.count()).filter(|at| *at != self.primary.load(Ordering::Acquire)) {
                let Ok(primary) = self.open_host(at, StatementClass::Watch).await else { continue };
                match (primary.timeline, self.history.newest()) {
                    (Some(found), Some(known)) if found == known || found.cluster != known.cluster => {}
                    (None, _) | (_, None) => {}
                    (Some(_), Some(_)) => match self.admit(primary) {
                        Ok(_) => old = None,
                        Err(error) if old != Some(at) => {
                            old = Some(at);
                            tracing::error!(error = &error as &dyn std::error::Error, "an old primary runs");
                        }
                        Err(_) => {}
                    },
                }
            }
        }
    }

    /// Connects to a host, which must be a primary.
    async fn open_host(&self, at: usize, class: StatementClass) -> sql::Result<Primary> {
        let limit = class.connect_timeout();
        match timeout(limit, self.connect(at, class)).await {
            Ok(connected) => connected,
            Err(_) => {
                let text = format!("{} did not respond within {} ms", self.name(at), limit.as_millis());
                Err(sql::Error::Unreachable(text.into()))
            }
        }
    }

    async fn connect(&self, at: usize, class: StatementClass) -> sql::Result<Primary> {
        let (host, port) = &self.url.hosts()[at];
        let limit = class.connect_timeout();
        let stream = self
            .client
            .tunnel(host, *port, None, limit)
            .await
            .map_err(|error| sql::Error::Unreachable(error.into()))?;
        let tls = Tls { client: self.client.clone(), host: host.clone(), limit };
        let (client, connection) =
            self.url.config.connect_raw(stream, tls).await.map_err(to_connect_error)?;
        // It ends with the client. Its failures are those of the statements.
        drop(tokio::spawn(connection));
        let settings = match self.scope() {
            SessionScope::Connection => format!("{}; {KEEPALIVES}; ", class.session_settings()),
            // Another client of the pooler would get them. Each transaction sets those that it needs.
            SessionScope::Transaction => String::new(),
        };
        let sent_ms = boot_ms();
        let begun = match client.simple_query(&format!("{settings}{ROLE_AND_TIMELINE}")).await {
            // The settings were rolled back with the query.
            Err(error) if error.code().is_some() && !is_unreachable(&error) => {
                self.report_missing_timeline(&error);
                client.simple_query(&format!("{settings}{ROLE}")).await?
            }
            begun => begun?,
        };
        let received_ms = boot_ms();
        let row = begun.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        if row.and_then(|row| row.get(0)) != Some("primary") {
            return Err(sql::Error::Unreachable(format!("{} is a standby", self.name(at)).into()));
        }
        let column = |column: usize| row.and_then(|row| row.try_get(column).ok().flatten());
        let timeline = column(1).zip(column(2)).and_then(|(number, cluster): (&str, &str)| {
            Some(Timeline { cluster: cluster.parse().ok()?, number: number.parse().ok()? })
        });
        let time = column(3).and_then(|text: &str| Some((text.parse().ok()?, sent_ms..=received_ms)));
        Ok(Primary { at, client, timeline, time })
    }

    fn report_missing_timeline(&self, error: &tokio_postgres::Error) {
        if !self.is_without_timeline.swap(true, Ordering::Relaxed) {
            let error = error as &dyn std::error::Error;
            tracing::warn!(
                error,
                "the server does not say its timeline (pg_walfile_name, pg_control_system): an old primary that returns \
                 after a failover is not recognized"
            );
        }
    }
}

/// Converts an error of a new connection. Without a code it is not from the server but of the connection, such as a
/// failed TLS handshake.
fn to_connect_error(error: tokio_postgres::Error) -> sql::Error {
    match error.code() {
        Some(_) => sql::Error::Postgres(error),
        None => sql::Error::Unreachable(error.into()),
    }
}
