//! Authentication: from the secret of a request to its caller, without touching the disk for a key seen before.
//!
//! Keys and teams are remembered in memory. The database counts every change to them (`access_version`, kept by
//! triggers), and one request per [`ACCESS_REFRESH`] reads that number; when another process changed something,
//! everything remembered is dropped. Reading one row costs a few microseconds, so nothing cleverer is needed.
//!
//! Only what exists is remembered: requests with unknown keys cannot grow the memory, they pay a read each.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension};

use crate::clock::now_ms;
use crate::database::{Database, Durability, lock};
use crate::error::StoreError;
use crate::key::KeyId;
use crate::rights::{KeyRights, rights_columns, rights_from_row};
use crate::secret::{MAX_SECRET_BYTES, MIN_SECRET_BYTES, SecretHash, is_placeholder};
use crate::store::Store;
use crate::team::{DEFAULT_TEAM, SELECT_ONE, Team, create_if_absent, team_from_row};
use crate::threat::read_values;

/// The longest time that a change made by another process stays unseen.
pub const ACCESS_REFRESH: Duration = Duration::from_millis(250);

/// The id of callers whose key came from the configuration.
const STATIC_KEY_ID: &str = "static";
/// The same of the key that administers.
const STATIC_ADMIN_ID: &str = "static-admin";
/// A key that opens everything is longer than one that opens a part.
const MIN_ADMIN_SECRET_BYTES: usize = 16;

/// The times of use closer together than this are one: it keeps threads from fighting over the memory of a busy key.
const USE_RESOLUTION_MS: u64 = 1000;

/// Sender of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The key; `static` when it came from the configuration.
    pub key_id: KeyId,
    /// The team of the key, as of at most [`ACCESS_REFRESH`] ago.
    pub team: Arc<Team>,
    /// Rights of the key, as of the same time.
    pub rights: Arc<KeyRights>,
}

impl Store {
    /// Returns the caller with this secret, or `None` when no valid key has it.
    ///
    /// Takes about a microsecond for a key used before, so it may be called on an async thread.
    ///
    /// # Errors
    /// Failures of the database; the caller must then refuse the request.
    pub fn authenticate(&self, secret: &str) -> Result<Option<Caller>, StoreError> {
        self.access().authenticate(secret, self.database())
    }

    /// Makes `secret` a valid key of team `default` for as long as this store is open. Only its hash is kept, in
    /// memory. It is in no list and cannot be revoked.
    ///
    /// # Errors
    /// [`StoreError::InvalidStaticKey`] when it is empty, shorter than 8 or longer than 256 bytes, a placeholder, or could not be sent as a bearer
    /// token (visible ASCII only); otherwise failures of the database.
    pub fn static_key(&self, secret: &str) -> Result<(), StoreError> {
        self.add_static_key(secret, false)
    }

    /// The same for a key that administers too.
    ///
    /// # Errors
    /// As for [`static_key`](Self::static_key), and [`StoreError::InvalidStaticKey`] when it is shorter than 16 bytes or
    /// already a static key.
    pub fn static_admin_key(&self, secret: &str) -> Result<(), StoreError> {
        self.add_static_key(secret, true)
    }

    fn add_static_key(&self, secret: &str, admin: bool) -> Result<(), StoreError> {
        let hash = SecretHash::of(secret);
        let rule = if secret.is_empty() {
            Some("it is empty")
        } else if secret.len() > MAX_SECRET_BYTES {
            Some("it is longer than 256 bytes")
        } else if !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
            Some("it has characters that cannot be sent in a bearer token")
        } else if secret.len() < MIN_SECRET_BYTES {
            Some("it is shorter than 8 bytes")
        } else if is_placeholder(secret) {
            Some("it is the placeholder of an example")
        } else if admin && secret.len() < MIN_ADMIN_SECRET_BYTES {
            Some("it is shorter than 16 bytes")
        } else if self.access().static_key(&hash).is_some() {
            Some("it is the same as the other one")
        } else {
            None
        };
        if let Some(rule) = rule {
            return Err(StoreError::InvalidStaticKey { rule });
        }
        self.database()
            .write(Durability::Process, |transaction| create_if_absent(transaction, DEFAULT_TEAM))?;
        write_lock(&self.access().static_keys).push(StaticKey { hash, admin });
        Ok(())
    }
}

/// Cached state of authentication.
#[derive(Debug)]
pub(crate) struct Access {
    started: Instant,
    started_ms: u64,
    /// When the version is to be read next, in milliseconds since `started`.
    next_check: AtomicU64,
    static_keys: RwLock<Vec<StaticKey>>,
    /// Rights of keys from the configuration.
    static_rights: Arc<KeyRights>,
    /// Rights of administrative keys from the configuration.
    admin_rights: Arc<KeyRights>,
    known: RwLock<CachedCaller>,
    /// Held by whoever changes `known`, from before the database is read: what is remembered is then never older than
    /// the version that was read last.
    source: Mutex<Source>,
}

