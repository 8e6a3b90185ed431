//! Authentication: from the secret of a request to its caller, without disk access for a cached key.
//!
//! Keys and teams are cached in memory. Triggers in the database count every change to them (`access_version`), and one
//! request per [`ACCESS_REFRESH`] reads that number. When another process changed something, the whole cache is
//! dropped. Reading one row again costs a few microseconds, so finer invalidation is not needed.
//!
//! Only existing keys and teams are cached: requests with unknown keys cannot grow the cache, but cost a read each.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, RwLock};

use crate::clock::Clock;
use crate::database::{Database, Reader};
use crate::error::StoreError;
use crate::key_id::KeyId;
use crate::rights::{KeyRights, rights_columns, rights_from_row};
use crate::secret::{MAX_SECRET_BYTES, SecretHash};
use crate::sql::postgres::ServerState;
use crate::sql::{self, Connection, params};
use crate::static_keys::{StaticKeyKind, StaticKeys};
use crate::team::{DEFAULT_TEAM, SELECT_ONE, Team, team_from_row};

/// Maximum time until a change by another process is seen.
pub const ACCESS_REFRESH: Duration = Duration::from_millis(250);

/// Identifier of a key from the configuration.
const STATIC_KEY_ID: &str = "static";
/// Identifier of an administrative key from the configuration.
const STATIC_ADMIN_ID: &str = "static-admin";

/// The start of the identifiers of callers without a key.
const IDENTITY_PREFIX: &str = "oidc-";

/// Resolution of the time of last use. A coarse one avoids contention of threads on the memory of a busy key.
const USE_RESOLUTION_MS: u64 = 1000;

/// The authenticated sender of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The key; `static` or `static-admin` for a key from the configuration, and `oidc-` with 12 hex digits for a
    /// [`ProvenIdentity`].
    pub key_id: KeyId,
    /// The team of the key, as of at most [`ACCESS_REFRESH`] ago.
    pub team: Arc<Team>,
    /// Rights of the key, as of the same time.
    pub rights: Arc<KeyRights>,
}

/// The identity of a caller without a key, which a token of an identity provider proves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvenIdentity {
    /// The identity provider.
    pub issuer: String,
    /// The identifier of the user or program at the provider.
    pub subject: String,
    /// The team in whose name the caller acts.
    pub team: String,
    /// Its rights.
    pub rights: KeyRights,
}

impl ProvenIdentity {
    /// Returns the identifier that stands for that of a key: it is the same for every token of a user or program.
    fn key_id(&self) -> KeyId {
        let hash = SecretHash::from_secret(&format!("{}\n{}", self.issuer, self.subject));
        KeyId::new(format!("{IDENTITY_PREFIX}{}", hash.id()))
    }
}

/// Result of a lookup that does not wait for the network.
#[derive(Debug)]
pub enum KeyLookup {
    /// The caller; `None` if no valid key has the secret.
    Known(Option<Box<Caller>>),
    /// The key is not cached.
    Unknown,
}

/// Cached state of authentication.
#[derive(Debug)]
pub(crate) struct Access {
    started: Instant,
    clock: Clock,
    /// The state of the server, if the database is on one. Its watch reads the version then.
    server: Option<Arc<ServerState>>,
    /// Time of the next read of the version, in milliseconds since `started`.
    next_check: AtomicU64,
    static_keys: RwLock<StaticKeys>,
    /// Rights of keys from the configuration.
    static_rights: Arc<KeyRights>,
    /// Rights of administrative keys from the configuration.
    admin_rights: Arc<KeyRights>,
    cache: RwLock<AccessCache>,
    /// Locked while the cache is changed, from before the database is read. So the cache is never older than the
    /// version that was read last.
    source: Mutex<Source>,
}

#[derive(Debug, Default)]
struct AccessCache {
    keys: HashMap<u64, Arc<CachedKey>>,
    teams: HashMap<String, Arc<Team>>,
    /// Threat protection values by team; `None` for a team without values of its own.
    threat_values: HashMap<String, Option<Arc<str>>>,
}

#[derive(Debug)]
struct CachedKey {
    id: KeyId,
    hash: SecretHash,
    team: Arc<Team>,
    rights: Arc<KeyRights>,
    /// Time of the last use, in milliseconds since the Unix epoch; 0 if it is already in the database.
    unsaved_use_ms: AtomicU64,
}

/// The database behind the cache.
#[derive(Debug)]
struct Source {
    reader: Reader,
    version: Option<i64>,
    /// Uses of keys that are no longer cached.
    unsaved_uses: Vec<KeyUse>,
}

/// The last use of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyUse {
    pub(crate) key: KeyId,
    pub(crate) at_ms: u64,
}

