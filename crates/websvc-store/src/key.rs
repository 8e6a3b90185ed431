//! API keys: create, list, revoke.

use crate::database::Durability;
use crate::error::StoreError;
pub use crate::key_id::KeyId;
use crate::rights::{KeyRights, rights_columns, rights_from_row};
use crate::secret::{ApiSecret, KEY_PREFIX, SecretHash};
use crate::sql::{self, Row, Transaction, params};
use crate::store::Store;
use crate::team::{DEFAULT_TEAM, check_team_name, check_text};
use crate::team_change::create_if_absent;

/// Label of the key that is created at the first start.
const FIRST_KEY_LABEL: &str = "first key";

/// A new key, or a new invitation. Its secret is not stored and cannot be read again.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// Public identifier, for `keys list` and `keys revoke`.
    pub id: KeyId,
    /// The secret that the client sends.
    pub secret: ApiSecret,
}

/// A stored key, without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    /// Public identifier.
    pub id: KeyId,
    /// Team of the key.
    pub team: String,
    /// Label of the key; may be empty.
    pub label: String,
    /// Time of its creation, in milliseconds since the Unix epoch.
    pub created_at_ms: u64,
    /// Time of its last use, accurate to about a minute, in milliseconds since the Unix epoch.
    pub last_used_at_ms: Option<u64>,
    /// Time of its revocation, in milliseconds since the Unix epoch.
    pub revoked_at_ms: Option<u64>,
    /// Time until which its [invitation](Store::create_invitation) can be redeemed, in milliseconds since the Unix epoch;
    /// `None` for a key.
    pub redeem_until_ms: Option<u64>,
    /// Rights of the key.
    pub rights: KeyRights,
}

/// The number of [`key_columns`].
pub(crate) const KEY_COLUMNS: usize = 14;

/// The columns that [`key_from_row`] reads, in its order.
macro_rules! key_columns {
    () => {
        concat!("id, team, label, created_at, last_used_at, revoked_at, redeem_until, ", rights_columns!())
    };
}
pub(crate) use key_columns;

impl Store {
    /// Creates a key for `team` with all rights except administration, and the team if it does not exist. The key
    /// survives a power failure.
    ///
    /// # Errors
    /// As for [`create_key_with`](Self::create_key_with).
    pub fn create_key(&self, team: &str, label: &str) -> Result<NewKey, StoreError> {
        self.create_key_with(team, label, &KeyRights::default())
    }

    /// Creates a key for `team` with these rights, and the team if it does not exist. The key survives a power failure.
    ///
    /// # Errors
    /// [`StoreError::InvalidName`] for an invalid team, label, format or network, [`StoreError::Random`]; otherwise
    /// failures of the database.
    pub fn create_key_with(&self, team: &str, label: &str, rights: &KeyRights) -> Result<NewKey, StoreError> {
        self.insert_key(KEY_PREFIX, team, label, rights, None)
    }

    /// Stores a key, or an invitation that can be redeemed until a time, with a new secret.
    pub(crate) fn insert_key(
        &self,
        prefix: &str,
        team: &str,
        label: &str,
        rights: &KeyRights,
        redeem_until_ms: Option<u64>,
    ) -> Result<NewKey, StoreError> {
        check_team_name(team)?;
        check_text("label", label)?;
        rights.check()?;
        loop {
            let secret = ApiSecret::random_with(prefix)?;
            let inserted = self.database().write(Durability::Power, |transaction| {
                insert(transaction, &secret, team, label, rights, redeem_until_ms)
            })?;
            if let Some(key) = inserted {
                return Ok(key);
            }
        }
    }

    /// Creates the team `default` with one key if the store never had a key, and returns that key.
    ///
    /// If all keys are revoked, no key is created: the operator revoked them on purpose.
    ///
    /// # Errors
    /// [`StoreError::Random`]; otherwise failures of the database.
    pub fn ensure_default_key(&self, rights: &KeyRights) -> Result<Option<NewKey>, StoreError> {
        let secret = ApiSecret::random()?;
        self.database().write(Durability::Power, |transaction| {
            create_if_absent(transaction, DEFAULT_TEAM)?;
            let has_keys: bool =
                transaction.query_row("SELECT EXISTS (SELECT 1 FROM keys)", params![], |row| row.get(0))?;
            if has_keys {
                return Ok(None);
            }
            insert(transaction, &secret, DEFAULT_TEAM, FIRST_KEY_LABEL, rights, None)
        })
    }

