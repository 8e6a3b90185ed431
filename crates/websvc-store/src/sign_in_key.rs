//! Keys of users whom an identity provider has authenticated: one for each session of the dashboard.
//!
//! A session stands for a key, so the user of a provider gets one. It is listed, audited and revoked like any other, and is
//! deleted when the user signs out, or when one is created after it has expired.

use crate::database::Durability;
use crate::error::StoreError;
use crate::key::{NewKey, insert};
use crate::rights::KeyRights;
use crate::secret::{ApiSecret, SecretHash};
use crate::sql::{self, Transaction, params};
use crate::store::Store;
use crate::team::{check_team_name, check_text};

/// Maximum number of keys of sessions. Beyond that, the one that expires first is deleted.
pub const MAX_SIGN_IN_KEYS: u64 = 1_000;

impl Store {
    /// Creates the key of a session, valid for `valid_ms` whatever the expiry in `rights`. `None` if the team does not exist:
    /// the claims of a token never create a team.
    ///
    /// # Errors
    /// [`StoreError::InvalidName`], [`StoreError::Random`]; otherwise failures of the database.
    pub fn create_sign_in_key(
        &self,
        team: &str,
        label: &str,
        rights: &KeyRights,
        valid_ms: u64,
    ) -> Result<Option<NewKey>, StoreError> {
        check_team_name(team)?;
        check_text("label", label)?;
        rights.check()?;
        loop {
            let secret = ApiSecret::random()?;
            let created = self.database().write(Durability::Process, |transaction| {
                if !has_team(transaction, team)? {
                    return Ok(None);
                }
                delete_expired(transaction)?;
                let valid_until_ms = transaction.now_ms() + valid_ms;
                let rights = KeyRights { expires_at_ms: Some(valid_until_ms), ..rights.clone() };
                let Some(key) = insert(transaction, &secret, team, label, &rights, None)? else {
                    return Ok(Some(None));
                };
                let sql = "INSERT INTO sign_in_keys (key, valid_until) VALUES (?1, ?2)";
                transaction.execute(sql, params![key.id.as_str(), valid_until_ms])?;
                Ok(Some(Some(key)))
            })?;
            match created {
                Some(Some(key)) => return Ok(Some(key)),
                // The id is taken.
                Some(None) => {}
                None => return Ok(None),
            }
        }
    }

    /// Deletes the key of a session. Returns whether the secret was that of such a key.
    ///
    /// # Errors
    /// Failures of the database; then the key may still be valid.
    pub fn delete_sign_in_key(&self, secret: &str) -> Result<bool, StoreError> {
        let hash = SecretHash::from_secret(secret);
        let deleted = self.database().write(Durability::Power, |transaction| {
            let sql = "DELETE FROM keys WHERE id = ?1 AND hash = ?2 AND id IN (SELECT key FROM sign_in_keys)";
            transaction.execute(sql, params![hash.id(), hash.as_bytes()])
        })?;
        self.access().invalidate();
        Ok(deleted == 1)
    }
}

fn has_team(transaction: &Transaction<'_>, team: &str) -> sql::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM teams WHERE name = ?1)";
    transaction.query_row(sql, params![team], |row| row.get(0))
}

/// Deletes the keys that have expired, and of the others so many that there is room for one more.
fn delete_expired(transaction: &Transaction<'_>) -> sql::Result<()> {
    let sql = "DELETE FROM keys WHERE id IN (SELECT key FROM sign_in_keys WHERE valid_until <= ?1)";
    transaction.execute(sql, params![transaction.now_ms()])?;
    let sql = "DELETE FROM keys WHERE id IN ( \
                   SELECT key FROM sign_in_keys ORDER BY valid_until, key LIMIT ( \
                       SELECT CASE WHEN count(*) >= ?1 THEN count(*) - ?1 + 1 ELSE 0 END FROM sign_in_keys))";
    transaction.execute(sql, params![MAX_SIGN_IN_KEYS]).map(drop)
}
