//! Threat protection values of teams (spec section 2.3), as JSON like `threatProtection` in a request.

use std::sync::Arc;

use crate::access::read_threat_values;
use crate::database::Durability;
use crate::error::StoreError;
use crate::sql::{self, Transaction, params};
use crate::store::Store;
use crate::team::{TeamChange, ThreatOverride, ThreatPolicy, check_team_name};
use crate::team_change::{create_if_absent, write_team};

impl Store {
    /// Returns the values of a team as JSON; `None` if it has none. Blocks while all connections are in use.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn threat_values(&self, team: &str) -> Result<Option<String>, StoreError> {
        self.database().read(|connection| read_threat_values(connection, team))
    }

    /// Returns the values of a team as of at most [`ACCESS_REFRESH`](crate::ACCESS_REFRESH) ago. They are cached in
    /// memory, so this does not wait for a connection and may be called on an async thread.
    ///
    /// # Errors
    /// Failures of the database; then the caller must reject the request.
    pub fn recent_threat_values(&self, team: &str) -> Result<Option<Arc<str>>, StoreError> {
        self.access().threat_values(team).map_err(|error| self.database().error(error))
    }

    /// Sets the values of a team, and creates the team if it does not exist; `None` deletes the values.
    ///
    /// # Errors
    /// [`StoreError::InvalidName`] as for [`Store::set_team`]; otherwise failures of the database, also if the text is
    /// not JSON.
    pub fn set_threat_values(&self, team: &str, json: Option<&str>) -> Result<(), StoreError> {
        check_team_name(team)?;
        self.database().write(Durability::Power, |transaction| {
            create_if_absent(transaction, team)?;
            write_values(transaction, team, json)
        })?;
        self.access().invalidate();
        Ok(())
    }

    /// Sets the policies and the values of a team together, and creates the team if it does not exist.
    ///
    /// # Errors
    /// The same as [`Store::set_threat_values`].
    pub fn set_threat_protection(
        &self,
        team: &str,
        protection: ThreatPolicy,
        overrides: ThreatOverride,
        json: Option<&str>,
    ) -> Result<(), StoreError> {
        check_team_name(team)?;
        let change = TeamChange {
            threat_protection: Some(protection),
            threat_override: Some(overrides),
            ..TeamChange::default()
        };
        self.database().write(Durability::Power, |transaction| {
            write_team(transaction, team, &change)?;
            write_values(transaction, team, json)
        })?;
        self.access().invalidate();
        Ok(())
    }
}

fn write_values(transaction: &Transaction<'_>, team: &str, json: Option<&str>) -> sql::Result<()> {
    match json {
        Some(json) => transaction.execute(
            "INSERT INTO threat_values (team, value) VALUES (?1, ?2) \
             ON CONFLICT (team) DO UPDATE SET value = excluded.value",
            params![team, json],
        )?,
        None => transaction.execute("DELETE FROM threat_values WHERE team = ?1", params![team])?,
    };
    Ok(())
}