    /// Returns all keys and invitations, including revoked ones, sorted by team and age.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn list_keys(&self) -> Result<Vec<KeyRecord>, StoreError> {
        let sql = concat!("SELECT ", key_columns!(), " FROM keys ORDER BY team, created_at, id");
        self.database().read(|connection| connection.query(sql, params![], key_from_row))
    }

    /// Revokes the key or the invitation with this id. When this returns, this process no longer accepts the key; other processes reject
    /// it within [`ACCESS_REFRESH`](crate::ACCESS_REFRESH). The revocation survives a power failure.
    ///
    /// # Errors
    /// [`StoreError::UnknownKey`], [`StoreError::AlreadyRevoked`]; otherwise failures of the database.
    pub fn revoke_key(&self, id: &str) -> Result<KeyRecord, StoreError> {
        let outcome = self.database().write(Durability::Power, |transaction| revoke(transaction, id))?;
        match outcome {
            RevokeOutcome::Revoked(record) => {
                self.access().invalidate();
                Ok(*record)
            }
            RevokeOutcome::NotFound => Err(StoreError::UnknownKey { id: id.to_owned() }),
            RevokeOutcome::AlreadyRevoked { revoked_at_ms } => {
                Err(StoreError::AlreadyRevoked { id: id.to_owned(), revoked_at_ms })
            }
        }
    }
}

/// Outcome of [`revoke`].
pub(crate) enum RevokeOutcome {
    Revoked(Box<KeyRecord>),
    NotFound,
    AlreadyRevoked { revoked_at_ms: u64 },
}

/// Revokes a key or an invitation.
pub(crate) fn revoke(transaction: &Transaction<'_>, id: &str) -> sql::Result<RevokeOutcome> {
    let sql = concat!("SELECT ", key_columns!(), " FROM keys WHERE id = ?1");
    let Some(mut record) = transaction.query_optional(sql, params![id], key_from_row)? else {
        return Ok(RevokeOutcome::NotFound);
    };
    if let Some(revoked_at_ms) = record.revoked_at_ms {
        return Ok(RevokeOutcome::AlreadyRevoked { revoked_at_ms });
    }
    let now = transaction.now_ms();
    transaction.execute("UPDATE keys SET revoked_at = ?2 WHERE id = ?1", params![id, now])?;
    record.revoked_at_ms = Some(now);
    Ok(RevokeOutcome::Revoked(Box::new(record)))
}

/// Stores a key; `None` if its id is taken, which happens about once in 2^48 pairs of keys.
pub(crate) fn insert(
    transaction: &Transaction<'_>,
    secret: &ApiSecret,
    team: &str,
    label: &str,
    rights: &KeyRights,
    redeem_until_ms: Option<u64>,
) -> sql::Result<Option<NewKey>> {
    create_if_absent(transaction, team)?;
    let hash = SecretHash::from_secret(secret.expose());
    let id = hash.id();
    let inserted = transaction.execute(
        concat!(
            "INSERT INTO keys (id, hash, team, label, created_at, redeem_until, ",
            rights_columns!(),
            ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) ON CONFLICT (id) DO NOTHING"
        ),
        params![
            id,
            hash.as_bytes(),
            team,
            label,
            transaction.now_ms(),
            redeem_until_ms,
            rights.admin,
            rights.scopes_as_stored(),
            rights.formats_as_stored(),
            rights.networks_as_stored(),
            // SQLite's integers are signed; larger values are stored as the maximum.
            rights.expires_at_ms.map(|at| at.min(i64::MAX as u64)),
            rights.requests_per_minute,
            rights.concurrency,
        ],
    )?;
    Ok((inserted == 1).then(|| NewKey { id: KeyId::new(id), secret: secret.clone() }))
}

/// Reads the columns of [`key_columns`].
pub(crate) fn key_from_row(row: &Row<'_>) -> sql::Result<KeyRecord> {
    Ok(KeyRecord {
        id: KeyId::new(row.get::<String>(0)?),
        team: row.get(1)?,
        label: row.get(2)?,
        created_at_ms: row.get(3)?,
        last_used_at_ms: row.get(4)?,
        revoked_at_ms: row.get(5)?,
        redeem_until_ms: row.get(6)?,
        rights: rights_from_row(row, 7)?,
    })
}
