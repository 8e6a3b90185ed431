//! Tests of migrations from a file to a server. Most of them need a server, and do nothing without one.

mod filled;
mod refusals;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use tempfile::TempDir;
use websvc_store::{
    DatabaseUrl, MigrateError, Migration, MigrationMode, MigrationPhase, MigrationProgress, MigrationReport,
    Store, StoreError, migrate,
};

use crate::engine::{Rows, client, direct_url_of, is_server, open};
use crate::sqlite;
use filled::{fill, state_of};

/// Number of URLs of the filled job, so that they are copied in several transactions.
const URLS: usize = 2_500;

/// A filled database file, and an empty database on the server.
struct Test {
    source: TempDir,
    target: TempDir,
    url: DatabaseUrl,
}

impl Test {
    /// Returns `None` if the tests do not run on a server.
    fn new() -> Option<Self> {
        if !is_server() {
            return None;
        }
        let source = tempfile::tempdir().unwrap();
        fill(&source);
        Some(Self::with_source(source))
    }

    fn with_source(source: TempDir) -> Self {
        let target = tempfile::tempdir().unwrap();
        let url = direct_url_of(target.path()).unwrap();
        Self { source, target, url }
    }

    fn migrate(&self) -> Result<MigrationReport, MigrateError> {
        self.run(MigrationMode::Resume, |_| {})
    }

    fn restart(&self) -> Result<MigrationReport, MigrateError> {
        self.run(MigrationMode::Restart, |_| {})
    }

    fn run(
        &self,
        mode: MigrationMode,
        progress: impl FnMut(MigrationProgress),
    ) -> Result<MigrationReport, MigrateError> {
        let from = self.source.path();
        migrate(&Migration { from, to: &self.url, client: client(&self.url), mode }, progress)
    }

    /// Interrupts a migration at the first progress for which `is_end` returns true.
    #[track_caller]
    fn interrupt(&self, mode: MigrationMode, is_end: impl Fn(MigrationProgress) -> bool) {
        let run = AssertUnwindSafe(|| {
            self.run(mode, |progress| {
                if is_end(progress) {
                    // Unlike `panic!`, this prints nothing.
                    resume_unwind(Box::new("interrupted"));
                }
            })
        });
        assert!(catch_unwind(run).is_err(), "the migration was not interrupted");
    }

    /// Copies all rows, and interrupts the migration before the verification.
    fn copy_only(&self, mode: MigrationMode) {
        self.interrupt(mode, |progress| progress.phase == MigrationPhase::Verify);
    }

    fn rows(&self) -> Rows {
        Rows::open(self.target.path())
    }

    fn connect(&self) -> Result<Store, StoreError> {
        Store::connect(&self.url, client(&self.url), self.target.path())
    }

    /// Opens the database that was copied.
    fn open_source(&self) -> Store {
        std::fs::remove_file(self.source.path().join("moved-to")).unwrap();
        Store::open(self.source.path()).unwrap()
    }

    /// Checks that the server has the state of the file, and that its totals and triggers work.
    #[track_caller]
    fn check_equal(&self) {
        let (source, target) = (self.open_source(), self.connect().unwrap());
        assert_eq!(state_of(&target), state_of(&source));
        target.verify().unwrap();
        drop((source, target));
        crate::credits::audit(self.target.path());
        let wrong = "SELECT count(*) FROM webhooks WHERE waiting <> (SELECT count(*) FROM webhook_events \
                     WHERE webhook_events.webhook = webhooks.number AND forget_at IS NULL)";
        assert_eq!(self.rows().number(wrong), 0, "events are counted twice or not at all");
        let disabled = "SELECT count(*) FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid \
                        WHERE relnamespace = current_schema()::regnamespace AND tgenabled <> 'O'";
        assert_eq!(self.rows().number(disabled), 0, "a trigger is disabled");
    }
}

fn rows_of(report: &MigrationReport, table: &str) -> u64 {
    report.tables.iter().find(|report| report.table == table).unwrap().rows
}

#[test]
fn server_has_the_whole_state_of_the_file() {
    let Some(test) = Test::new() else { return };
    let mut copied = Vec::new();
    let report = test
        .run(MigrationMode::Resume, |progress| {
            assert!(progress.rows <= progress.total, "{progress:?}");
            if (progress.phase, progress.table) == (MigrationPhase::Copy, "job_urls") {
                copied.push(progress.rows);
            }
        })
        .unwrap();
    assert_eq!(copied, [0, 1_000, 2_000, URLS as u64]);
    test.check_equal();
    for (table, rows) in [("teams", 3), ("keys", 3), ("jobs", 1), ("job_urls", URLS as u64), ("pages", 24)] {
        assert_eq!(rows_of(&report, table), rows, "{table}");
    }
    let texts_with_nul: u64 = report.tables.iter().map(|table| table.texts_with_nul).sum();
    assert_eq!(texts_with_nul, 1, "the query of a request");
    let released = "SELECT count(*) FROM job_urls WHERE state = 'leased'";
    assert_eq!(test.rows().number(released), 0);
    // The same state has the same hashes, whichever engine it was read from.
    let again = Test::with_source(test.source).migrate().unwrap();
    assert_eq!(again, report);
}

