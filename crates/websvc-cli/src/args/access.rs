//! The arguments of `teams`, `keys` and `backup`.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Context, Result, bail, ensure};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use jiff::Timestamp;
use websvc_store::{IndexPolicy, KeyScope, Retention, RobotsAgentPolicy, ThreatOverride, ThreatPolicy};
use websvc_transport::IpNetwork;
use websvc_types::format::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum TeamsCommand {
    /// Create a team or change its given settings; a running server notices within a second
    Set(SetTeam),
    /// List the teams
    List {
        /// Print the teams as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one team
    Show {
        /// Name of the team
        name: String,
        /// Print the team as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print only the secret that signs the team's job events; created if it does not exist
    WebhookSecret {
        /// Name of the team
        name: String,
        /// Create a new secret, which is used from the next delivery on
        #[arg(long)]
        rotate: bool,
        /// Print the team and the secret as JSON
        #[arg(long)]
        json: bool,
    },
    /// Delete a team with its keys, browser profiles and private pages
    Delete {
        /// Name of the team
        name: String,
        /// Print the deleted team as JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct SetTeam {
    /// Name of the team
    pub(crate) name: String,
    /// Zero data retention: off, allowed or forced
    #[arg(long, value_name = "MODE")]
    pub(crate) zdr: Option<Retention>,
    /// Anonymized zero data retention: off, allowed or forced
    #[arg(long, value_name = "MODE")]
    pub(crate) anon: Option<Retention>,
    /// Threat protection: off, on or enforced
    #[arg(long, value_name = "MODE")]
    pub(crate) threat_protection: Option<ThreatPolicy>,
    /// Threat protection settings in a request: allowed or denied
    #[arg(long, value_name = "MODE")]
    pub(crate) threat_override: Option<ThreatOverride>,
    /// Credits that the team may spend, or unlimited
    #[arg(long, value_name = "N", value_parser = limit::<u64>("unlimited"))]
    pub(crate) credits: Option<Limit<u64>>,
    /// Requests per minute, or default for the configured value
    #[arg(long, value_name = "N", value_parser = limit::<u32>("default"))]
    pub(crate) requests_per_minute: Option<Limit<u32>>,
    /// Concurrent requests, or default for the configured value
    #[arg(long, value_name = "N", value_parser = limit::<u32>("default"))]
    pub(crate) concurrency: Option<Limit<u32>>,
    /// Audit events: on or off
    #[arg(long, value_name = "MODE", value_parser = on_or_off())]
    pub(crate) audit: Option<bool>,
    /// Index and cache of the team's pages: shared with all teams, visible to this team only, or off
    #[arg(long, value_name = "shared|team|off")]
    pub(crate) index: Option<IndexPolicy>,
    /// Crawls that name the user agent whose rules in robots.txt apply: allowed or denied
    #[arg(long, value_name = "MODE")]
    pub(crate) robots_agent: Option<RobotsAgentPolicy>,
    /// Print the team as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A number, or `None` for the word that stands for no number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limit<T>(Option<T>);

impl<T> Limit<T> {
    /// Returns the number.
    pub(crate) fn number(self) -> Option<T> {
        self.0
    }
}

/// Returns a parser for a number or the word `none`.
fn limit<T: FromStr>(none: &'static str) -> impl Fn(&str) -> Result<Limit<T>, String> + Clone {
    move |text| match text.parse() {
        _ if text == none => Ok(Limit(None)),
        Ok(number) => Ok(Limit(Some(number))),
        Err(_) => Err(format!("neither a number nor {none}")),
    }
}

/// Returns a parser for `on` or `off`.
fn on_or_off() -> impl TypedValueParser<Value = bool> {
    PossibleValuesParser::new(["on", "off"]).map(|word| word == "on")
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Create a key and print only the key on stdout; it cannot be shown again
    Create(CreateKey),
    /// Create an invitation, which its holder redeems once for a key, and print only its link or its text
    Invite(InviteKey),
    /// List the keys and invitations without their secrets, which are not stored
    List {
        /// Print the keys as JSON
        #[arg(long)]
        json: bool,
    },
    /// Revoke a key or an invitation
    Revoke {
        /// Id of the key or invitation, as shown by `keys list`
        id: String,
        /// Print the key as JSON, as `keys list --json` does
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CreateKey {
    #[command(flatten)]
    pub(crate) options: KeyOptions,
    /// Allow the key to administer the service, in addition to its scopes
    #[arg(long)]
    pub(crate) admin: bool,
    /// Print the key and its rights as JSON; the key cannot be shown again
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InviteKey {
    #[command(flatten)]
    pub(crate) options: KeyOptions,
    /// Time until which the invitation can be redeemed: a duration or a time within the next 90 days
    #[arg(long, value_name = "WHEN", default_value = "7d")]
    pub(crate) redeem_within: Expiry,
    /// Print the invitation, its link and the rights of the key as JSON; the invitation cannot be shown again
    #[arg(long)]
    pub(crate) json: bool,
}

/// Team, purpose, rights and limits of a key.
#[derive(Debug, Args)]
pub(crate) struct KeyOptions {
    /// Team of the key; created if it does not exist
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(crate) team: String,
    /// Purpose of the key
    #[arg(long = "name", value_name = "LABEL", default_value = "")]
    pub(crate) label: String,
    /// Allow only these operations; scrape also allows page content in search results; repeat for several
    #[arg(long = "scope", value_name = "OPERATION", value_delimiter = ',', value_parser = scope())]
    pub(crate) scopes: Vec<KeyScope>,
    /// Allow only these formats, such as markdown; repeat for several
    #[arg(long = "format", value_name = "FORMAT", value_delimiter = ',', value_parser = Format::NAMES.to_vec())]
    pub(crate) formats: Vec<String>,
    /// Expire the key after a duration such as 30d, 12h, 90m, 10s, or at a date or time (UTC)
    #[arg(long, value_name = "WHEN")]
    pub(crate) expires: Option<Expiry>,
    /// Accept the key only from this address or CIDR block; repeat for several
    #[arg(long = "allow-ip", value_name = "CIDR", value_delimiter = ',')]
    pub(crate) allow_ip: Vec<IpNetwork>,
    /// Requests per minute with this key, within the limit of its team
    #[arg(long, value_name = "N")]
    pub(crate) requests_per_minute: Option<u32>,
    /// Concurrent requests with this key, within the limit of its team
    #[arg(long, value_name = "N")]
    pub(crate) concurrency: Option<u32>,
}

/// Returns a parser for a scope that lists all scopes in help and errors.
fn scope() -> impl TypedValueParser<Value = KeyScope> {
    PossibleValuesParser::new(KeyScope::ALL.iter().map(|scope| scope.as_str()))
        .try_map(|name| name.parse::<KeyScope>())
}

/// The expiry of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expiry {
    AfterSeconds(u64),
    At(Timestamp),
}

impl Expiry {
    /// Returns the expiry, given as `option`, in milliseconds since the Unix epoch.
    ///
    /// # Errors
    /// Fails if the expiry is not after `now` or is out of range.
    pub(crate) fn unix_ms(self, now: Timestamp, option: &str) -> Result<u64> {
        let now_ms = u64::try_from(now.as_millisecond()).context("the system clock is before 1970")?;
        let at_ms = match self {
            Self::AfterSeconds(seconds) => seconds.checked_mul(1000).and_then(|ms| now_ms.checked_add(ms)),
            Self::At(at) => u64::try_from(at.as_millisecond()).ok(),
        };
        let at_ms = at_ms
            .filter(|at_ms| i64::try_from(*at_ms).is_ok())
            .with_context(|| format!("{option} is out of range"))?;
        ensure!(at_ms > now_ms, "{option} is not in the future");
        Ok(at_ms)
    }
}

impl FromStr for Expiry {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Some((number, unit)) = text.split_at_checked(text.len().saturating_sub(1))
            && let Ok(number) = number.parse::<u64>()
        {
            let seconds = match unit {
                "s" => Some(1),
                "m" => Some(60),
                "h" => Some(3_600),
                "d" => Some(86_400),
                "w" => Some(7 * 86_400),
                _ => None,
            };
            if let Some(seconds) = seconds {
                let seconds = number.checked_mul(seconds).context("out of range")?;
                return Ok(Self::AfterSeconds(seconds));
            }
        }
        let midnight = || format!("{text}T00:00:00Z").parse();
        match text.parse().or_else(|_: jiff::Error| midnight()) {
            Ok(at) => Ok(Self::At(at)),
            Err(_) => bail!("neither a duration such as 30d or 12h nor a date such as 2030-12-31"),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// Output file, a tar archive ending with .tar; an existing file is replaced on success
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Print the summary as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let now: Timestamp = "2026-01-31T12:00:00Z".parse().unwrap();
        let at = text.parse::<Expiry>().and_then(|expiry| expiry.unix_ms(now, "--expires")).ok();
        let at = at.map(|ms| Timestamp::from_millisecond(i64::try_from(ms).unwrap()).unwrap().to_string());
        assert_eq!(at.as_deref(), expected, "{text}");
    }

    #[test]
    fn expiry_accepts_durations_and_dates() {
        check("30d", Some("2026-03-02T12:00:00Z"));
        check("12h", Some("2026-02-01T00:00:00Z"));
        check("90m", Some("2026-01-31T13:30:00Z"));
        check("1s", Some("2026-01-31T12:00:01Z"));
        check("2w", Some("2026-02-14T12:00:00Z"));
        check("2027-01-01", Some("2027-01-01T00:00:00Z"));
        check("2027-01-01T10:00:00+02:00", Some("2027-01-01T08:00:00Z"));
    }

    #[test]
    fn expiry_rejects_invalid_and_past_times() {
        for text in
            ["", "d", "30", "-1d", "0d", "30y", "2020-01-01", "tomorrow", "99999999999999999999d", "é"]
        {
            check(text, None);
        }
        check(&format!("{}w", u64::MAX / 10_000_000), None);
    }

    #[test]
    fn limit_accepts_a_number_or_its_word() {
        let parse = limit::<u32>("default");
        assert_eq!(parse("5"), Ok(Limit(Some(5))));
        assert_eq!(parse("default"), Ok(Limit(None)));
        assert!(parse("unlimited").is_err() && parse("-1").is_err());
    }
}
