//! The arguments of `teams`, `keys` and `backup`: who may do what, and keeping it.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Context, Result, bail, ensure};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use jiff::Timestamp;
use websvc_store::{IndexPolicy, KeyScope, Retention, ThreatOverride, ThreatPolicy};
use websvc_transport::IpNetwork;
use websvc_types::format::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum TeamsCommand {
    /// Creates a team, or changes what is given; a running server knows within a second.
    Set(SetTeam),
    /// Lists the teams.
    List {
        /// Prints the teams as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Shows one team.
    Show {
        /// The team.
        name: String,
        /// Prints the team as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Prints what the events of the team's jobs are signed with, and nothing else; it is made when there is none.
    WebhookSecret {
        /// The team.
        name: String,
        /// Makes another one, which holds from the next delivery on.
        #[arg(long)]
        rotate: bool,
        /// Prints the team and the secret as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Deletes a team with its keys, browser profiles and pages of its own.
    Delete {
        /// The team.
        name: String,
        /// Prints what was deleted as JSON.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct SetTeam {
    /// The team.
    pub(crate) name: String,
    /// Zero data retention: off, allowed or forced.
    #[arg(long, value_name = "WHETHER")]
    pub(crate) zdr: Option<Retention>,
    /// Anonymized zero data retention: off, allowed or forced.
    #[arg(long, value_name = "WHETHER")]
    pub(crate) anon: Option<Retention>,
    /// Threat protection: off, on or enforced.
    #[arg(long, value_name = "WHETHER")]
    pub(crate) threat_protection: Option<ThreatPolicy>,
    /// Threat protection settings of a request: allowed or denied.
    #[arg(long, value_name = "WHETHER")]
    pub(crate) threat_override: Option<ThreatOverride>,
    /// The credits that may be spent, or unlimited.
    #[arg(long, value_name = "N", value_parser = amount::<u64>("unlimited"))]
    pub(crate) credits: Option<Limit<u64>>,
    /// Requests per minute, or default: those of the configuration.
    #[arg(long, value_name = "N", value_parser = amount::<u32>("default"))]
    pub(crate) requests_per_minute: Option<Limit<u32>>,
    /// Requests at a time, or default: those of the configuration.
    #[arg(long, value_name = "N", value_parser = amount::<u32>("default"))]
    pub(crate) concurrency: Option<Limit<u32>>,
    /// Audit events: on or off.
    #[arg(long, value_name = "WHETHER")]
    pub(crate) audit: Option<OnOff>,
    /// Pages that the team gets, in the index and the cache: shared with all teams, seen by this team alone, or off, stored in
    /// neither.
    #[arg(long, value_name = "shared|team|off")]
    pub(crate) index: Option<IndexPolicy>,
    /// Prints the team as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A number, or the word for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limit<T>(Option<T>);

impl<T> Limit<T> {
    /// Returns the number.
    pub(crate) fn number(self) -> Option<T> {
        self.0
    }
}

/// Returns the parser of a number or of the word `none`.
fn amount<T: FromStr>(none: &'static str) -> impl Fn(&str) -> Result<Limit<T>, String> + Clone {
    move |text| match text.parse() {
        _ if text == none => Ok(Limit(None)),
        Ok(number) => Ok(Limit(Some(number))),
        Err(_) => Err(format!("it is neither a number nor {none}")),
    }
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum OnOff {
    On,
    Off,
}

impl OnOff {
    pub(crate) fn is_on(self) -> bool {
        self == Self::On
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Makes a key and prints it, alone, on stdout. It cannot be shown again.
    Create(CreateKey),
    /// Lists the keys; the keys themselves are not stored.
    List {
        /// Prints the keys as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Makes a key invalid.
    Revoke {
        /// The id that `keys list` shows.
        id: String,
        /// Prints the key as `keys list --json` does.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CreateKey {
    /// The team whose key it is; made when it does not exist.
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(crate) team: String,
    /// Purpose of the key
    #[arg(long = "name", value_name = "LABEL", default_value = "")]
    pub(crate) label: String,
    /// Lets the key administer the installation, beside its scopes.
    #[arg(long)]
    pub(crate) admin: bool,
    /// The only operations of the key; scrape is the content of pages, of results too. Repeat for several.
    #[arg(long = "scope", value_name = "OPERATION", value_delimiter = ',', value_parser = scope())]
    pub(crate) scopes: Vec<KeyScope>,
    /// The only formats of the key, such as markdown; repeat for several.
    #[arg(long = "format", value_name = "FORMAT", value_delimiter = ',', value_parser = Format::NAMES.to_vec())]
    pub(crate) formats: Vec<String>,
    /// When the key ceases to be valid: after a time such as 30d, 12h, 90m, 10s, or at a date or time (UTC).
    #[arg(long, value_name = "WHEN")]
    pub(crate) expires: Option<Expiry>,
    /// The only addresses of the key, as a block or a single one; repeat for several.
    #[arg(long = "allow-ip", value_name = "CIDR", value_delimiter = ',')]
    pub(crate) allow_ip: Vec<IpNetwork>,
    /// Requests per minute with this key, within those of its team.
    #[arg(long, value_name = "N")]
    pub(crate) requests_per_minute: Option<u32>,
    /// Requests at a time with this key, within those of its team.
    #[arg(long, value_name = "N")]
    pub(crate) concurrency: Option<u32>,
    /// Prints the key, and what it may do, as JSON; it cannot be shown again.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Returns the parser of a scope, which names all of them in help and errors.
fn scope() -> impl TypedValueParser<Value = KeyScope> {
    PossibleValuesParser::new(KeyScope::ALL.iter().map(|scope| scope.as_str()))
        .try_map(|name| name.parse::<KeyScope>())
}

/// When a key ceases to be valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expiry {
    AfterSeconds(u64),
    At(Timestamp),
}

impl Expiry {
    /// Returns the moment in milliseconds since the Unix epoch.
    ///
    /// # Errors
    /// When it is not after `now`, or too far away to be written down.
    pub(crate) fn unix_ms(self, now: Timestamp) -> Result<u64> {
        let now_ms = u64::try_from(now.as_millisecond()).context("the clock stands before 1970")?;
        let at_ms = match self {
            Self::AfterSeconds(seconds) => seconds.checked_mul(1000).and_then(|ms| now_ms.checked_add(ms)),
            Self::At(at) => u64::try_from(at.as_millisecond()).ok(),
        };
        let at_ms =
            at_ms.filter(|at_ms| i64::try_from(*at_ms).is_ok()).context("--expires is out of range")?;
        ensure!(at_ms > now_ms, "--expires is not in the future");
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
                let seconds = number.checked_mul(seconds).context("it is out of range")?;
                return Ok(Self::AfterSeconds(seconds));
            }
        }
        let midnight = || format!("{text}T00:00:00Z").parse();
        match text.parse().or_else(|_: jiff::Error| midnight()) {
            Ok(at) => Ok(Self::At(at)),
            Err(_) => bail!("it is neither a time such as 30d or 12h nor a date such as 2030-12-31"),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// The file, a tar archive; its name must end with .tar. An older file is replaced at the end.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Prints the summary as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let now: Timestamp = "2026-01-31T12:00:00Z".parse().unwrap();
        let at = text.parse::<Expiry>().and_then(|expiry| expiry.unix_ms(now)).ok();
        let at = at.map(|ms| Timestamp::from_millisecond(i64::try_from(ms).unwrap()).unwrap().to_string());
        assert_eq!(at.as_deref(), expected, "{text}");
    }

    #[test]
    fn a_key_expires_after_a_time_or_at_a_date() {
        check("30d", Some("2026-03-02T12:00:00Z"));
        check("12h", Some("2026-02-01T00:00:00Z"));
        check("90m", Some("2026-01-31T13:30:00Z"));
        check("1s", Some("2026-01-31T12:00:01Z"));
        check("2w", Some("2026-02-14T12:00:00Z"));
        check("2027-01-01", Some("2027-01-01T00:00:00Z"));
        check("2027-01-01T10:00:00+02:00", Some("2027-01-01T08:00:00Z"));
    }

    #[test]
    fn what_is_no_time_to_come_is_refused() {
        for text in
            ["", "d", "30", "-1d", "0d", "30y", "2020-01-01", "tomorrow", "99999999999999999999d", "é"]
        {
            check(text, None);
        }
        check(&format!("{}w", u64::MAX / 10_000_000), None);
    }

    #[test]
    fn an_amount_is_a_number_or_its_word() {
        let parse = amount::<u32>("default");
        assert_eq!(parse("5"), Ok(Limit(Some(5))));
        assert_eq!(parse("default"), Ok(Limit(None)));
        assert!(parse("unlimited").is_err() && parse("-1").is_err());
    }
}
