//! The callers of requests, by the secrets that they send.

use crate::access::{Caller, KeyLookup, ProvenIdentity};
use crate::database::Durability;
use crate::error::StoreError;
use crate::static_keys::StaticKeys;
use crate::store::Store;
use crate::team::DEFAULT_TEAM;
use crate::team_change::create_if_absent;

impl Store {
    /// Returns the caller with this secret; `None` if no valid key has it.
    ///
    /// Takes about a microsecond for a cached key. For others it reads the database: from a file within microseconds, from
    /// a server with a wait for its response, so there [`try_authenticate`](Self::try_authenticate) comes first on an
    /// async thread.
    ///
    /// # Errors
    /// Failures of the database; then the request must be rejected.
    pub fn authenticate(&self, secret: &str) -> Result<Option<Caller>, StoreError> {
        match self.access().find(secret, true).map_err(|error| self.database().error(error))? {
            KeyLookup::Known(caller) => Ok(caller.map(|caller| *caller)),
            // The database was read, so the key is not valid.
            KeyLookup::Unknown => Ok(None),
        }
    }

    /// Does the same without waiting for the network: returns [`KeyLookup::Unknown`] if the database is on a server and
    /// only [`authenticate`](Self::authenticate) can decide.
    ///
    /// # Errors
    /// As for [`authenticate`](Self::authenticate).
    pub fn try_authenticate(&self, secret: &str) -> Result<KeyLookup, StoreError> {
        let may_read = !self.is_shared();
        self.access().find(secret, may_read).map_err(|error| self.database().error(error))
    }

    /// Returns the caller with an identity that a token proves; `None` if its team does not exist. Waits as
    /// [`authenticate`](Self::authenticate) does.
    ///
    /// # Errors
    /// Failures of the database; then the request must be rejected.
    pub fn authenticate_identity(&self, identity: &ProvenIdentity) -> Result<Option<Caller>, StoreError> {
        match self.access().find_identity(identity, true).map_err(|error| self.database().error(error))? {
            KeyLookup::Known(caller) => Ok(caller.map(|caller| *caller)),
            // The database was read, so there is no such team.
            KeyLookup::Unknown => Ok(None),
        }
    }

    /// Does the same without waiting for the network: returns [`KeyLookup::Unknown`] if the database is on a server and
    /// only [`authenticate_identity`](Self::authenticate_identity) can decide.
    ///
    /// # Errors
    /// As for [`authenticate_identity`](Self::authenticate_identity).
    pub fn try_authenticate_identity(&self, identity: &ProvenIdentity) -> Result<KeyLookup, StoreError> {
        let may_read = !self.is_shared();
        self.access().find_identity(identity, may_read).map_err(|error| self.database().error(error))
    }

    /// Makes these keys valid while this store is open, instead of those of an earlier call. The ordinary key belongs to
    /// team `default`. They are not listed and cannot be revoked.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn use_static_keys(&self, keys: StaticKeys) -> Result<(), StoreError> {
        if keys.has_key() || keys.has_admin_key() {
            self.database()
                .write(Durability::Process, |transaction| create_if_absent(transaction, DEFAULT_TEAM))?;
        }
        self.access().set_static_keys(keys);
        Ok(())
    }
}
