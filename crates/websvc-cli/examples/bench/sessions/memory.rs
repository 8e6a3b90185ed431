//! Measures the memory of idle sessions.

use std::time::Duration;

use super::{IDLE_SESSIONS, Session, TITLE};
use crate::connection::Connection;
use crate::process::{Process, tree_memory_mb};
use crate::report::Report;

/// The time after which the browsers of new sessions are idle.
const IDLE_TIME: Duration = Duration::from_secs(3);

/// Measures the memory of the service and its browsers, with and without idle sessions.
pub(super) async fn run(process: &Process, report: &mut Report) {
    let mut connection = Connection::open(process);
    tokio::time::sleep(IDLE_TIME).await;
    let before = tree_memory_mb(process.id());
    let mut sessions = Vec::new();
    for _ in 0..IDLE_SESSIONS {
        let session = Session::create(&mut connection);
        session.execute(&mut connection, "node", TITLE);
        sessions.push(session);
    }
    tokio::time::sleep(IDLE_TIME).await;
    let after = tree_memory_mb(process.id());
    for session in sessions {
        session.delete(&mut connection);
    }
    let count = f64::from(u32::try_from(IDLE_SESSIONS).unwrap());
    report.number("memory of the service without sessions", before, "MB (PSS)", "");
    let name = format!("memory for each of {IDLE_SESSIONS} idle sessions, all processes");
    report.number(&name, (after - before) / count, "MB (PSS)", "");
}
