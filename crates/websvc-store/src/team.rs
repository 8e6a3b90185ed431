//! Teams: what the callers of one organisation may do.

use std::fmt;
use std::str::FromStr;

use rusqlite::{OptionalExtension, Row, Transaction, params};

use crate::clock::now_ms;
use crate::database::Durability;
use crate::error::StoreError;
use crate::ledger;
use crate::page_scope::{PageOwner, next_owner, owner_from_row};
use crate::store::Store;

/// The team of the first key and of keys given by configuration.
pub const DEFAULT_TEAM: &str = "default";

/// The longest team name or key label, in characters.
const MAX_NAME_CHARS: usize = 128;

macro_rules! policy {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$variant_doc])* $variant,)* }

        impl $name {
            /// Returns the value as the command line and the database spell it.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = UnknownPolicy;

            fn from_str(text: &str) -> Result<Self, UnknownPolicy> {
                match text {
                    $($text => Ok(Self::$variant),)*
                    _ => Err(UnknownPolicy { given: text.to_owned(), known: &[$($text),*] }),
                }
            }
        }
    };
}

policy! {
    /// Permission of a team for requests without retention (`enterprise` in the request).
    Retention {
        /// Requests that ask for it are refused.
        Off = "off",
        /// Requests may ask for it.
        Allowed = "allowed",
        /// Every request is treated as if it asked for it.
        Forced = "forced",
    }
}

policy! {
    /// Checks of URLs for risks (spec section 2.3).
    ThreatPolicy {
        /// Not enabled: requests with `threatProtection` are refused.
        Off = "off",
        /// Enabled; a request may turn it off.
        On = "on",
        /// Enabled; a request may not turn it off.
        Enforced = "enforced",
    }
}

policy! {
    /// Permission to override threat protection in a request with `threatProtection` (spec section 2.3).
    ThreatOverride {
        /// It may.
        Allowed = "allowed",
        /// Such requests are refused.
        Denied = "denied",
    }
}

policy! {
    /// Sharing of the pages that a team fetches: who finds them in searches, maps and the cache.
    IndexPolicy {
        /// Every team sees them.
        Shared = "shared",
        /// The team alone sees them, beside those of all teams.
        Team = "team",
        /// Nobody does: they are stored nowhere.
        Off = "off",
    }
}

/// A text that is no value of a team's policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{given}\" is not one of {}", known.join(", "))]
pub struct UnknownPolicy {
    /// The text that was given.
    pub given: String,
    /// The values that exist.
    pub known: &'static [&'static str],
}

/// A team and its policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Team {
    /// The name, unique.
    pub name: String,
    /// Zero data retention.
    pub zdr: Retention,
    /// Anonymized zero data retention.
    pub anon: Retention,
    /// Threat protection.
    pub threat_protection: ThreatPolicy,
    /// Permission to override threat protection in a request.
    pub threat_override: ThreatOverride,
    /// The credits that were given last; `None` is unlimited. [`Store::budget`] says what is left of them.
    pub credits: Option<u64>,
    /// The requests per minute that are admitted; `None` is the default of the configuration.
    pub requests_per_minute: Option<u32>,
    /// The requests at a time that are admitted; `None` is the default of the configuration.
    pub concurrency: Option<u32>,
    /// Writes an audit event for each request if true.
    pub audit: bool,
    /// Sharing of the pages that it fetches.
    pub index: IndexPolicy,
    /// The number under which its pages are kept apart; `None` when they never were.
    pub page_owner: Option<PageOwner>,
    /// When the team was created, in milliseconds since the Unix epoch.
    pub created_at_ms: u64,
}

/// Changes to a team: `None` leaves a value unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TeamChange {
    /// Zero data retention.
    pub zdr: Option<Retention>,
    /// Anonymized zero data retention.
    pub anon: Option<Retention>,
    /// Threat protection.
    pub threat_protection: Option<ThreatPolicy>,
    /// Permission to override threat protection in a request.
    pub threat_override: Option<ThreatOverride>,
    /// The credits that may be spent from now on, in the place of what is left; `Some(None)` makes them unlimited.
    pub credits: Option<Option<u64>>,
    /// Requests per minute; `Some(None)` goes back to the default of the configuration.
    pub requests_per_minute: Option<Option<u32>>,
    /// Requests at a time; `Some(None)` goes back to the default of the configuration.
    pub concurrency: Option<Option<u32>>,
    /// Writes audit events if true.
    pub audit: Option<bool>,
    /// Sharing of the pages that it fetches from now on.
    pub index: Option<IndexPolicy>,
}

impl TeamChange {
    fn apply(&self, team: &mut Team) {
        // Destructured, so that a new field is thought of here.
        let Self {
            zdr,
            anon,
            threat_protection,
            threat_override,
            credits,
            requests_per_minute,
            concurrency,
            audit,
            index,
        } = self;
        team.zdr = zdr.unwrap_or(team.zdr);
        team.anon = anon.unwrap_or(team.anon);
        team.threat_protection = threat_protection.unwrap_or(team.threat_protection);
        team.threat_override = threat_override.unwrap_or(team.threat_override);
        team.credits = credits.unwrap_or(team.credits);
        team.requests_per_minute = requests_per_minute.unwrap_or(team.requests_per_minute);
        team.concurrency = concurrency.unwrap_or(team.concurrency);
        team.audit = audit.unwrap_or(team.audit);
        team.index = index.unwrap_or(team.index);
    }
}

