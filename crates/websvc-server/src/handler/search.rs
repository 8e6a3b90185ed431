//! `POST /v2/search`.

use bytes::Bytes;
use http::{Request, StatusCode};
use websvc_engine::{Bill, EngineError, Stages, team_policy};
use websvc_scrape::Files;
use websvc_store::{Caller, DEFAULT_TEAM, Store, UsageRetention};
use websvc_transport::ServerBody;
use websvc_types::SearchResponse;
use websvc_validate::{Checked, Policy, Retention, ScrapePlan, SearchPlan, read_search};

use super::body;
use crate::authorise::authorise_formats;
use crate::charge::{self, Outcome};
use crate::reply::{Failure, Reply, json};
use crate::service::Context;

/// Answers a search.
pub(crate) async fn search(context: Context<'_>, request: Request<ServerBody>) -> Result<Reply, Failure> {
    let origin = context.origin.of(request.body().peer_addr().ip(), request.uri(), request.headers());
    let body = body::read(request).await?;
    Ok(json(StatusCode::OK, &answer_search(context, origin, body).await?))
}

/// Answers the body of a search, wherever it came from.
pub(crate) async fn answer_search(
    context: Context<'_>,
    origin: Option<String>,
    body: Bytes,
) -> Result<SearchResponse, Failure> {
    let policy = policy(context.store, context.caller.as_ref())?;
    let Checked { plan, warnings } =
        context.admission.decode(body, move |body| read_search(body, &policy)).await?;
    let formats = plan.scrape().map_or(&[][..], ScrapePlan::formats);
    authorise_formats(context.caller.as_ref(), formats)?;
    if context.started.elapsed() >= plan.timeout() {
        // It waited for its turn for all of its time: nobody is there any more to read an answer.
        let timeout_ms = u64::try_from(plan.timeout().as_millis()).unwrap_or(u64::MAX);
        return Err(EngineError::Timeout { timeout_ms }.into());
    }
    let files = files(&context, plan.retention(), origin);
    let hold = charge::hold(&context, context.engine.most_credits(&plan)).await?;
    match context.engine.search(&plan, team(&context), &files, context.started).await {
        Ok(mut outcome) => {
            outcome.warnings.splice(..0, warnings);
            let (bill, stages) = (std::mem::take(&mut outcome.bill), outcome.stages);
            let done = done(&plan, StatusCode::OK.as_u16(), bill, stages);
            let credits = charge::settle(&context, hold, done).await?;
            Ok(outcome.into_response(context.id, credits))
        }
        Err(mut error) => {
            let bill = error.take_bill();
            let failure = Failure::from(error);
            let done = done(&plan, failure.status(), bill, Stages::default());
            charge::settle(&context, hold, done).await?;
            Err(failure)
        }
    }
}

/// Returns what the usage log is told.
fn done(plan: &SearchPlan, status: u16, bill: Bill, stages: Stages) -> Outcome {
    let retention = match plan.retention() {
        Retention::Anonymous => UsageRetention::Anonymous,
        Retention::Zero => UsageRetention::Zero,
        // Lockdown is treated as zero data retention (specification, section 2.2).
        Retention::Normal if plan.scrape().is_some_and(ScrapePlan::lockdown) => UsageRetention::Zero,
        Retention::Normal => UsageRetention::Whole,
    };
    let query = (retention == UsageRetention::Whole).then(|| plan.query_text().to_owned());
    Outcome { operation: "search", status, bill, stages, query, retention }
}

/// Returns where the files of a request go: to the artifacts of the team, unless nothing may be kept or nobody knows
/// under which URL the service is reached.
pub(super) fn files(context: &Context<'_>, retention: Retention, origin: Option<String>) -> Files {
    let team = context.caller.as_ref().map_or("", |caller| caller.team.name.as_str());
    match (retention, origin) {
        // What is kept has an owner, which an anonymous request has not.
        (Retention::Zero | Retention::Anonymous, _) | (_, None) => Files::inline(),
        (Retention::Normal, Some(origin)) => {
            Files::kept(context.artifacts.of(team, websvc_artifacts::Retention::Stored), origin)
        }
    }
}

/// Returns whose profiles a request uses: where nobody is asked for a key, everybody is one team.
pub(super) fn team<'a>(context: &'a Context<'_>) -> &'a str {
    context.caller.as_ref().map_or(DEFAULT_TEAM, |caller| caller.team.name.as_str())
}

/// Returns what the caller's team may ask for.
///
/// # Errors
/// 500 when that is not known.
pub(super) fn policy(store: &Store, caller: Option<&Caller>) -> Result<Policy, Failure> {
    let team = caller.map(|caller| &*caller.team);
    team_policy(store, team)
        .map_err(|error| Failure::internal(&error, "the team's threat protection could not be read"))
}