impl Access {
    pub(crate) fn new(database: &Arc<Database>) -> Result<Self, StoreError> {
        let source = Source { reader: database.reader()?, version: None, unsaved_uses: Vec::new() };
        Ok(Self {
            started: Instant::now(),
            clock: database.clock().clone(),
            server: database.server_state().cloned(),
            next_check: AtomicU64::new(0),
            static_keys: RwLock::default(),
            static_rights: Arc::default(),
            admin_rights: Arc::new(KeyRights { admin: true, ..KeyRights::default() }),
            cache: RwLock::default(),
            source: Mutex::new(source),
        })
    }

    /// Returns the caller with this secret. Without `may_read`, only the cache is used.
    pub(crate) fn find(&self, secret: &str, may_read: bool) -> sql::Result<KeyLookup> {
        if secret.is_empty() || secret.len() > MAX_SECRET_BYTES {
            return Ok(KeyLookup::Known(None));
        }
        let now = self.elapsed_ms();
        self.refresh(now)?;
        let hash = SecretHash::from_secret(secret);
        let static_kind = self.static_keys.read().find(&hash);
        if let Some(kind) = static_kind {
            return self.find_static(kind, may_read);
        }
        let cached = self.cache.read().keys.get(&hash.tag()).cloned();
        let key = match cached {
            Some(key) => Some(key),
            None if may_read => self.load_key(&hash)?,
            None => return Ok(KeyLookup::Unknown),
        };
        let now_ms = self.clock.now_ms();
        let is_valid = |key: &CachedKey| key.hash.matches(&hash) && !key.rights.has_expired(now_ms);
        let Some(key) = key.filter(|key| is_valid(key)) else {
            return Ok(KeyLookup::Known(None));
        };
        key.record_use(now_ms);
        Ok(KeyLookup::Known(Some(Box::new(Caller {
            key_id: key.id.clone(),
            team: Arc::clone(&key.team),
            rights: Arc::clone(&key.rights),
        }))))
    }

    /// Makes these keys valid instead of those of the configuration so far.
    pub(crate) fn set_static_keys(&self, keys: StaticKeys) {
        *self.static_keys.write() = keys;
    }

    /// Returns the caller with a key from the configuration.
    fn find_static(&self, kind: StaticKeyKind, may_read: bool) -> sql::Result<KeyLookup> {
        let cached = self.cache.read().teams.get(DEFAULT_TEAM).cloned();
        let team = match cached {
            Some(team) => Some(team),
            None if may_read => self.cached_team(DEFAULT_TEAM)?,
            None => return Ok(KeyLookup::Unknown),
        };
        let (id, rights) = match kind {
            StaticKeyKind::Ordinary => (STATIC_KEY_ID, &self.static_rights),
            StaticKeyKind::Admin => (STATIC_ADMIN_ID, &self.admin_rights),
        };
        let caller = |team| Box::new(Caller { key_id: KeyId::new(id), team, rights: Arc::clone(rights) });
        Ok(KeyLookup::Known(team.map(caller)))
    }

    /// Returns the caller with an identity; none if its team does not exist. Without `may_read`, only the cache is used.
    pub(crate) fn find_identity(&self, identity: &ProvenIdentity, may_read: bool) -> sql::Result<KeyLookup> {
        self.refresh(self.elapsed_ms())?;
        let cached = self.cache.read().teams.get(&identity.team).cloned();
        let team = match cached {
            Some(team) => Some(team),
            None if may_read => self.cached_team(&identity.team)?,
            None => return Ok(KeyLookup::Unknown),
        };
        let rights = Arc::new(identity.rights.clone());
        Ok(KeyLookup::Known(team.map(|team| Box::new(Caller { key_id: identity.key_id(), team, rights }))))
    }

    /// Returns the threat protection values of a team.
    pub(crate) fn threat_values(&self, team: &str) -> sql::Result<Option<Arc<str>>> {
        self.refresh(self.elapsed_ms())?;
        let cached = self.cache.read().threat_values.get(team).cloned();
        match cached {
            Some(values) => Ok(values),
            None => self.source.lock().load_threat_values(team, &self.cache),
        }
    }

    /// Drops the cache if this is not its version.
    pub(crate) fn apply_version(&self, version: i64) {
        self.source.lock().apply_version(version, &self.cache);
    }

    /// Drops the cache, because this process changed a key or a team.
    pub(crate) fn invalidate(&self) {
        self.source.lock().invalidate(&self.cache);
    }

    /// Removes and returns the uses that are not in the database yet.
    pub(crate) fn drain_key_uses(&self) -> Vec<KeyUse> {
        let mut uses = std::mem::take(&mut self.source.lock().unsaved_uses);
        uses.extend(self.cache.read().keys.values().filter_map(|key| key.take_use()));
        uses
    }

    /// Adds uses again that could not be written.
    pub(crate) fn restore_key_uses(&self, uses: Vec<KeyUse>) {
        self.source.lock().unsaved_uses.extend(uses);
    }

