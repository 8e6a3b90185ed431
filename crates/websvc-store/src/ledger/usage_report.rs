//! Usage reports for teams and operators.

use super::Ledger;
use super::grant::{self, Budget};
use super::usage::{DAY_MS, UsageItem, UsageStage};
use crate::database::Database;
use crate::error::StoreError;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use jiff::SignedDuration;
use jiff::civil::Date;

use crate::sql::{self, Row, params};
use crate::store::Store;

/// A filter for daily sums; `None` matches all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UsageFilter<'a> {
    /// Only those of this team.
    pub team: Option<&'a str>,
    /// Only those of the last `days` days, including today.
    pub days: Option<u32>,
}

/// Usage of a team on one day, by key and operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DailyUsage {
    /// The UTC day, such as `2026-11-21`.
    pub day: String,
    /// The team.
    pub team: String,
    /// Identifier of the key; `None` for requests without a key, anonymous requests and recovered charges.
    pub key: Option<String>,
    /// Operation of the requests.
    pub operation: String,
    /// Number of requests.
    pub requests: u64,
    /// Number of failed requests.
    pub failed: u64,
    /// Credits of the requests.
    pub credits: u64,
}

/// Usage of a team in one month.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonthlyUsage {
    /// Start of the month, UTC, ISO 8601.
    pub start: String,
    /// End of the month; `None` for the current month.
    pub end: Option<String>,
    /// The key, in a report by key.
    pub key: Option<String>,
    /// Credits of the requests.
    pub credits: u64,
}

/// A request in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedRequest {
    /// Number in the log; newer requests have higher numbers.
    pub id: i64,
    /// Time of the response, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// The team; `None` for an anonymous request.
    pub team: Option<String>,
    /// Identifier of the key.
    pub key: Option<String>,
    /// Identifier of the request.
    pub request: Option<String>,
    /// Operation of the request.
    pub operation: String,
    /// HTTP status of the response.
    pub status: u16,
    /// Duration of the request, in microseconds.
    pub elapsed_us: u64,
    /// Credits charged.
    pub credits: u64,
    /// Credits beyond the charge that the budget did not cover.
    pub forgiven: u64,
    /// Cost by item.
    pub items: Vec<UsageItem>,
    /// Durations of the stages.
    pub stages: Vec<UsageStage>,
    /// Query of a search, or URL.
    pub query: Option<String>,
}

