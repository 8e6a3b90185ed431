//! Credits of checks (operations.md, section 3.9).

use std::time::Duration;

use jiff::Timestamp;
use websvc_engine::Engine;
use websvc_store::{
    BillingStatus, CheckRecord, CheckStatus, CreditHold, DEFAULT_TEAM, FinishedCheck, HoldOutcome,
    MonitorRecord, Usage, UsageItem, UsageRetention,
};
use websvc_types::ScrapeOptions;
use websvc_types::limits::{CRAWL_LIMIT_DEFAULT, MONITOR_RESULTS_DEFAULT};
use websvc_types::monitor::MonitorTarget;
use websvc_validate::{MonitorDefinition, Policy, check_scrape_options};

use crate::error::MonitorsError;
use crate::monitors::{Inner, Monitors};
use crate::options::scraped_options;

/// A hold, and the usage that it is charged for.
pub(crate) type Charge = (CreditHold, Usage);

const DAY_MS: u64 = 86_400_000;

/// Returns the estimate of the credits of a check.
pub(crate) fn estimate(engine: &Engine, definition: &MonitorDefinition) -> u64 {
    let is_judged = definition.judges().is_some();
    let judgment = if is_judged { engine.judge_price() } else { 0 };
    let credits = definition.targets().iter().map(|target| match target {
        MonitorTarget::Scrape(target) => {
            let price = page_price(engine, target.scrape_options.as_ref()).saturating_add(judgment);
            price.saturating_mul(target.urls.len() as u64)
        }
        MonitorTarget::Crawl(target) => {
            let limit = target.crawl_options.as_ref().and_then(|options| options.limit);
            let price = page_price(engine, target.scrape_options.as_ref()).saturating_add(judgment);
            price.saturating_mul(limit.unwrap_or(CRAWL_LIMIT_DEFAULT))
        }
        MonitorTarget::Search(target) => {
            let max_results = u64::from(target.max_results.unwrap_or(MONITOR_RESULTS_DEFAULT));
            let results = max_results.saturating_mul(target.queries.len() as u64);
            engine.results_price(results).saturating_add(judgment.saturating_mul(max_results))
        }
    });
    credits.fold(0, u64::saturating_add)
}

/// Returns the maximum credits of a page.
fn page_price(engine: &Engine, options: Option<&ScrapeOptions>) -> u64 {
    let options = scraped_options(options.cloned().unwrap_or_default());
    match check_scrape_options(options, &Policy::default()) {
        Ok(checked) => engine.max_page_credits(&checked.plan),
        // An option that needs a permission of the team, or is no longer allowed.
        Err(_) => 1,
    }
}

/// Returns the estimate of the credits of all checks of 30 days.
pub(crate) fn estimate_per_month(engine: &Engine, definition: &MonitorDefinition, now: Timestamp) -> u64 {
    let runs = definition.schedule().map_or(0, |schedule| schedule.runs_per_30_days(now));
    estimate(engine, definition).saturating_mul(runs)
}

/// Returns the credits that the team has left, if they do not suffice for a check. Blocks.
pub(crate) fn shortage(
    inner: &Inner,
    record: &MonitorRecord,
    credits: u64,
) -> Result<Option<u64>, MonitorsError> {
    if is_anonymous(&record.team, record.key.is_none()) {
        return Ok(None);
    }
    let Some(team) = inner.store.team(&record.team)? else { return Ok(Some(0)) };
    Ok(match inner.store.hold(&team, credits)? {
        // Each page holds its own credits when it is scraped.
        HoldOutcome::Granted(hold) => {
            drop(hold);
            None
        }
        HoldOutcome::Insufficient { remaining } => Some(remaining),
    })
}

/// Ends a check for which the team has not enough credits. Blocks.
pub(crate) fn skip(inner: &Inner, check: &CheckRecord, remaining: u64) -> Result<(), MonitorsError> {
    let error = format!(
        "Insufficient credits: the check may cost {} credits, and the team has {remaining} left",
        check.estimated_credits
    );
    let finished = FinishedCheck {
        status: CheckStatus::SkippedNoCredits,
        error: Some(error),
        actual_credits: 0,
        billing: BillingStatus::Failed,
    };
    let now_ms = inner.config.clock.now_ms();
    inner.store.finish_check(check.number, &finished, now_ms.saturating_add(30 * DAY_MS), now_ms)?;
    Ok(())
}

/// Holds credits of the team of a check. Returns `None` if there are not enough.
pub(crate) async fn hold(
    monitors: &Monitors,
    check: &CheckRecord,
    credits: u64,
) -> Result<Option<CreditHold>, MonitorsError> {
    let (name, is_anonymous) = (check.team.clone(), is_anonymous(&check.team, check.key.is_none()));
    monitors
        .run_blocking(move |inner| {
            if is_anonymous {
                return Ok(Some(inner.store.hold_unlimited(&name)));
            }
            let Some(team) = inner.store.team(&name)? else { return Ok(None) };
            Ok(match inner.store.hold(&team, credits)? {
                HoldOutcome::Granted(hold) => Some(hold),
                HoldOutcome::Insufficient { .. } => None,
            })
        })
        .await
}

/// Holds the credits of one judgment. Returns `None` if there are not enough.
pub(crate) async fn judge(
    monitors: &Monitors,
    check: &CheckRecord,
    url: &str,
) -> Result<Option<Charge>, MonitorsError> {
    let price = monitors.inner.engine.judge_price();
    let Some(hold) = hold(monitors, check, price).await? else { return Ok(None) };
    let item = UsageItem { item: "judge".to_owned(), count: 1, credits: price };
    Ok(Some((hold, usage(check, url, vec![item], Duration::ZERO))))
}

/// Returns the usage of a part of a check.
pub(crate) fn usage(check: &CheckRecord, query: &str, items: Vec<UsageItem>, elapsed: Duration) -> Usage {
    Usage {
        key: check.key.clone(),
        request: check.id.clone(),
        operation: "monitor",
        status: 200,
        elapsed,
        items,
        stages: Vec::new(),
        query: Some(query.to_owned()),
        retention: UsageRetention::Whole,
    }
}

/// Returns whether the service required no key when the monitor was created.
fn is_anonymous(team: &str, has_no_key: bool) -> bool {
    has_no_key && team == DEFAULT_TEAM
}