/// A key from the configuration.
#[derive(Debug, Clone, Copy)]
struct StaticKey {
    hash: SecretHash,
    admin: bool,
}

#[derive(Debug, Default)]
struct CachedCaller {
    keys: HashMap<u64, Arc<CachedKey>>,
    teams: HashMap<String, Arc<Team>>,
    /// The values of threat protection of teams that were asked for; `None` for those that have none of their own.
    threat_values: HashMap<String, Option<Arc<str>>>,
}

#[derive(Debug)]
struct CachedKey {
    id: KeyId,
    hash: SecretHash,
    team: Arc<Team>,
    rights: Arc<KeyRights>,
    /// When it was last used, in milliseconds since the Unix epoch; 0 when that is already in the database.
    unsaved_use_ms: AtomicU64,
}

#[derive(Debug)]
struct Source {
    connection: Connection,
    version: Option<i64>,
    /// The uses of keys that are no longer remembered.
    unsaved_uses: Vec<KeyUse>,
}

/// That a key was used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyUse {
    pub(crate) key: KeyId,
    pub(crate) at_ms: u64,
}

impl Access {
    pub(crate) fn new(database: &Database) -> Result<Self, StoreError> {
        let source = Source { connection: database.reader()?, version: None, unsaved_uses: Vec::new() };
        Ok(Self {
            started: Instant::now(),
            started_ms: now_ms(),
            next_check: AtomicU64::new(0),
            static_keys: RwLock::default(),
            static_rights: Arc::default(),
            admin_rights: Arc::new(KeyRights { admin: true, ..KeyRights::default() }),
            known: RwLock::default(),
            source: Mutex::new(source),
        })
    }

    fn authenticate(&self, secret: &str, database: &Database) -> Result<Option<Caller>, StoreError> {
        if secret.is_empty() || secret.len() > MAX_SECRET_BYTES {
            return Ok(None);
        }
        let now = self.elapsed_ms();
        self.refresh(now).map_err(|error| database.error(error))?;
        let hash = SecretHash::of(secret);
        if let Some(StaticKey { admin, .. }) = self.static_key(&hash) {
            let (id, rights) = if admin {
                (STATIC_ADMIN_ID, &self.admin_rights)
            } else {
                (STATIC_KEY_ID, &self.static_rights)
            };
            let team = self.known_team(DEFAULT_TEAM).map_err(|error| database.error(error))?;
            return Ok(team.map(|team| Caller { key_id: KeyId::new(id), team, rights: Arc::clone(rights) }));
        }
        let remembered = read_lock(&self.known).keys.get(&hash.tag()).cloned();
        let key = match remembered {
            Some(key) => Some(key),
            None => self.load_key(&hash).map_err(|error| database.error(error))?,
        };
        let Some(key) = key.filter(|key| key.hash.matches(&hash)) else {
            return Ok(None);
        };
        // The wall clock, which the expiry was written by, and only where there is one.
        if key.rights.expires_at_ms.is_some() && key.rights.has_expired(now_ms()) {
            return Ok(None);
        }
        key.touch(self.started_ms.saturating_add(now));
        Ok(Some(Caller {
            key_id: key.id.clone(),
            team: Arc::clone(&key.team),
            rights: Arc::clone(&key.rights),
        }))
    }

    /// Returns the values of threat protection of a team.
    pub(crate) fn threat_values(&self, team: &str) -> rusqlite::Result<Option<Arc<str>>> {
        self.refresh(self.elapsed_ms())?;
        let remembered = read_lock(&self.known).threat_values.get(team).cloned();
        match remembered {
            Some(values) => Ok(values),
            None => lock(&self.source).load_threat_values(team, &self.known),
        }
    }

    /// Drops everything remembered, because this process changed a key or a team.
    pub(crate) fn invalidate(&self) {
        lock(&self.source).invalidate(&self.known);
    }

    /// Takes the uses that are not in the database yet.
    pub(crate) fn drain_key_uses(&self) -> Vec<KeyUse> {
        let mut uses = std::mem::take(&mut lock(&self.source).unsaved_uses);
        uses.extend(read_lock(&self.known).keys.values().filter_map(|key| key.take_use()));
        uses
    }

    /// Gives back uses that could not be written.
    pub(crate) fn return_uses(&self, uses: Vec<KeyUse>) {
        lock(&self.source).unsaved_uses.extend(uses);
    }

    /// Reads the version if it is time to; one thread does, the others go on with what was valid a moment ago.
    fn refresh(&self, now: u64) -> rusqlite::Result<()> {
        let due = self.next_check.load(Ordering::Acquire);
        let next = now.saturating_add(ACCESS_REFRESH.as_millis() as u64);
        if now < due
            || self.next_check.compare_exchange(due, next, Ordering::AcqRel, Ordering::Relaxed).is_err()
        {
            return Ok(());
        }
        let checked = lock(&self.source).check_version(&self.known);
        if checked.is_err() {
            // Nothing is known to be valid: the next request must look again.
            self.next_check.store(0, Ordering::Release);
        }
        checked
    }