impl Store {
    /// Returns the current budget of a team; `None` if it is unlimited.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn budget(&self, team: &str) -> Result<Option<Budget>, StoreError> {
        self.ledger().sync_database(self.database())?;
        // One statement, so that all tables are read in the same state.
        self.database().read(|connection| grant::budget(connection, team))
    }

    /// Returns the usage by day, team, key and operation, the newest day first.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn usage_by_day(&self, filter: UsageFilter<'_>) -> Result<Vec<DailyUsage>, StoreError> {
        self.ledger().sync_database(self.database())?;
        let UsageFilter { team, days } = filter;
        let after = days.map_or(i64::MIN, |days| self.today() - i64::from(days));
        let sql = "SELECT day, team, key, operation, requests, failed, credits \
                   FROM usage_daily WHERE (team = ?1 OR ?1 IS NULL) AND day > ?2 \
                   ORDER BY day DESC, team, key, operation";
        self.database().read(|connection| connection.query(sql, params![team, after], daily_from_row))
    }

    /// Returns the usage of a team by month, the oldest first.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn usage_by_month(&self, team: &str) -> Result<Vec<MonthlyUsage>, StoreError> {
        self.by_month(team, MonthGroup::All)
    }

    /// Returns the usage of a team by month and key, the oldest month first.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn usage_by_month_and_key(&self, team: &str) -> Result<Vec<MonthlyUsage>, StoreError> {
        self.by_month(team, MonthGroup::Key)
    }

    /// Returns the current UTC day, counted from 1970-01-01.
    fn today(&self) -> i64 {
        i64::try_from(self.now_ms() / DAY_MS).unwrap_or(i64::MAX)
    }

    fn by_month(&self, team: &str, group: MonthGroup) -> Result<Vec<MonthlyUsage>, StoreError> {
        self.ledger().sync_database(self.database())?;
        let sql = match group {
            MonthGroup::All => {
                "SELECT day, '', CAST(sum(credits) AS BIGINT) FROM usage_daily WHERE team = ?1 GROUP BY day"
            }
            MonthGroup::Key => {
                "SELECT day, key, CAST(sum(credits) AS BIGINT) FROM usage_daily WHERE team = ?1 GROUP BY day, key"
            }
        };
        let mut months: BTreeMap<(Date, Option<String>), u64> = BTreeMap::new();
        // The days are added up one by one: a team with many keys has many rows.
        self.database().read(|connection| {
            connection.for_each(sql, params![team], |row| {
                let key = row.get::<Option<String>>(1)?.filter(|key| !key.is_empty());
                let sum = months.entry((date(row.get(0)?).first_of_month(), key)).or_default();
                *sum = sum.saturating_add(row.get(2)?);
                Ok(ControlFlow::Continue(()))
            })
        })?;
        let this_month = date(self.today()).first_of_month();
        let to_usage = |((start, key), credits): ((Date, Option<String>), u64)| {
            let end = (start < this_month)
                .then(|| midnight(start.last_of_month().saturating_add(SignedDuration::from_hours(24))));
            MonthlyUsage { start: midnight(start), end, key, credits }
        };
        Ok(months.into_iter().map(to_usage).collect())
    }

    /// Returns the last requests whose content may be stored, of one team or of all, the newest first. With `before`,
    /// returns those with lower numbers in the log.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn recent_requests(
        &self,
        team: Option<&str>,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<LoggedRequest>, StoreError> {
        self.ledger().sync_database(self.database())?;
        let sql = "SELECT id, at, team, key, request, operation, status, took_us, credits, forgiven, items, \
                   stages, query FROM usage_log WHERE retention = 'whole' AND (team = ?1 OR ?1 IS NULL) \
                   AND (id < ?2 OR ?2 IS NULL) ORDER BY id DESC LIMIT ?3";
        self.database()
            .read(|connection| connection.query(sql, params![team, before, limit], logged_from_row))
    }

    /// Returns the time of the last successful request of a team, in milliseconds since the Unix epoch.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn last_success_ms(&self, team: &str) -> Result<Option<u64>, StoreError> {
        self.ledger().sync_database(self.database())?;
        let sql = "SELECT max(last_success_at) FROM usage_daily WHERE team = ?1";
        self.database().read(|connection| connection.query_row(sql, params![team], |row| row.get(0)))
    }
}

impl Ledger {
    /// Brings the database up to date: recovers the charges of dead processes, and flushes the usage in memory.
    fn sync_database(&self, database: &Database) -> Result<(), StoreError> {
        self.recover(database)?;
        self.flush(database)
    }
}

/// The rows of a report by month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MonthGroup {
    /// One per month.
    All,
    /// One per month and key.
    Key,
}

/// Returns the date of a day, counted from 1970-01-01.
fn date(day: i64) -> Date {
    const EPOCH: Date = jiff::civil::date(1970, 1, 1);
    EPOCH.saturating_add(SignedDuration::from_secs(day.saturating_mul(86_400)))
}

fn midnight(date: Date) -> String {
    format!("{date}T00:00:00Z")
}

fn daily_from_row(row: &Row<'_>) -> sql::Result<DailyUsage> {
    Ok(DailyUsage {
        day: date(row.get(0)?).to_string(),
        team: row.get(1)?,
        key: row.get::<Option<String>>(2)?.filter(|key| !key.is_empty()),
        operation: row.get(3)?,
        requests: row.get(4)?,
        failed: row.get(5)?,
        credits: row.get(6)?,
    })
}

fn logged_from_row(row: &Row<'_>) -> sql::Result<LoggedRequest> {
    let items: Vec<(String, u64, u64)> = from_json(row, 10)?;
    let stages: Vec<(String, u64)> = from_json(row, 11)?;
    Ok(LoggedRequest {
        id: row.get(0)?,
        at_ms: row.get(1)?,
        team: row.get(2)?,
        key: row.get(3)?,
        request: row.get(4)?,
        operation: row.get(5)?,
        status: row.get(6)?,
        elapsed_us: row.get(7)?,
        credits: row.get(8)?,
        forgiven: row.get(9)?,
        items: items.into_iter().map(|(item, count, credits)| UsageItem { item, count, credits }).collect(),
        stages: stages
            .into_iter()
            .map(|(stage, us)| UsageStage { stage, elapsed: std::time::Duration::from_micros(us) })
            .collect(),
        query: row.get(12)?,
    })
}

fn from_json<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: usize) -> sql::Result<T> {
    row.parse(column, |text| serde_json::from_str(text))
}
