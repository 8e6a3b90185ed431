//! Credits of checks (operations.md, section 3.9).

use std::time::Duration;

use websvc_store::{
    ApiVersion, BillingStatus, CheckRecord, CheckStatus, CreditHold, FinishedCheck, HoldOutcome, KeyId,
    Usage, UsageItem, UsageRetention,
};
use websvc_tasks::{TaskError, hold_for_task};
use websvc_types::counted;

use crate::monitors::{Inner, Monitors};

/// A hold, and the usage that it is charged for.
pub(crate) type Charge = (CreditHold, Usage);

const DAY_MS: u64 = 86_400_000;

/// Returns the credits that the team of a monitor has left, if they do not suffice for a check. Blocks.
pub(crate) fn shortage(
    inner: &Inner,
    team: &str,
    key: Option<&KeyId>,
    credits: u64,
) -> Result<Option<u64>, TaskError> {
    // Two at the same time would hold credits of each other for a moment, so that one of them fails without a reason.
    let _probing = inner.credit_probe.lock();
    Ok(match hold_for_task(&inner.store, team, key, credits, credits)? {
        // Each page holds its own credits when it is scraped.
        HoldOutcome::Granted(_dropped) => None,
        HoldOutcome::Insufficient { remaining } => Some(remaining),
    })
}

/// Ends a check for which the team has not enough credits. Blocks.
pub(crate) fn skip(inner: &Inner, check: &CheckRecord, remaining: u64) -> Result<(), TaskError> {
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
) -> Result<Option<CreditHold>, TaskError> {
    let (team, key) = (check.team.clone(), check.key.clone());
    let holding =
        monitors.with_store(move |store, _| hold_for_task(store, &team, key.as_ref(), credits, credits));
    Ok(match holding.await? {
        HoldOutcome::Granted(hold) => Some(hold),
        HoldOutcome::Insufficient { .. } => None,
    })
}

/// Holds the credits of one judgment. Returns `None` if there are not enough.
pub(crate) async fn judge(
    monitors: &Monitors,
    check: &CheckRecord,
    url: &str,
) -> Result<Option<Charge>, TaskError> {
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
