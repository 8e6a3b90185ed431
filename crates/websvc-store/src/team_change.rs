//! Reads, changes and deletes teams.

use crate::database::Durability;
use crate::error::StoreError;
use crate::ledger;
use crate::page_owner::{PageOwner, next_owner};
use crate::page_snapshot::disown_snapshots;
use crate::sql::postgres::StatementClass;
use crate::sql::{self, Transaction, params};
use crate::store::Store;
use crate::team::{
    DEFAULT_TEAM, IndexPolicy, SELECT_ALL, SELECT_ONE, Team, TeamChange, check_team_name, team_from_row,
};

impl Store {
    /// Creates the team if it does not exist, applies `change`, and returns the changed team.
    ///
    /// # Errors
    /// [`StoreError::InvalidName`] if the name is empty, is longer than 128 characters, contains control characters, or
    /// begins or ends with white space; otherwise failures of the database.
    pub fn set_team(&self, name: &str, change: &TeamChange) -> Result<Team, StoreError> {
        check_team_name(name)?;
        let team =
            self.database().write(Durability::Power, |transaction| write_team(transaction, name, change))?;
        self.access().invalidate();
        self.ledger().invalidate(self.database());
        Ok(team)
    }

    /// Deletes a team with its keys, browser profiles, threat protection values and private cached pages. Its artifacts
    /// can no longer be read. Returns false if there is no such team. When this returns, this process no longer accepts
    /// its keys.
    ///
    /// # Errors
    /// [`StoreError::TeamNeeded`] for the team `default`; otherwise failures of the database.
    pub fn delete_team(&self, name: &str) -> Result<bool, StoreError> {
        let _class = StatementClass::Background.enter();
        if name == DEFAULT_TEAM {
            return Err(StoreError::TeamNeeded { team: name.to_owned() });
        }
        let deleted = self.database().write(Durability::Power, |transaction| {
            transaction.execute("DELETE FROM keys WHERE team = ?1", params![name])?;
            transaction.execute("DELETE FROM profiles WHERE team = ?1", params![name])?;
            transaction.execute("DELETE FROM threat_values WHERE team = ?1", params![name])?;
            disown_snapshots(transaction, name)?;
            transaction.execute("UPDATE artifacts SET state = 'leaving' WHERE team = ?1", params![name])?;
            transaction.execute("DELETE FROM teams WHERE name = ?1", params![name])
        })?;
        self.access().invalidate();
        // After the team, in small transactions: without the team no request can read the pages.
        self.purge_ownerless()?;
        Ok(deleted == 1)
    }

    /// Returns the team with this name.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn team(&self, name: &str) -> Result<Option<Team>, StoreError> {
        self.database().read(|connection| connection.query_optional(SELECT_ONE, params![name], team_from_row))
    }

    /// Returns all teams, sorted by name.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn list_teams(&self) -> Result<Vec<Team>, StoreError> {
        self.database().read(|connection| connection.query(SELECT_ALL, params![], team_from_row))
    }
}

/// Creates a team with the default policies if it does not exist.
pub(crate) fn create_if_absent(transaction: &Transaction<'_>, name: &str) -> sql::Result<()> {
    transaction
        .execute(
            "INSERT INTO teams (name, created_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            params![name, transaction.now_ms()],
        )
        .map(|_| ())
}

/// Creates the team if it does not exist, applies `change`, and returns the changed team.
pub(crate) fn write_team(
    transaction: &Transaction<'_>,
    name: &str,
    change: &TeamChange,
) -> sql::Result<Team> {
    create_if_absent(transaction, name)?;
    let mut team = transaction.query_row(SELECT_ONE, params![name], team_from_row)?;
    change.apply(&mut team);
    if team.index == IndexPolicy::Team && team.page_owner.is_none() {
        team.page_owner = next_owner(transaction)?;
    }
    update(transaction, &team)?;
    if let Some(credits) = change.credits {
        ledger::grant(transaction, name, credits)?;
    }
    Ok(team)
}

fn update(transaction: &Transaction<'_>, team: &Team) -> sql::Result<()> {
    let sql = "UPDATE teams SET zdr = ?2, anon = ?3, threat_protection = ?4, threat_override = ?5, credits = ?6, \
               requests_per_minute = ?7, concurrency = ?8, audit = ?9, index_policy = ?10, page_owner = ?11, \
               robots_agent = ?12 WHERE name = ?1";
    let Team {
        name,
        zdr,
        anon,
        threat_protection,
        threat_override,
        credits,
        requests_per_minute,
        concurrency,
        audit,
        index,
        robots_agent,
        page_owner,
        created_at_ms: _,
    } = team;
    let changed = transaction.execute(
        sql,
        params![
            name,
            zdr.as_str(),
            anon.as_str(),
            threat_protection.as_str(),
            threat_override.as_str(),
            // SQLite's integers are signed; larger values are stored as the maximum.
            credits.map(|credits| credits.min(i64::MAX as u64)),
            requests_per_minute,
            concurrency,
            audit,
            index.as_str(),
            page_owner.map(PageOwner::number),
            robots_agent.as_str(),
        ],
    )?;
    debug_assert_eq!(changed, 1, "the team was created in this transaction");
    Ok(())
}
