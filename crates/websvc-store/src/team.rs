//! Teams: groups of API keys with shared policies, limits and credits.

use std::fmt;
use std::str::FromStr;

use crate::error::StoreError;
use crate::page_owner::{PageOwner, owner_from_row};
use crate::sql::{self, Row};

/// The team of the first key, of keys from the configuration, and of anonymous requests.
pub const DEFAULT_TEAM: &str = "default";

/// Maximum length of a team name or key label, in characters.
const MAX_NAME_CHARS: usize = 128;

macro_rules! policy {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$variant_doc])* $variant,)* }

        impl $name {
            /// Returns the name of the value on the command line and in the database.
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
                    _ => Err(UnknownPolicy { given: text.to_owned(), valid: &[$($text),*] }),
                }
            }
        }
    };
}

policy! {
    /// Permission of a team for requests without data retention (`enterprise` in the request).
    Retention {
        /// Requests with the option are rejected.
        Off = "off",
        /// Requests may set the option.
        Allowed = "allowed",
        /// The option applies to every request.
        Forced = "forced",
    }
}

policy! {
    /// Threat protection of a team: checks of URLs for risks (spec section 2.3).
    ThreatPolicy {
        /// Disabled: requests with `threatProtection` are rejected.
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
        /// Requests may override it.
        Allowed = "allowed",
        /// Requests that override it are rejected.
        Denied = "denied",
    }
}

policy! {
    /// Permission of the crawls of a team to name the user agent whose rules in robots.txt apply.
    RobotsAgentPolicy {
        /// Crawls that name one are rejected.
        Denied = "denied",
        /// Crawls may name one.
        Allowed = "allowed",
    }
}

policy! {
    /// Sharing of the pages that a team fetches: which teams find them in searches, maps and the cache.
    IndexPolicy {
        /// All teams find them.
        Shared = "shared",
        /// Only the team finds them, in addition to the shared pages.
        Team = "team",
        /// They are not stored.
        Off = "off",
    }
}

/// The error for a text that is not a value of a policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{given}\" is not one of {}", valid.join(", "))]
pub struct UnknownPolicy {
    /// The invalid text.
    pub given: String,
    /// The valid texts.
    pub valid: &'static [&'static str],
}

/// A team with its policies and limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Team {
    /// The unique name.
    pub name: String,
    /// Zero data retention.
    pub zdr: Retention,
    /// Anonymized zero data retention.
    pub anon: Retention,
    /// Threat protection.
    pub threat_protection: ThreatPolicy,
    /// Permission to override threat protection in a request.
    pub threat_override: ThreatOverride,
    /// Credits of the last grant; `None` is unlimited. [`Store::budget`](crate::Store::budget) returns the remaining credits.
    pub credits: Option<u64>,
    /// Rate limit in requests per minute; `None` is the default of the configuration.
    pub requests_per_minute: Option<u32>,
    /// Concurrency limit of requests; `None` is the default of the configuration.
    pub concurrency: Option<u32>,
    /// Writes an audit event for each request if true.
    pub audit: bool,
    /// Sharing of the pages that it fetches.
    pub index: IndexPolicy,
    /// Permission of its crawls to name the user agent whose rules in robots.txt apply.
    pub robots_agent: RobotsAgentPolicy,
    /// The owner of its private pages; `None` if it never had the policy [`IndexPolicy::Team`].
    pub page_owner: Option<PageOwner>,
    /// Time of its creation, in milliseconds since the Unix epoch.
    pub created_at_ms: u64,
}

/// Changes to a team. `None` leaves a value unchanged.
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
    /// Credits of a new grant, which replaces the remaining ones; `Some(None)` makes them unlimited.
    pub credits: Option<Option<u64>>,
    /// Rate limit in requests per minute; `Some(None)` restores the default of the configuration.
    pub requests_per_minute: Option<Option<u32>>,
    /// Concurrency limit of requests; `Some(None)` restores the default of the configuration.
    pub concurrency: Option<Option<u32>>,
    /// Writes audit events if true.
    pub audit: Option<bool>,
    /// Sharing of the pages that it fetches from now on.
    pub index: Option<IndexPolicy>,
    /// Permission of its crawls to name the user agent whose rules in robots.txt apply.
    pub robots_agent: Option<RobotsAgentPolicy>,
}

impl TeamChange {
    /// Applies the changes.
    pub(crate) fn apply(&self, team: &mut Team) {
        // Destructured, so that a new field cannot be missed here.
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
            robots_agent,
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
        team.robots_agent = robots_agent.unwrap_or(team.robots_agent);
    }
}

pub(crate) const SELECT_ALL: &str = "SELECT name, zdr, anon, threat_protection, threat_override, credits, \
     requests_per_minute, concurrency, audit, created_at, index_policy, page_owner, robots_agent FROM teams ORDER BY name";
pub(crate) const SELECT_ONE: &str = "SELECT name, zdr, anon, threat_protection, threat_override, credits, \
     requests_per_minute, concurrency, audit, created_at, index_policy, page_owner, robots_agent FROM teams WHERE name = ?1";

pub(crate) fn team_from_row(row: &Row<'_>) -> sql::Result<Team> {
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
        robots_agent: policy(row, 12)?,
    })
}

fn policy<T: FromStr<Err = UnknownPolicy>>(row: &Row<'_>, column: usize) -> sql::Result<T> {
    row.parse(column, str::parse)
}

pub(crate) fn check_team_name(name: &str) -> Result<(), StoreError> {
    if name.is_empty() {
        return Err(invalid("team", name, "it is empty"));
    }
    check_text("team", name)
}

/// Checks a text that is shown in lists.
pub(crate) fn check_text(what: &'static str, name: &str) -> Result<(), StoreError> {
    if name.chars().count() > MAX_NAME_CHARS {
        return Err(invalid(what, name, "it has more than 128 characters"));
    }
    if name.chars().any(char::is_control) {
        return Err(invalid(what, name, "it contains control characters"));
    }
    if name.trim() != name {
        return Err(invalid(what, name, "it begins or ends with white space"));
    }
    Ok(())
}

fn invalid(what: &'static str, name: &str, rule: &'static str) -> StoreError {
    StoreError::InvalidName { what, name: name.to_owned(), rule }
}
