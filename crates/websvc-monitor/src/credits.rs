//! Credits of checks (operations.md, section 3.9).

use std::time::Duration;

use websvc_store::{
    ApiVersion, BillingStatus, CheckRecord, CheckStatus, CreditHold, DEFAULT_TEAM, FinishedCheck,
    HoldOutcome, Usage, UsageItem, UsageRetention,
};
use websvc_types::counted;

use crate::error::MonitorsError;
use crate::monitors::{Inner, Monitors};

/// A hold, and the usage that it is charged for.
pub(crate) type Charge = (CreditHold, Usage);

const DAY_MS: u64 = 86_400_000;

/// Returns the credits that a team has left, if they do not suffice for a check of its monitor. `has_no_key` is true if
/// the monitor was created without a key. Blocks.
pub(crate) fn shortage(
    inner: &Inner,
    team: &str,
    has_no_key: bool,
    credits: u64,
) -> Result<Option<u64>, MonitorsError> {
    if is_anonymous(team, has_no_key) {
        return Ok(None);
    }
    let Some(team) = inner.store.team(team)? else { return Ok(Some(0)) };
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
        "Insufficient credits: the check may cost {}, and the team has {remaining} left",
        counted(check.estimated_credits, "credit", "credits")
    );
    let finished = FinishedCheck {
        status: CheckStatus::SkippedNoCredits,
        error: Some(error),
        actual_credits: 0,
        billing: BillingStatus::Failed,
        notifications: check.notifications.clone(),
        has_messages: false,
    };
    let now_ms = inner.store.now_ms();
    inner.finish_check(check.number, &finished, now_ms.saturating_add(30 * DAY_MS)).map(drop)
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
    let judgment = UsageItem { item: "judge".to_owned(), count: 1, credits: price };
    Ok(Some((hold, usage(check, url, vec![judgment], Duration::ZERO))))
}

/// Returns the usage of a part of a check.
pub(crate) fn usage(check: &CheckRecord, query: &str, items: Vec<UsageItem>, elapsed: Duration) -> Usage {
    Usage {
        key: check.key.clone(),
        request: check.id.clone(),
        result: None,
        operation: "monitor",
        api_version: ApiVersion::V2,
        status: 200,
        elapsed,
        items,
        stages: Vec::new(),
        query: Some(query.to_owned()),
        retention: UsageRetention::Whole,
    }
}

/// Returns whether the service required no key when the monitor was created.
pub(crate) fn is_anonymous(team: &str, has_no_key: bool) -> bool {
    has_no_key && team == DEFAULT_TEAM
}
