//! Classes of statements: how long a thread waits for a server.

use std::cell::Cell;
use std::marker::PhantomData;
use std::time::Duration;

const STATEMENTS: (&str, &str) = ("statement_timeout", "20s");
const LOCKS: (&str, &str) = ("lock_timeout", "5s");
const SUSPENDED: &str = "idle_in_transaction_session_timeout";

/// The class of the statements of a thread. All but migrations end at once when the watch finds the server silent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatementClass {
    /// Reads of the watch and the beats, which find out whether the server responds.
    Watch,
    /// Work that a client or the scheduler waits for.
    Request,
    /// Work on many rows: sweeps, purges, verification.
    Background,
    /// The connection at the start, changes of the schema, and the copy of a whole database.
    Migration,
}

thread_local! {
    static CURRENT: Cell<StatementClass> = const { Cell::new(StatementClass::Request) };
}

impl StatementClass {
    /// Returns the class of the current thread, which is [`Request`](Self::Request) unless it has entered another.
    pub(crate) fn current() -> Self {
        CURRENT.get()
    }

    /// Gives the current thread this class until the guard is dropped.
    pub(crate) fn enter(self) -> ClassGuard {
        ClassGuard { previous: CURRENT.replace(self), _not_send: PhantomData }
    }

    /// Time for which the response of a statement is awaited while the server responds to others.
    pub(super) const fn response_timeout(self) -> Duration {
        match self {
            // The others stop waiting earlier. A server that is overloaded and responds should be found.
            Self::Watch => Duration::from_secs(3),
            // Longer than the server waits for a lock.
            Self::Request => Duration::from_secs(6),
            Self::Background => Duration::from_secs(25),
            Self::Migration => Duration::from_secs(6 * 3_600),
        }
    }

    /// Time to connect to one host, including TLS and authentication.
    pub(crate) const fn connect_timeout(self) -> Duration {
        match self {
            Self::Watch => Duration::from_secs(3),
            Self::Request | Self::Background | Self::Migration => Duration::from_secs(5),
        }
    }

    /// Returns whether a statement waits on although the watch has had no response.
    pub(crate) const fn waits_in_silence(self) -> bool {
        matches!(self, Self::Watch | Self::Migration)
    }

    /// Returns statements that set the limits of a session, joined by semicolons.
    pub(crate) fn session_settings(self) -> String {
        self.settings().map(|(name, value)| format!("SET {name} = '{value}'")).join("; ")
    }

    /// Returns statements that set the limits of a transaction, joined by semicolons.
    pub(super) fn transaction_settings(self) -> String {
        self.settings().map(|(name, value)| format!("SET LOCAL {name} = '{value}'")).join("; ")
    }

    /// Returns the settings that end statements whose client has given up, and the sessions of a process that is suspended
    /// in a transaction, so that the others do not wait long for its locks.
    const fn settings(self) -> [(&'static str, &'static str); 3] {
        match self {
            // A beat may be lost.
            Self::Watch => [STATEMENTS, ("lock_timeout", "1s"), ("synchronous_commit", "off")],
            Self::Request | Self::Background => [STATEMENTS, LOCKS, (SUSPENDED, "2s")],
            Self::Migration => [("statement_timeout", "0"), LOCKS, (SUSPENDED, "60s")],
        }
    }
}

/// Restores the class of the thread when dropped.
#[derive(Debug)]
pub(crate) struct ClassGuard {
    previous: StatementClass,
    _not_send: PhantomData<*const ()>,
}

impl Drop for ClassGuard {
    fn drop(&mut self) {
        CURRENT.set(self.previous);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_of_a_thread_is_restored() {
        assert_eq!(StatementClass::current(), StatementClass::Request);
        let outer = StatementClass::Migration.enter();
        let inner = StatementClass::Background.enter();
        assert_eq!(StatementClass::current(), StatementClass::Background);
        drop(inner);
        assert_eq!(StatementClass::current(), StatementClass::Migration);
        drop(outer);
        assert_eq!(StatementClass::current(), StatementClass::Request);
    }
}
