//! Stage 10, charge: credits are held before the work of a request, and charged after it.

use std::time::Duration;

use websvc_engine::{Bill, StageTimings};
use websvc_stage::Stage;
use websvc_store::{
    Caller, CreditHold, DEFAULT_TEAM, HoldOutcome, StoreError, Usage, UsageRetention, UsageStage,
};
use websvc_types::ErrorCode;
use websvc_types::counted;
use websvc_validate::RetentionMode;

use crate::blocking::run_blocking;
use crate::response::ApiError;
use crate::service::RequestContext;

/// Holds the maximum number of credits that the request may cost.
///
/// # Errors
/// 402 if the team has fewer credits.
pub(crate) async fn hold(context: &RequestContext<'_>, max_credits: u64) -> Result<CreditHold, ApiError> {
    let holding = try_hold(context, max_credits, "it may cost up to");
    context.state.engine.stages().run(Stage::Hold, holding).await
}

/// Checks that the team has the least number of credits with which work can begin that holds its credits itself.
///
/// # Errors
/// 402 if the team has fewer credits.
pub(crate) async fn require(context: &RequestContext<'_>, least_credits: u64) -> Result<(), ApiError> {
    let holding = try_hold(context, least_credits, "it needs at least");
    context.state.engine.stages().run(Stage::Hold, holding).await.map(drop)
}

async fn try_hold(
    context: &RequestContext<'_>,
    credits: u64,
    rule: &'static str,
) -> Result<CreditHold, ApiError> {
    let store = &context.state.store;
    let Some(Caller { team, .. }) = &context.caller else {
        return Ok(store.hold_unlimited(DEFAULT_TEAM));
    };
    let failed = |error: StoreError| ApiError::internal(&error, "the credits could not be held");
    let outcome = match store.try_hold(team, credits).map_err(failed)? {
        Some(outcome) => outcome,
        None => {
            let (store, team) = (store.clone(), team.clone());
            run_blocking(move || store.hold(&team, credits)).await?.map_err(failed)?
        }
    };
    match outcome {
        HoldOutcome::Granted(hold) => Ok(hold),
        HoldOutcome::Insufficient { remaining } => {
            context.state.metrics.record_insufficient_credits();
            Err(insufficient(credits, rule, remaining))
        }
    }
}

fn insufficient(credits: u64, rule: &str, remaining: u64) -> ApiError {
    let text = format!(
        "Insufficient credits to perform this request: {rule} {}, and the team has {remaining} left",
        counted(credits, "credit", "credits")
    );
    ApiError::new(ErrorCode::InsufficientCredits, text)
}

/// Returns how much of a request may be stored.
pub(crate) fn usage_retention(retention: RetentionMode, lockdown: bool) -> UsageRetention {
    match retention {
        RetentionMode::Anonymous => UsageRetention::Anonymous,
        RetentionMode::Zero => UsageRetention::Zero,
        // Lockdown is treated as zero data retention (specification, section 2.2).
        RetentionMode::Normal if lockdown => UsageRetention::Zero,
        RetentionMode::Normal => UsageRetention::Whole,
    }
}

/// The outcome of a request for which credits were held.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) operation: &'static str,
    pub(crate) status: u16,
    pub(crate) bill: Bill,
    pub(crate) stages: StageTimings,
    pub(crate) query: Option<String>,
    /// The ID by which the client knows the result, and may rate it.
    pub(crate) result: Option<String>,
    pub(crate) retention: UsageRetention,
}

/// Charges for a request, and returns the charged credits. These are its bill, unless documents had more pages than the
/// team had credits.
///
/// # Errors
/// 500 if the service is shutting down and no thread is available for the database.
pub(crate) async fn settle(
    context: &RequestContext<'_>,
    hold: CreditHold,
    outcome: Outcome,
) -> Result<u64, ApiError> {
    let operation = outcome.operation;
    let charging = charge(context, hold, outcome);
    let credits = context.state.engine.stages().run(Stage::Settle, charging).await?;
    context.state.metrics.record_charge(operation, credits);
    Ok(credits)
}

async fn charge(context: &RequestContext<'_>, hold: CreditHold, outcome: Outcome) -> Result<u64, ApiError> {
    let usage = usage(context, outcome);
    let price = usage.price();
    let charged = if hold.covers(price) {
        hold.settle(usage)
    } else {
        run_blocking(move || {
            if let Err(error) = hold.extend(price) {
                // The held credits are charged, although the price is higher.
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "credit lease could not be extended"
                );
            }
            hold.settle(usage)
        })
        .await?
    };
    context.trail.set_credits(charged);
    Ok(charged)
}

fn usage(context: &RequestContext<'_>, outcome: Outcome) -> Usage {
    let Outcome { operation, status, bill, stages, query, result, retention } = outcome;
    Usage {
        key: context.caller.as_ref().map(|caller| caller.key_id.clone()),
        request: context.id.clone(),
        result,
        operation,
        api_version: context.api_version,
        status,
        elapsed: context.started.elapsed(),
        items: bill.items(),
        stages: usage_stages(stages),
        query,
        retention,
    }
}

/// Returns the stages that took any time.
fn usage_stages(stages: StageTimings) -> Vec<UsageStage> {
    let StageTimings { find, gather } = stages;
    let stage = |stage: &str, elapsed: Duration| UsageStage { stage: stage.to_owned(), elapsed };
    let all = [stage("find", find), stage("gather", gather)];
    all.into_iter().filter(|stage| !stage.elapsed.is_zero()).collect()
}
