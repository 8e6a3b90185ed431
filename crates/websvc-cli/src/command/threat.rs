//! `websvc threat`: what threat protection of teams goes by, and what becomes of a URL, beside a running server too.

use std::sync::Arc;

use anyhow::{Context, Result};
use serde_json::json;
use url::Url;
use websvc_store::Store;
use websvc_threat::UrlChecker;
use websvc_types::{ScrapeOptions, ThreatProtection};
use websvc_validate::{Policy, ScrapePlan, ThreatPolicy, check_scrape_options};

use super::search::print_api_error;
use crate::CommandContext;
use crate::app;
use crate::args::{Common, ThreatCommand, ThreatValues};
use crate::output;

/// Runs `websvc threat`.
pub(crate) async fn threat(setting: CommandContext, threat: ThreatCommand) -> Result<()> {
    let store = Store::open(setting.data_dir.path())?;
    match threat {
        ThreatCommand::Show { team, json: _always } => output::json(&stored(&store, &team)?),
        ThreatCommand::Set { team, values, json: _always } => {
            let before = if values.reset { ThreatProtection::default() } else { stored(&store, &team)? };
            let after = read(with(before, values)?, ThreatProtection::default())?;
            let after = after.threat().cloned().unwrap_or_default();
            let json = serde_json::to_string(&after)?;
            store.set_threat_values(&team, (after != ThreatProtection::default()).then_some(&json))?;
            output::json(&after)
        }
        ThreatCommand::Check { url, team, json } => {
            let plan = read(ThreatProtection::default(), stored(&store, &team)?)?;
            let rules = plan.protection().context("threat protection is off")?;
            let inspection = UrlChecker::new(rules, &app::classifier(&setting.config)?);
            verdict(&inspection, &url, json, &setting.common).await
        }
    }
}

/// Returns the values of a team; those that are not set have their defaults.
fn stored(store: &Store, team: &str) -> Result<ThreatProtection> {
    match store.threat_values(team)? {
        Some(json) => serde_json::from_str(&json).with_context(|| format!("the values of team {team}")),
        None => Ok(ThreatProtection::default()),
    }
}

/// Returns the values with those that were given in their places.
fn with(before: ThreatProtection, values: ThreatValues) -> Result<ThreatProtection> {
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

/// Reads values by the rules of requests.
fn read(own: ThreatProtection, team: ThreatProtection) -> Result<ScrapePlan> {
    let policy = Policy { threat: ThreatPolicy::On, threat_values: Arc::new(team), ..Policy::default() };
    let options = ScrapeOptions { threat_protection: Some(own), ..ScrapeOptions::default() };
    Ok(check_scrape_options(options, &policy).map_err(print_api_error)?.plan)
}

async fn verdict(inspection: &UrlChecker, url: &Url, as_json: bool, common: &Common) -> Result<()> {
    let checked = inspection.check(url).await;
    if inspection.summary().unchecked > 0 {
        output::note(&if inspection.has_scanner() {
            format!("the scanner gave no verdict: `{}` says why", common.command("doctor"))
        } else {
            "no scanner is configured: the lists alone decide".to_owned()
        });
    }
    if as_json {
        let reason = checked.as_ref().err().map(ToString::to_string);
        return output::json(&json!({ "url": url.as_str(), "allowed": checked.is_ok(), "reason": reason }));
    }
    match checked {
        Ok(()) => output::line("allowed"),
        Err(blocked) => output::line(&format!("blocked: {blocked}")),
    }
}
