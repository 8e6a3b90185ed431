//! Credits of a request: held before it is worked on, charged for after it.

use std::time::Duration;

use websvc_engine::{Bill, StageTimings};
use websvc_stage::{Stage, in_current_span};
use websvc_store::{
    Caller, CreditHold, DEFAULT_TEAM, HoldOutcome, StoreError, Usage, UsageRetention, UsageStage,
};
use websvc_types::ErrorCode;
use websvc_validate::RetentionMode;

use crate::response::ApiError;
use crate::service::RequestContext;

/// Holds the most that the request may cost.
///
/// # Errors
/// 402 when the team has not so many.
pub(crate) async fn hold(context: &RequestContext<'_>, most: u64) -> Result<CreditHold, ApiError> {
    context.engine.stages().run(Stage::Hold, try_hold(context, most)).await
}

async fn try_hold(context: &RequestContext<'_>, most: u64) -> Result<CreditHold, ApiError> {
    let Some(Caller { team, .. }) = &context.caller else {
        return Ok(context.store.hold_unlimited(DEFAULT_TEAM));
    };
    let failed = |error: StoreError| ApiError::internal(&error, "the credits could not be held");
    let held = match context.store.try_hold(team, most).map_err(failed)? {
        Some(held) => held,
        None => {
            let (store, team) = (context.store.clone(), team.clone());
            blocking(move || store.hold(&team, most)).await?.map_err(failed)?
        }
    };
    match held {
        HoldOutcome::Granted(hold) => Ok(hold),
        HoldOutcome::Insufficient { remaining } => {
            context.meters.refused_for_credits();
            Err(insufficient(most, remaining))
        }
    }
}

fn insufficient(most: u64, remaining: u64) -> ApiError {
    let text = format!(
        "Insufficient credits to perform this request: it may cost up to {most} credits, and the team has \
         {remaining} left"
    );
    ApiError::new(ErrorCode::InsufficientCredits, text)
}

/// Returns how much of a request may be kept.
pub(crate) fn kept(retention: RetentionMode, lockdown: bool) -> UsageRetention {
    match retention {
        RetentionMode::Anonymous => UsageRetention::Anonymous,
        RetentionMode::Zero => UsageRetention::Zero,
        // Lockdown is treated as zero data retention (specification, section 2.2).
        RetentionMode::Normal if lockdown => UsageRetention::Zero,
        RetentionMode::Normal => UsageRetention::Whole,
    }
}

/// What became of a request that credits were held for.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) operation: &'static str,
    pub(crate) status: u16,
    pub(crate) bill: Bill,
    pub(crate) stages: StageTimings,
    pub(crate) query: Option<String>,
    pub(crate) retention: UsageRetention,
}

/// Charges for a request, and returns what was charged. That is its bill, unless documents had more pages than the team
/// had credits.
///
/// # Errors
/// 500 when the service is stopping and no thread is left to ask the database.
pub(crate) async fn settle(
    context: &RequestContext<'_>,
    hold: CreditHold,
    outcome: Outcome,
) -> Result<u64, ApiError> {
    let operation = outcome.operation;
    let settling = charge(context, hold, outcome);
    let credits = context.engine.stages().run(Stage::Settle, settling).await?;
    context.meters.record_charge(operation, credits);
    Ok(credits)
}

async fn charge(context: &RequestContext<'_>, hold: CreditHold, outcome: Outcome) -> Result<u64, ApiError> {
    let usage = usage(context, outcome);
    let price = usage.price();
    if hold.covers(price) {
        let charged = hold.settle(usage);
        context.trail.charged(charged);
        return Ok(charged);
    }
    let charged = blocking(move || {
        if let Err(error) = hold.extend(price) {
            // What is held has to do.
            tracing::error!(error = &error as &dyn std::error::Error, "credits could not be borrowed");
        }
        hold.settle(usage)
    })
    .await?;
    context.trail.charged(charged);
    Ok(charged)
}

fn usage(context: &RequestContext<'_>, outcome: Outcome) -> Usage {
    let Outcome { operation, status, bill, stages, query, retention } = outcome;
    Usage {
        key: context.caller.as_ref().map(|caller| caller.key_id.clone()),
        request: context.id.clone(),
        operation,
        status,
        elapsed: context.started.elapsed(),
        items: bill.items(),
        stages: named(stages),
        query,
        retention,
    }
}

fn named(stages: StageTimings) -> Vec<UsageStage> {
    let StageTimings { find, gather } = stages;
    let stage = |stage: &str, elapsed: Duration| UsageStage { stage: stage.to_owned(), elapsed };
    let all = [stage("find", find), stage("gather", gather)];
    all.into_iter().filter(|stage| !stage.elapsed.is_zero()).collect()
}

/// Runs what may wait for the disk.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ApiError> {
    tokio::task::spawn_blocking(in_current_span(work))
        .await
        .map_err(|error| ApiError::internal(&error, "the credits could not be read"))
}
