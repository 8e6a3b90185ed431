//! `POST /v2/search`.

use http::{Request, StatusCode};
use websvc_scrape::Files;
use websvc_store::{self as store, Caller};
use websvc_transport::ServerBody;
use websvc_validate::{Allowance, Checked, Policy, Retention, ThreatOverride, ThreatPolicy, read_search};

use super::body;
use crate::reply::{Failure, Reply, json};
use crate::service::Context;

/// Answers a search.
pub(crate) async fn search(context: Context<'_>, request: Request<ServerBody>) -> Result<Reply, Failure> {
    let origin = context.origin.of(request.body().peer_addr().ip(), request.uri(), request.headers());
    let body = body::read(request).await?;
    let policy = policy(context.caller.as_ref());
    let Checked { plan, warnings } =
        context.admission.decode(body, move |body| read_search(body, &policy)).await?;
    let files = files(&context, plan.retention(), origin);
    let mut outcome = context.engine.search(&plan, &files, context.started).await?;
    outcome.warnings.splice(..0, warnings);
    Ok(json(StatusCode::OK, &outcome.into_response(context.id)))
}

/// Returns where the files of a request go: to the artifacts of the team, unless nothing may be kept or nobody knows
/// under which URL the service is reached.
fn files(context: &Context<'_>, retention: Retention, origin: Option<String>) -> Files {
    let team = context.caller.as_ref().map_or("", |caller| caller.team.name.as_str());
    match (retention, origin) {
        // What is kept has an owner, which an anonymous request has not.
        (Retention::Zero | Retention::Anonymous, _) | (_, None) => Files::inline(),
        (Retention::Normal, Some(origin)) => {
            Files::kept(context.artifacts.of(team, websvc_artifacts::Retention::Stored), origin)
        }
    }
}

/// Returns what the caller's team may ask for; where nobody is asked for a key, none of the enterprise features.
fn policy(caller: Option<&Caller>) -> Policy {
    let Some(team) = caller.map(|caller| &caller.team) else { return Policy::default() };
    Policy {
        zdr: allowance(team.zdr),
        anon: allowance(team.anon),
        threat: match team.threat_protection {
            store::ThreatPolicy::Off => ThreatPolicy::Off,
            store::ThreatPolicy::On => ThreatPolicy::On,
            store::ThreatPolicy::Enforced => ThreatPolicy::Enforced,
        },
        threat_override: match team.threat_override {
            store::ThreatOverride::Allowed => ThreatOverride::Allowed,
            store::ThreatOverride::Denied => ThreatOverride::Denied,
        },
    }
}

fn allowance(retention: store::Retention) -> Allowance {
    match retention {
        store::Retention::Off => Allowance::Off,
        store::Retention::Allowed => Allowance::Allowed,
        store::Retention::Forced => Allowance::Forced,
    }
}