#[test]
fn numbers_of_deleted_rows_are_not_used_again() {
    let Some(test) = Test::new() else { return };
    let file = sqlite(test.source.path());
    let last = |table: &str| -> i64 {
        let sql = "SELECT seq FROM sqlite_sequence WHERE name = ?1";
        file.query_row(sql, [table], |row| row.get(0)).unwrap()
    };
    let (jobs, events) = (last("jobs"), last("webhook_events"));
    let max: i64 = file.query_row("SELECT max(number) FROM jobs", [], |row| row.get(0)).unwrap();
    assert!(jobs > max, "the last job was deleted");
    test.migrate().unwrap();
    let store = test.connect().unwrap();
    let number = crate::jobs::create(&store, &crate::jobs::job("after", &["x"]));
    assert_eq!(number, jobs + 1);
    let page = crate::page("http://a.test/after", 1, "text");
    store.put_page(&page, &websvc_store::CacheLimits::default()).unwrap();
    assert_eq!(store.page(&page.key).unwrap(), Some(page));
    store.verify().unwrap();
    let next = "SELECT nextval(pg_get_serial_sequence('webhook_events', 'number'))";
    assert_eq!(test.rows().number(next), u64::try_from(events).unwrap() + 1);
}

#[test]
fn interrupted_migration_is_rejected_by_other_commands_and_continues() {
    let Some(test) = Test::new() else { return };
    let mut source = test.source;
    // The first and the last transaction, and some between them, in both phases.
    for interruption in [0, 1, 5, 19, 25, 34, 47, 48] {
        let test = Test::with_source(source);
        let calls = Cell::new(0);
        test.interrupt(MigrationMode::Resume, |_| calls.replace(calls.get() + 1) == interruption);
        let error = test.connect().unwrap_err();
        assert!(matches!(error, StoreError::UnfinishedMigration { .. }), "{error}");
        let command = format!("`websvc store migrate --from {}`", test.source.path().display());
        assert!(error.to_string().contains(&command), "{error}");
        let error = Store::inspect_server(&test.url, client(&test.url)).unwrap_err();
        assert!(matches!(error, StoreError::UnfinishedMigration { .. }), "{error}");
        test.migrate().unwrap();
        test.check_equal();
        source = test.source;
    }
}

#[test]
fn continued_migration_does_not_copy_rows_again() {
    let Some(test) = Test::new() else { return };
    let is_urls = |progress: MigrationProgress| progress.table == "job_urls";
    test.interrupt(MigrationMode::Resume, |progress| is_urls(progress) && progress.rows == 2_000);
    let mut copied = Vec::new();
    test.run(MigrationMode::Resume, |progress| {
        if is_urls(progress) && progress.phase == MigrationPhase::Copy {
            copied.push(progress.rows);
        }
    })
    .unwrap();
    assert_eq!(copied, [2_000, URLS as u64]);
    test.check_equal();
}

#[test]
fn changed_missing_and_additional_rows_are_detected() {
    let Some(test) = Test::new() else { return };
    test.copy_only(MigrationMode::Resume);
    let changes = [
        ("pages", "UPDATE pages SET final_url = 'http://b.test/' WHERE id = 3"),
        ("pages", "UPDATE pages SET body = set_byte(body, 7, (get_byte(body, 7) + 1) % 256) WHERE id = 22"),
        ("keys", "DELETE FROM keys WHERE id = (SELECT min(id) FROM keys)"),
        ("secrets", "INSERT INTO secrets SELECT 'zz', bytes FROM secrets LIMIT 1"),
        ("job_urls", "DELETE FROM job_urls WHERE place = 1500"),
        ("page_totals", "UPDATE page_totals SET bytes = bytes + 1"),
        ("usage_daily", "UPDATE usage_daily SET key = 'z' WHERE key = ''"),
        ("grants", "UPDATE grants SET current = 0"),
    ];
    for (table, change) in changes {
        test.rows().execute(change);
        let error = test.migrate().unwrap_err();
        let MigrateError::Difference(difference) = &error else { panic!("{change}: {error}") };
        assert_eq!(difference.table, table, "{error}");
        assert!(error.to_string().ends_with("Begin again with --restart"), "{error}");
        assert!(matches!(test.connect(), Err(StoreError::UnfinishedMigration { .. })));
        test.copy_only(MigrationMode::Restart);
    }
    test.migrate().unwrap();
    test.check_equal();
}

