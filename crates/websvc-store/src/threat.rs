//! A team's own values of threat protection (spec section 2.3), as the JSON of a request's `threatProtection`.

use rusqlite::{OptionalExtension, params};

use crate::database::Durability;
use crate::error::StoreError;
use crate::store::Store;
use crate::team::{check_team_name, create_if_absent};

impl Store {
    /// Returns the values of a team as JSON; `None` when it has none. One lookup in an index, so it may be called on an
    /// async thread.
    ///
    /// # Errors
    /// Failures of the database; the caller must then refuse the request.
    pub fn threat_values(&self, team: &str) -> Result<Option<String>, StoreError> {
        self.database().read(|connection| {
            let sql = "SELECT value FROM threat_values WHERE team = ?1";
            connection.prepare_cached(sql)?.query_row([team], |row| row.get(0)).optional()
        })
    }

    /// Sets the values of a team, which is made when it does not exist; `None` takes them away.
    ///
    /// # Errors
    /// [`StoreError::InvalidName`] as of [`Store::set_team`]; otherwise failures of the database, among them that the text is
    /// no JSON.
    pub fn set_threat_values(&self, team: &str, json: Option<&str>) -> Result<(), StoreError> {
        check_team_name(team)?;
        self.database().write(Durability::Power, |transaction| {
            create_if_absent(transaction, team)?;
            match json {
                Some(json) => transaction.execute(
                    "INSERT INTO threat_values (team, value) VALUES (?1, ?2) \
                     ON CONFLICT DO UPDATE SET value = excluded.value",
                    params![team, json],
                ),
                None => transaction.execute("DELETE FROM threat_values WHERE team = ?1", [team]),
            }
        })?;
        self.access().forget();
        Ok(())
    }
}