impl Store {
    /// Creates the team if it does not exist, applies `change`, and returns the team as it is now.
    ///
    /// # Errors
    /// [`StoreError::InvalidName`] when the name is empty, longer than 128 characters, has control characters or
    /// begins or ends with a space; otherwise failures of the database.
    pub fn set_team(&self, name: &str, change: &TeamChange) -> Result<Team, StoreError> {
        check_team_name(name)?;
        let team = self.database().write(Durability::Power, |transaction| {
            create_if_absent(transaction, name)?;
            let mut team = transaction.query_row(SELECT_ONE, [name], team_from_row)?;
            change.apply(&mut team);
            if team.index == IndexPolicy::Team && team.page_owner.is_none() {
                team.page_owner = next_owner(transaction)?;
            }
            update(transaction, &team)?;
            if let Some(credits) = change.credits {
                ledger::grant(transaction, name, credits)?;
            }
            Ok(team)
        })?;
        self.access().invalidate();
        self.ledger().forget();
        Ok(team)
    }

    /// Deletes a team with its keys, browser profiles, values of threat protection and cached pages of its own; its
    /// artifacts can no longer be read. Tells whether it was there. When this returns, this process no longer accepts its keys.
    ///
    /// # Errors
    /// [`StoreError::TeamNeeded`] for team `default`; otherwise failures of the database.
    pub fn delete_team(&self, name: &str) -> Result<bool, StoreError> {
        if name == DEFAULT_TEAM {
            return Err(StoreError::TeamNeeded { team: name.to_owned() });
        }
        let deleted = self.database().write(Durability::Power, |transaction| {
            transaction.execute("DELETE FROM keys WHERE team = ?1", [name])?;
            transaction.execute("DELETE FROM profiles WHERE team = ?1", [name])?;
            transaction.execute("DELETE FROM threat_values WHERE team = ?1", [name])?;
            transaction.execute("UPDATE artifacts SET state = 'leaving' WHERE team = ?1", [name])?;
            transaction.execute("DELETE FROM teams WHERE name = ?1", [name])
        })?;
        self.access().invalidate();
        // After the team, in small transactions: without it nobody can read them.
        self.purge_ownerless()?;
        Ok(deleted == 1)
    }

    /// Returns the team of this name.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn team(&self, name: &str) -> Result<Option<Team>, StoreError> {
        self.database().read(|connection| {
            connection.prepare_cached(SELECT_ONE)?.query_row([name], team_from_row).optional()
        })
    }

    /// Returns all teams by name.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn list_teams(&self) -> Result<Vec<Team>, StoreError> {
        self.database()
            .read(|connection| connection.prepare(SELECT_ALL)?.query_map([], team_from_row)?.collect())
    }
}

const SELECT_ALL: &str = "SELECT name, zdr, anon, threat_protection, threat_override, credits, \
     requests_per_minute, concurrency, audit, created_at, index_policy, page_owner FROM teams ORDER BY name";
pub(crate) const SELECT_ONE: &str = "SELECT name, zdr, anon, threat_protection, threat_override, credits, \
     requests_per_minute, concurrency, audit, created_at, index_policy, page_owner FROM teams WHERE name = ?1";

pub(crate) fn create_if_absent(transaction: &Transaction<'_>, name: &str) -> rusqlite::Result<()> {
    transaction
        .execute(
            "INSERT INTO teams (name, created_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            params![name, now_ms()],
        )
        .map(|_| ())
}

fn update(transaction: &Transaction<'_>, team: &Team) -> rusqlite::Result<()> {
    let sql = "UPDATE teams SET zdr = ?2, anon = ?3, threat_protection = ?4, threat_override = ?5, credits = ?6, \
               requests_per_minute = ?7, concurrency = ?8, audit = ?9, index_policy = ?10, page_owner = ?11 \
               WHERE name = ?1";
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
            // SQLite's integers are signed: more credits than it can hold are as good as its largest number.
            credits.map(|credits| credits.min(i64::MAX as u64)),
            requests_per_minute,
            concurrency,
            audit,
            index.as_str(),
            page_owner.map(PageOwner::number),
        ],
    )?;
    debug_assert_eq!(changed, 1, "the team was created in this transaction");
    Ok(())
}

pub(crate) fn team_from_row(row: &Row<'_>) -> rusqlite::Result<Team> {
    Ok(Team {
        name: row.get(0)?,
        zdr: policy(row, 1)?,
        anon: policy(row, 2)?,
        threat_protection: policy(row, 3)?,
        threat_override: policy(row, 4)?,
        credits: row.get(5)?,
        requests_per_minute: row.get(6)?,
        concurrency: row.get(7)?,
        audit: row.get(8)?,
        created_at_ms: row.get(9)?,
        index: policy(row, 10)?,
        page_owner: owner_from_row(row, 11)?,
    })
}

fn policy<T: FromStr<Err = UnknownPolicy>>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    row.get_ref(column)?.as_str()?.parse().map_err(|error: UnknownPolicy| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
    })
}

pub(crate) fn check_team_name(name: &str) -> Result<(), StoreError> {
    if name.is_empty() {
        return Err(invalid("team", name, "it is empty"));
    }
    check_text("team", name)
}

/// Checks a name that people read in lists.
pub(crate) fn check_text(what: &'static str, name: &str) -> Result<(), StoreError> {
    if name.chars().count() > MAX_NAME_CHARS {
        return Err(invalid(what, name, "it has more than 128 characters"));
    }
    if name.chars().any(char::is_control) {
        return Err(invalid(what, name, "it has control characters"));
    }
    if name.trim() != name {
        return Err(invalid(what, name, "it begins or ends with white space"));
    }
    Ok(())
}

fn invalid(what: &'static str, name: &str, rule: &'static str) -> StoreError {
    StoreError::InvalidName { what, name: name.to_owned(), rule }
}