    /// Drops the cache if the version changed. When a check is due, one thread reads the version; the others use the
    /// cache meanwhile.
    fn refresh(&self, now: u64) -> sql::Result<()> {
        if let Some(server) = &self.server {
            return server.check_cache();
        }
        let due = self.next_check.load(Ordering::Acquire);
        let next = now.saturating_add(ACCESS_REFRESH.as_millis() as u64);
        if now < due
            || self.next_check.compare_exchange(due, next, Ordering::AcqRel, Ordering::Relaxed).is_err()
        {
            return Ok(());
        }
        let result = self.source.lock().check_version(&self.cache);
        if result.is_err() {
            // The cache may be outdated: the next request must check again.
            self.next_check.store(0, Ordering::Release);
        }
        result
    }

    fn load_key(&self, hash: &SecretHash) -> sql::Result<Option<Arc<CachedKey>>> {
        let mut source = self.source.lock();
        let sql = concat!(
            "SELECT hash, team, ",
            rights_columns!(),
            " FROM keys WHERE id = ?1 AND revoked_at IS NULL AND redeem_until IS NULL"
        );
        let row = source.reader.read(|connection| {
            connection.query_optional(sql, params![hash.id()], |row| {
                Ok((row.get::<[u8; 32]>(0)?, row.get::<String>(1)?, rights_from_row(row, 2)?))
            })
        })?;
        let Some((bytes, team, rights)) = row else { return Ok(None) };
        let Some(team) = source.load_team(&team, &self.cache)? else { return Ok(None) };
        let stored = SecretHash::from_bytes(bytes);
        let mut cache = self.cache.write();
        // Another thread may have loaded the key while this one waited. Its entry already records uses.
        let key = cache.keys.entry(stored.tag()).or_insert_with(|| {
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

    /// Returns the team with this name, from the cache or the database.
    pub(crate) fn team(&self, name: &str) -> sql::Result<Option<Arc<Team>>> {
        self.refresh(self.elapsed_ms())?;
        self.cached_team(name)
    }

    /// Returns a team without a check of the version.
    fn cached_team(&self, name: &str) -> sql::Result<Option<Arc<Team>>> {
        let cached = self.cache.read().teams.get(name).cloned();
        match cached {
            Some(team) => Ok(Some(team)),
            None => self.source.lock().load_team(name, &self.cache),
        }
    }

    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl Source {
    fn check_version(&mut self, cache: &RwLock<AccessCache>) -> sql::Result<()> {
        let version: i64 = self.reader.read(|connection| {
            connection.query_row("SELECT version FROM access_version", params![], |row| row.get(0))
        })?;
        self.apply_version(version, cache);
        Ok(())
    }

    fn apply_version(&mut self, version: i64, cache: &RwLock<AccessCache>) {
        if self.version != Some(version) {
            self.invalidate(cache);
            self.version = Some(version);
        }
    }

    fn invalidate(&mut self, cache: &RwLock<AccessCache>) {
        let mut cache = cache.write();
        self.unsaved_uses.extend(cache.keys.values().filter_map(|key| key.take_use()));
        *cache = AccessCache::default();
    }

    /// Returns the cached team, or reads and caches it. The keys of a team share it.
    fn load_team(&mut self, name: &str, cache: &RwLock<AccessCache>) -> sql::Result<Option<Arc<Team>>> {
        if let Some(team) = cache.read().teams.get(name) {
            return Ok(Some(Arc::clone(team)));
        }
        let read = self
            .reader
            .read(|connection| connection.query_optional(SELECT_ONE, params![name], team_from_row))?;
        let Some(team) = read.map(Arc::new) else { return Ok(None) };
        cache.write().teams.insert(name.to_owned(), Arc::clone(&team));
        Ok(Some(team))
    }

    /// Reads and caches the threat protection values of a team. Callers pass only names of existing teams, so the cache
    /// is bounded.
    fn load_threat_values(&self, team: &str, cache: &RwLock<AccessCache>) -> sql::Result<Option<Arc<str>>> {
        let values: Option<Arc<str>> =
            self.reader.read(|connection| read_threat_values(connection, team))?.map(Arc::from);
        cache.write().threat_values.insert(team.to_owned(), values.clone());
        Ok(values)
    }
}

impl CachedKey {
    fn record_use(&self, now_ms: u64) {
        if now_ms.saturating_sub(self.unsaved_use_ms.load(Ordering::Relaxed)) >= USE_RESOLUTION_MS {
            self.unsaved_use_ms.store(now_ms, Ordering::Relaxed);
        }
    }

    fn take_use(&self) -> Option<KeyUse> {
        let at_ms = self.unsaved_use_ms.swap(0, Ordering::Relaxed);
        (at_ms != 0).then(|| KeyUse { key: self.id.clone(), at_ms })
    }
}

/// Reads the threat protection values of a team.
pub(crate) fn read_threat_values(connection: &Connection, team: &str) -> sql::Result<Option<String>> {
    let sql = "SELECT value FROM threat_values WHERE team = ?1";
    connection.query_optional(sql, params![team], |row| row.get(0))
}
