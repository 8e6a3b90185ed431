//! `websvc store`: moves the database of a data directory to a PostgreSQL server.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use websvc_store::{Migration, MigrationMode, MigrationPhase, MigrationReport, Store, TableReport, migrate};
use websvc_types::counted;

use crate::CommandContext;
use crate::app::{self, DatabaseServer};
use crate::args::{MigrateStore, StoreCommand};
use crate::data_dir::DataDir;
use crate::output::{self, Table};
use crate::progress::RowProgress;

/// Runs `websvc store`.
pub(crate) fn run(context: &CommandContext, store: StoreCommand) -> Result<()> {
    match store {
        StoreCommand::Migrate(arguments) => migrate_store(context, &arguments),
    }
}

fn migrate_store(context: &CommandContext, arguments: &MigrateStore) -> Result<()> {
    let started = Instant::now();
    let target = target(context, arguments)?;
    let data_dir = DataDir::open_existing(Some(&arguments.from)).context("--from")?;
    let _lock = data_dir.try_lock()?.with_context(|| {
        format!(
            "the data directory {} is in use by another websvc process: stop it first, because what it writes \
             meanwhile would not be copied",
            data_dir.path().display()
        )
    })?;
    let mode = if arguments.restart { MigrationMode::Restart } else { MigrationMode::Resume };
    let migration = Migration { from: data_dir.path(), to: &target.url, client: target.client.clone(), mode };
    let mut bar = RowProgress::start();
    let migrated = migrate(&migration, |progress| {
        let verb = match progress.phase {
            MigrationPhase::Copy => "copying",
            MigrationPhase::Verify => "verifying",
        };
        bar.set(&format!("{verb} {}", progress.table), progress.rows, progress.total);
    });
    bar.finish();
    Summary { report: migrated?, data_dir, target, elapsed: started.elapsed() }.print(arguments.json)
}

/// Returns the server of `--to`, or that of the configuration.
fn target(context: &CommandContext, arguments: &MigrateStore) -> Result<DatabaseServer> {
    let config = &context.config.store;
    match &arguments.to {
        Some(url) => app::database_server_at(url, config.ca_file.as_deref(), "--to"),
        None => app::database_server(&context.config)?
            .context("no target: give the URL of the database on the server with --to, or set store.url"),
    }
}

/// The data of a data directory that are not in its database: their name in it, and advice.
const OTHER_DATA: &[(&str, &str)] = &[
    (
        "index",
        "the full-text index: use this data directory with the server, or an index on a server, see docs/sources.md",
    ),
    (
        "artifacts",
        "screenshots and other files, which expire: use this data directory with the server; files in a bucket stay there",
    ),
    ("audit", "audit events that are not delivered yet: use this data directory with the server"),
    ("lists", "ad blocklists: use this data directory with the server, or run `websvc blocklists update`"),
];

/// The summary of a migration.
struct Summary {
    report: MigrationReport,
    data_dir: DataDir,
    target: DatabaseServer,
    elapsed: Duration,
}

impl Summary {
    fn print(&self, as_json: bool) -> Result<()> {
        if as_json { output::json(&self.to_json()) } else { self.print_text() }
    }

    fn to_json(&self) -> Value {
        let table = |table: &TableReport| {
            let TableReport { table, rows, sha256, texts_with_nul } = table;
            json!({ "table": table, "rows": rows, "sha256": sha256, "textsWithNul": texts_with_nul })
        };
        let not_copied: Vec<&str> = self.not_copied().map(|(name, _)| *name).collect();
        json!({
            "database": self.target.url.location().display().to_string(),
            "tables": self.report.tables.iter().map(table).collect::<Vec<_>>(),
            "notCopied": not_copied,
            "elapsedMs": u64::try_from(self.elapsed.as_millis()).unwrap_or(u64::MAX),
        })
    }

    fn print_text(&self) -> Result<()> {
        let tables = &self.report.tables;
        let mut list = Table::new(&["TABLE", "ROWS", "SHA-256"]);
        for TableReport { table, rows, sha256, .. } in tables {
            list.row(&[table, &rows.to_string(), &sha256[..16]]);
        }
        list.print()?;
        let rows: u64 = tables.iter().map(|table| table.rows).sum();
        let file = self.data_dir.path().join(Store::FILE_NAME);
        let (file, url) = (file.display(), self.target.url.location().display());
        output::line(&format!(
            "{} copied from {file} to {url} and verified in {:.1} s",
            counted(rows, "row", "rows"),
            self.elapsed.as_secs_f64()
        ))?;
        for TableReport { table, texts_with_nul, .. } in
            tables.iter().filter(|table| table.texts_with_nul > 0)
        {
            output::line(&format!(
                "{texts_with_nul} text(s) in {table} contained NUL characters, which PostgreSQL cannot store: \
                 they are U+FFFD now"
            ))?;
        }
        self.print_next_steps()
    }

    fn print_next_steps(&self) -> Result<()> {
        for (name, advice) in self.not_copied() {
            output::line(&format!("not copied: {name}/, {advice}"))?;
        }
        output::line(&format!(
            "next: set store.url (or WEBSVC__STORE__URL) and start the service; {} is not used then",
            Store::FILE_NAME
        ))
    }

    /// Returns the data of the directory that are not in its database.
    fn not_copied(&self) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
        OTHER_DATA.iter().filter(|(name, _)| self.data_dir.path().join(name).exists())
    }
}