#[test]
fn change_of_the_source_between_two_runs_is_detected_and_restart_copies_it() {
    let Some(test) = Test::new() else { return };
    test.copy_only(MigrationMode::Resume);
    Store::open(test.source.path()).unwrap().create_key("tea", "later").unwrap();
    let file = sqlite(test.source.path());
    file.execute("UPDATE profiles SET lease_until = NULL, lease = NULL", []).unwrap();
    let error = test.migrate().unwrap_err();
    assert!(matches!(error, MigrateError::Difference(_)), "{error}");
    test.restart().unwrap();
    test.check_equal();
}

#[test]
fn source_cannot_be_written_during_a_migration() {
    let Some(test) = Test::new() else { return };
    let file = sqlite(test.source.path());
    file.busy_timeout(std::time::Duration::ZERO).unwrap();
    let mut attempts = 0;
    test.run(MigrationMode::Resume, |_| {
        attempts += 1;
        let error = file.execute("UPDATE keys SET label = 'x'", []).unwrap_err();
        assert_eq!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::DatabaseBusy));
    })
    .unwrap();
    assert!(attempts > 40, "{attempts}");
    test.check_equal();
    assert_eq!(file.execute("UPDATE keys SET label = 'x'", []).unwrap(), 3);
}

#[test]
fn credits_that_a_dead_process_leased_are_recovered() {
    if !is_server() {
        return;
    }
    let (living, store) = crate::fresh_file();
    let team = crate::credits::give(&store, "tea", Some(100));
    let hold = crate::credits::hold_credits(&store, &team, 10);
    assert_eq!(hold.settle(crate::credits::usage(10)), 10);
    // A copy of the directory is what the process would leave if it was killed now.
    let source = tempfile::tempdir().unwrap();
    let copy = source.path().join(Store::FILE_NAME);
    sqlite(living.path()).execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
    copy_journals(living.path(), source.path());
    let test = Test::with_source(source);
    test.migrate().unwrap();
    let target = test.connect().unwrap();
    let budget = target.budget("tea").unwrap().unwrap();
    assert_eq!((budget.spent, budget.remaining), (10, 90), "charged once, and the rest is back");
    assert_eq!(
        test.rows().number("SELECT (SELECT count(*) FROM leases) + (SELECT count(*) FROM spenders)"),
        0
    );
}

fn copy_journals(from: &Path, to: &Path) {
    std::fs::create_dir(to.join("ledger")).unwrap();
    for journal in std::fs::read_dir(from.join("ledger")).unwrap() {
        let journal = journal.unwrap();
        std::fs::copy(journal.path(), to.join("ledger").join(journal.file_name())).unwrap();
    }
}

#[test]
fn source_of_a_finished_migration_is_refused_until_its_mark_is_removed() {
    let Some(test) = Test::new() else { return };
    test.migrate().unwrap();
    let error = Store::open(test.source.path()).unwrap_err();
    assert!(matches!(&error, StoreError::Moved { url, .. } if !url.contains('@')), "{error}");
    assert!(error.to_string().contains("moved-to"), "{error}");
    test.connect().unwrap();
    test.open_source();
}

#[test]
fn both_engines_have_the_same_tables_and_columns() {
    if !is_server() {
        return;
    }
    let (file_dir, file) = crate::fresh_file();
    let (server_dir, server) = crate::fresh();
    drop((file, server));
    let columns = |rows: Vec<Vec<Option<String>>>| -> BTreeSet<String> {
        rows.into_iter().map(|row| row.into_iter().flatten().collect::<Vec<_>>().join(".")).collect()
    };
    let on_server = Rows::open(server_dir.path()).query(
        "SELECT table_name, column_name FROM information_schema.columns \
         WHERE table_schema = current_schema() AND is_generated = 'NEVER' AND table_name NOT IN \
         ('schema_version', 'rate_buckets', 'scrape_results', 'dashboard_sessions', 'slot_leases', \
         'replica_activity', 'host_leases', 'job_helpers')",
    );
    let in_file = Rows::File(sqlite(file_dir.path())).query(
        "SELECT tables.name, columns.name \
         FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns \
         WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite%'",
    );
    assert_eq!(columns(on_server), columns(in_file));
}

#[test]
fn empty_file_is_migrated() {
    if !is_server() {
        return;
    }
    let (source, store) = crate::fresh_file();
    drop(store);
    let test = Test::with_source(source);
    let report = test.migrate().unwrap();
    assert_eq!(report.tables.iter().map(|table| table.rows).sum::<u64>(), 5, "the totals");
    test.check_equal();
    drop(open(test.target.path()));
}
