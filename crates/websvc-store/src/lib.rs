//! Durable state of websvc in one SQLite file or on a PostgreSQL server: teams, API keys, credits, jobs, monitors, runs,
//! the page cache, page snapshots, browser profiles and the records of artifacts.
//!
//! A [`Store`] is a cheap handle (`Clone`, `Send`, `Sync`) on `DATA_DIR/websvc.db`. Calls block for as long as SQLite
//! needs, so async callers run them on blocking threads, except those that are documented for async threads, such as
//! [`Store::authenticate`]. Several processes may have the same store open: the command line creates and revokes keys
//! while a server runs, and the server sees the change within [`ACCESS_REFRESH`].
//!
//! ```
//! # let dir = tempfile::tempdir()?;
//! let store = websvc_store::Store::open(dir.path())?;
//! let key = store.create_key("default", "laptop")?;
//! let caller = store.authenticate(key.secret.expose())?.expect("the key was just created");
//! assert_eq!(caller.team.name, "default");
//! store.revoke_key(key.id.as_str())?;
//! assert!(store.authenticate(key.secret.expose())?.is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(missing_docs)]

mod access;
mod activity;
mod activity_log;
mod api_version;
mod artifact;
mod authentication;
mod background_thread;
mod backup;
mod browser_session;
mod clock;
mod dashboard_session;
mod database;
mod disk;
mod document;
mod error;
mod fault;
mod feedback;
mod health;
mod index_outbox;
mod inspect;
mod invitation;
mod job;
mod key;
mod key_id;
mod key_use;
mod ledger;
mod migrate_to_server;
mod migration;
mod monitor;
mod oauth;
mod owned_work;
mod page;
mod page_cache;
mod page_owner;
mod page_scope;
mod page_snapshot;
mod pending_work;
mod private_file;
mod profile;
mod rate_bucket;
mod replica;
mod rights;
mod row_cipher;
mod run;
mod scrape_result;
mod secret;
mod server_watch;
mod shared;
mod sign_in_key;
mod slot_lease;
mod sql;
mod static_keys;
mod store;
mod team;
mod team_change;
mod threat;
mod unfinished_migration;
mod webhook;

pub use access::{ACCESS_REFRESH, Caller, KeyLookup, ProvenIdentity};
pub use activity::TeamActivity;
pub use activity_log::{ActivityCursor, ActivityFilter, ActivityPage, ActivityRecord};
pub use api_version::ApiVersion;
pub use artifact::{ArtifactRecord, ReserveOutcome};
pub use browser_session::{
    BrowserSessionRecord, BrowserSessionStatus, CreateBrowserSessionOutcome, NewBrowserSession,
};
pub use clock::{Clock, HOLD as CLOCK_HOLD, MAX_CLOCK_SKEW};
pub use dashboard_session::DashboardSession;
pub use database::{DatabaseMetrics, DatabaseUrl, Durability, InvalidDatabaseUrl, PoolMetrics};
pub use disk::DiskSpace;
pub use error::StoreError;
pub use fault::StoreFault;
pub use feedback::{
    FeedbackRating, FeedbackRecord, NewFeedback, PutFeedbackOutcome, RatedRequest, UnknownRating,
};
pub use index_outbox::{OutboxClaim, OutboxPage, OutboxSize};
pub use inspect::{DatabaseReport, ServerReport};
pub use invitation::MAX_INVITATION_MS;
pub use job::{
    CancelJobOutcome, CompletionOutcome, CompressedCompletion, CreateJobOutcome, JobDocumentPage, JobError,
    JobKind, JobLease, JobLimits, JobOverview, JobRecord, JobState, JobUrl, ListEntry, NewHosts, NewJob,
    OwnedJobs, TeamShare, UrlCompletion, UrlOutcome,
};
pub use key::{KeyId, KeyRecord, NewKey};
pub use ledger::{
    Budget, CreditHold, DailyUsage, HoldOutcome, LoggedRequest, MonthlyUsage, Usage, UsageFilter, UsageItem,
    UsageLimits, UsageRetention, UsageStage,
};
pub use migrate_to_server::{
    MigrateError, Migration, MigrationMode, MigrationPhase, MigrationProgress, MigrationReport,
    TableDifference, TableReport, migrate,
};
pub use monitor::{
    Baseline, BaselineChange, BillingStatus, CheckDeliveries, CheckPageRecord, CheckPageStatus, CheckPages,
    CheckRecord, CheckStatus, CheckSummary, CheckTrigger, ConfirmationLimits, ConfirmationPermit,
    CreateMonitorOutcome, FinishedCheck, LinkAction, MessageKind, MessageOutcome, MessageRecord,
    MonitorLimits, MonitorMetrics, MonitorRecord, MonitorStatus, MonitorUpdate, NewCheck, NewCheckPage,
    NewMonitor, NewRecipient, RecipientRecord, RecipientSource, RecipientStatus, RecordPagesOutcome,
    StartCheckOutcome,
};
pub use oauth::{
    ACCESS_TOKEN_MS, CODE_MS, GrantProof, GrantRefusal, MAX_OAUTH_CLIENTS, MAX_OAUTH_GRANTS, NewGrant,
    OauthClient, OauthTokens, REFRESH_TOKEN_MS,
};
pub use page::{CacheLimits, CacheSize, CachedPage, PageKey, PutOutcome};
pub use page_scope::{PageOwner, PageScope};
pub use page_snapshot::{PageSnapshot, PreparedSnapshot, PutSnapshotOutcome, SnapshotKey, SnapshotLimits};
pub use pending_work::WorkKind;
pub use profile::{
    LockProfileOutcome, PROFILE_MAX_BYTES, PROFILES_MAX, ProfileLease, ProfileRecord, ProfileState,
    SaveProfileOutcome,
};
pub use rate_bucket::{SharedBucketSize, TokenGrant};
pub use replica::{ForeignSession, ReplicaAddress, ReplicaRole};
pub use rights::{KeyRights, KeyScope, UnknownScope};
pub use run::{
    AddRunEventsOutcome, CancelRunOutcome, CreateRunOutcome, FinishedRun, NewRun, NewRunEvent,
    NewRunSnapshot, OpenRun, RunEndEvent, RunKind, RunLimits, RunList, RunMetrics, RunRecord, RunResult,
    RunStatus, RunWebhookEvent, ThreadContent,
};
pub use scrape_result::{ScrapeResult, ScrapeResultLimits};
pub use secret::{ApiSecret, INVITATION_PREFIX, KEY_PREFIX};
pub use sign_in_key::MAX_SIGN_IN_KEYS;
pub use slot_lease::SlotLease;
pub use static_keys::StaticKeys;
pub use store::Store;
pub use team::{
    DEFAULT_TEAM, IndexPolicy, Retention, RobotsAgentPolicy, Team, TeamChange, ThreatOverride, ThreatPolicy,
    UnknownPolicy,
};
pub use webhook::{
    DeadLetter, DeadLetterFilter, DeadLetterPage, DeliveryOutcome, DueWebhook, JobEvent, NewWebhook,
    WebhookAttempt, WebhookDelivery, WebhookQueue, WebhookSource, WebhookStats, WebhookSweepReport,
};