    fn static_key(&self, hash: &SecretHash) -> Option<StaticKey> {
        // No early exit: the time tells nothing about which key came close.
        read_lock(&self.static_keys)
            .iter()
            .fold(None, |found, key| if key.hash.matches(hash) { Some(*key) } else { found })
    }

    fn load_key(&self, hash: &SecretHash) -> rusqlite::Result<Option<Arc<CachedKey>>> {
        let mut source = lock(&self.source);
        let sql = concat!(
            "SELECT hash, team, ",
            rights_columns!(),
            " FROM keys WHERE id = ?1 AND revoked_at IS NULL"
        );
        let row = source
            .connection
            .prepare_cached(sql)?
            .query_row([hash.id()], |row| {
                Ok((row.get::<_, [u8; 32]>(0)?, row.get::<_, String>(1)?, rights_from_row(row, 2)?))
            })
            .optional()?;
        let Some((bytes, team, rights)) = row else { return Ok(None) };
        let Some(team) = source.load_team(&team, &self.known)? else { return Ok(None) };
        let stored = SecretHash::from_bytes(bytes);
        let mut known = write_lock(&self.known);
        // Another thread may have loaded it while this one waited; its entry already counts uses.
        let key = known.keys.entry(stored.tag()).or_insert_with(|| {
            Arc::new(CachedKey {
                id: KeyId::new(stored.id()),
                hash: stored,
                team,
                rights: Arc::new(rights),
                unsaved_use_ms: AtomicU64::new(0),
            })
        });
        Ok(Some(Arc::clone(key)))
    }

    /// Returns the team of this name, which is remembered when there is one.
    pub(crate) fn team(&self, name: &str) -> rusqlite::Result<Option<Arc<Team>>> {
        self.refresh(self.elapsed_ms())?;
        self.known_team(name)
    }

    fn known_team(&self, name: &str) -> rusqlite::Result<Option<Arc<Team>>> {
        let remembered = read_lock(&self.known).teams.get(name).cloned();
        match remembered {
            Some(team) => Ok(Some(team)),
            None => lock(&self.source).load_team(name, &self.known),
        }
    }

    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl Source {
    fn check_version(&mut self, known: &RwLock<CachedCaller>) -> rusqlite::Result<()> {
        let version: i64 = self
            .connection
            .prepare_cached("SELECT version FROM access_version")?
            .query_row([], |row| row.get(0))?;
        if self.version != Some(version) {
            self.invalidate(known);
            self.version = Some(version);
        }
        Ok(())
    }

    fn invalidate(&mut self, known: &RwLock<CachedCaller>) {
        let mut known = write_lock(known);
        self.unsaved_uses.extend(known.keys.values().filter_map(|key| key.take_use()));
        *known = CachedCaller::default();
    }

    /// Returns the team, remembered or read: keys of one team share it.
    fn load_team(&mut self, name: &str, known: &RwLock<CachedCaller>) -> rusqlite::Result<Option<Arc<Team>>> {
        if let Some(team) = read_lock(known).teams.get(name) {
            return Ok(Some(Arc::clone(team)));
        }
        let read = self.connection.prepare_cached(SELECT_ONE)?.query_row([name], team_from_row).optional()?;
        let Some(team) = read.map(Arc::new) else { return Ok(None) };
        write_lock(known).teams.insert(name.to_owned(), Arc::clone(&team));
        Ok(Some(team))
    }

    /// Reads and remembers the values of threat protection of a team. Only names of teams that exist are asked for.
    fn load_threat_values(
        &self,
        team: &str,
        known: &RwLock<CachedCaller>,
    ) -> rusqlite::Result<Option<Arc<str>>> {
        let values: Option<Arc<str>> = read_values(&self.connection, team)?.map(Arc::from);
        write_lock(known).threat_values.insert(team.to_owned(), values.clone());
        Ok(values)
    }
}

impl CachedKey {
    fn touch(&self, now_ms: u64) {
        if now_ms.saturating_sub(self.unsaved_use_ms.load(Ordering::Relaxed)) >= USE_RESOLUTION_MS {
            self.unsaved_use_ms.store(now_ms, Ordering::Relaxed);
        }
    }

    fn take_use(&self) -> Option<KeyUse> {
        let at_ms = self.unsaved_use_ms.swap(0, Ordering::Relaxed);
        (at_ms != 0).then(|| KeyUse { key: self.id.clone(), at_ms })
    }
}

fn read_lock<T>(value: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    value.read().unwrap_or_else(PoisonError::into_inner)
}

fn write_lock<T>(value: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    value.write().unwrap_or_else(PoisonError::into_inner)
}
