//! `websvc threat`: shows and sets the threat protection of teams, and checks URLs. Works while a server runs.

use std::sync::Arc;

use anyhow::{Context, Result};
use serde_json::json;
use url::Url;
use websvc_scrape::threat::UrlChecker;
use websvc_store::Store;
use websvc_types::{ScrapeOptions, ThreatProtection};
use websvc_validate::{Policy, ScrapePlan, ThreatPolicy, check_request};

use super::search::rejection_error;
use crate::CommandContext;
use crate::app;
use crate::args::{Common, ThreatCommand, ThreatValues};
use crate::output;

/// Runs `websvc threat`.
pub(crate) async fn run(context: CommandContext, threat: ThreatCommand) -> Result<()> {
    let store = app::open_store(&context.config, &context.data_dir)?;
    match threat {
        ThreatCommand::Show { team, json: _always } => output::json(&stored(&store, &team)?),
        ThreatCommand::Set { team, values, json: _always } => {
            let before = if values.reset { ThreatProtection::default() } else { stored(&store, &team)? };
            let after = validate(merge(before, values)?, ThreatProtection::default())?;
            let after = after.threat.unwrap_or_default();
            let json = serde_json::to_string(&after)?;
            store.set_threat_values(&team, (after != ThreatProtection::default()).then_some(&json))?;
            output::json(&after)
        }
        ThreatCommand::Check { url, team, json } => {
            let plan = validate(ThreatProtection::default(), stored(&store, &team)?)?;
            let rules = plan.protection.as_ref().context("threat protection is off")?;
            let checker = UrlChecker::new(rules, &app::classifier(&context.config)?);
            check(&checker, &url, json, &context.common).await
        }
    }
}

/// Returns the settings of a team. Settings that are not stored have their defaults.
fn stored(store: &Store, team: &str) -> Result<ThreatProtection> {
    match store.threat_values(team)? {
        Some(json) => {
            serde_json::from_str(&json).with_context(|| format!("threat protection of team {team}"))
        }
        None => Ok(ThreatProtection::default()),
    }
}

/// Returns the settings, changed by the given arguments.
fn merge(before: ThreatProtection, values: ThreatValues) -> Result<ThreatProtection> {
    let ThreatValues { risk_score_threshold, blacklist, whitelist, blocked_tlds, failure_policy, reset: _ } =
        values;
    // `--blacklist ""` empties a list.
    let list = |given: Option<Vec<String>>, before: Option<Vec<String>>| match given {
        Some(entries) => Some(entries.into_iter().filter(|entry| !entry.is_empty()).collect()),
        None => before,
    };
    let failure_policy = match failure_policy {
        Some(name) => Some(serde_json::from_value(name.into())?),
        None => before.failure_policy,
    };
    Ok(ThreatProtection {
        mode: None,
        risk_score_threshold: risk_score_threshold.or(before.risk_score_threshold),
        blacklist: list(blacklist, before.blacklist),
        whitelist: list(whitelist, before.whitelist),
        blocked_tlds: list(blocked_tlds, before.blocked_tlds),
        failure_policy,
    })
}

/// Validates settings by the rules of requests.
fn validate(request: ThreatProtection, team: ThreatProtection) -> Result<ScrapePlan> {
    let policy = Policy { threat: ThreatPolicy::On, threat_values: Arc::new(team), ..Policy::default() };
    let options = ScrapeOptions { threat_protection: Some(request), ..ScrapeOptions::default() };
    Ok(check_request(&options, &policy).map_err(rejection_error)?.plan)
}

async fn check(checker: &UrlChecker, url: &Url, as_json: bool, common: &Common) -> Result<()> {
    let verdict = checker.check(url).await;
    if checker.summary().unchecked > 0 {
        output::note(&if checker.has_scanner() {
            format!("the scanner returned no verdict; `{}` checks it", common.command("doctor"))
        } else {
            "no scanner is configured: only the lists decide".to_owned()
        });
    }
    let reason = verdict.err().map(|blocked| blocked.to_string());
    let result = json!({ "url": url.as_str(), "allowed": reason.is_none(), "reason": reason });
    output::json_or_line(as_json, &result, || {
        reason.as_ref().map_or_else(|| "allowed".to_owned(), |reason| format!("blocked: {reason}"))
    })
}
