//! Invitations: the holder of one redeems it once for a key, whose rights were chosen before.
//!
//! An invitation is the row of its key, with the hash of the invitation instead of that of a secret. So a team deletes its
//! invitations with its keys, and they are listed and revoked like keys. To redeem one replaces the hash.

use crate::database::Durability;
use crate::error::StoreError;
use crate::key::{KEY_COLUMNS, KeyId, KeyRecord, NewKey, key_columns, key_from_row};
use crate::rights::{KeyRights, rights_columns};
use crate::secret::{ApiSecret, INVITATION_PREFIX, SecretHash};
use crate::sql::{self, Connection, Transaction, params};
use crate::store::Store;

/// Maximum time for which an invitation can be redeemed.
pub const MAX_INVITATION_MS: u64 = 90 * 86_400_000;

impl Store {
    /// Creates an invitation to a key of `team` with these rights, and the team if it does not exist. It can be redeemed
    /// until `redeem_until_ms` (milliseconds since the Unix epoch), and survives a power failure.
    ///
    /// # Errors
    /// [`StoreError::InvalidInvitation`] if the key would administer, or the time is not within the next 90 days;
    /// otherwise as for [`create_key_with`](Self::create_key_with).
    pub fn create_invitation(
        &self,
        team: &str,
        label: &str,
        rights: &KeyRights,
        redeem_until_ms: u64,
    ) -> Result<NewKey, StoreError> {
        let now_ms = self.now_ms();
        let rule = if rights.admin {
            "an invitation cannot give the right to administer, create an admin key instead"
        } else if redeem_until_ms <= now_ms {
            "the time until which it can be redeemed is not in the future"
        } else if redeem_until_ms > now_ms + MAX_INVITATION_MS {
            "the time until which it can be redeemed is more than 90 days away"
        } else {
            return self.insert_key(INVITATION_PREFIX, team, label, rights, Some(redeem_until_ms));
        };
        Err(StoreError::InvalidInvitation { rule })
    }

    /// Redeems an invitation: returns its key with the secret of it. `None` if no invitation has this text, or it was
    /// redeemed, was revoked or has expired, or its key has. Of several attempts at the same time, one succeeds. The key
    /// survives a power failure.
    ///
    /// # Errors
    /// [`StoreError::Random`]; otherwise failures of the database, after which the invitation can still be redeemed.
    pub fn redeem_invitation(&self, invitation: &str) -> Result<Option<(ApiSecret, KeyRecord)>, StoreError> {
        if invitation.len() > MAX_TEXT_BYTES {
            return Ok(None);
        }
        let hash = SecretHash::from_secret(invitation);
        // Most texts that are sent are wrong if any are. They take no lock.
        let now_ms = self.now_ms();
        if self.database().read(|connection| find(connection, &hash, now_ms))?.is_none() {
            return Ok(None);
        }
        let secret = ApiSecret::random()?;
        let redeemed = self.database().write(Durability::Power, |transaction| {
            redeem(transaction, &hash, &SecretHash::from_secret(secret.expose()))
        })?;
        Ok(redeemed.map(|record| (secret, record)))
    }
}

/// Maximum length of a text that may be an invitation.
const MAX_TEXT_BYTES: usize = 64;

/// Returns the invitation with this hash, if it can be redeemed.
fn find(connection: &Connection, hash: &SecretHash, now_ms: u64) -> sql::Result<Option<KeyRecord>> {
    let sql = concat!(
        "SELECT ",
        key_columns!(),
        ", hash FROM keys WHERE id = ?1 AND redeem_until > ?2 AND revoked_at IS NULL"
    );
    let found = connection.query_optional(sql, params![hash.id(), now_ms], |row| {
        Ok((key_from_row(row)?, SecretHash::from_bytes(row.get(KEY_COLUMNS)?)))
    })?;
    let is_valid =
        |record: &KeyRecord, stored: &SecretHash| stored.matches(hash) && !record.rights.has_expired(now_ms);
    Ok(found.filter(|(record, stored)| is_valid(record, stored)).map(|(record, _)| record))
}

fn redeem(
    transaction: &Transaction<'_>,
    invitation: &SecretHash,
    key: &SecretHash,
) -> sql::Result<Option<KeyRecord>> {
    let Some(record) = find(transaction, invitation, transaction.now_ms())? else { return Ok(None) };
    replace_secret(transaction, record.id.as_str(), key)?;
    Ok(Some(KeyRecord { id: KeyId::new(key.id()), redeem_until_ms: None, ..record }))
}

/// Gives a key another secret, and with it another id. An invitation becomes a key.
pub(crate) fn replace_secret(transaction: &Transaction<'_>, id: &str, new: &SecretHash) -> sql::Result<()> {
    let sql = "UPDATE keys SET id = ?2, hash = ?3, redeem_until = NULL WHERE id = ?1";
    transaction.execute(sql, params![id, new.id(), new.as_bytes()]).map(drop)
}
