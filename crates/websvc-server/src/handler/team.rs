//! `/v2/team/threat-protection` and `/v2/team/siem`: the settings of the caller's team, for its admin keys.

use std::time::Duration;

use http::{Request, StatusCode};
use websvc_audit::{Event, Receipt};
use websvc_stage::Stage;
use websvc_store::{self as store, Store, StoreError, Team, TeamChange};
use websvc_transport::ServerBody;
use websvc_types::limits::{RISK_SCORE_DEFAULT, SIEM_TEST_WAIT_S};
use websvc_types::team::{
    SiemRequest, SiemResponse, SiemSettings, SiemTest, SiemTestReceiver, SiemTestRequest, SiemTestResponse,
    TeamThreatProtection, TeamThreatRequest, TeamThreatResponse,
};
use websvc_types::{ErrorCode, ThreatMode, ThreatProtection};
use websvc_validate::{Checked, ThreatOverride, ThreatPolicy, read_request};

use super::body;
use crate::authorize::authorize_admin;
use crate::blocking::run_blocking;
use crate::response::{ApiError, HttpResponse, json};
use crate::route::{Endpoint, OperationGroup, RequestBody, handler};
use crate::service::RequestContext;

/// The handlers require an admin key.
pub(crate) const ENDPOINTS: &[Endpoint] = &[
    Endpoint::get(
        THREAT_PROTECTION,
        OperationGroup::Team,
        handler!(|context, _| {
            check_admin(&context)?;
            threat_protection(&context).await
        }),
    )
    .name("threat-protection"),
    Endpoint::put(
        THREAT_PROTECTION,
        OperationGroup::Team,
        handler!(|context, request| set_threat_protection(&context, request).await),
    )
    .name("set-threat-protection")
    .body(RequestBody::OPTIONS),
    Endpoint::get(
        SIEM,
        OperationGroup::Team,
        handler!(|context, _| {
            check_admin(&context)?;
            siem(&context).await
        }),
    )
    .name("siem"),
    Endpoint::put(SIEM, OperationGroup::Team, handler!(|context, request| set_siem(&context, request).await))
        .name("set-siem")
        .body(RequestBody::SHORT),
    Endpoint::post(
        SIEM_TEST,
        OperationGroup::Team,
        handler!(|context, request| test_siem(&context, request).await),
    )
    .name("test-siem")
    .body(RequestBody::SHORT),
];

const THREAT_PROTECTION: &str = "/v2/team/threat-protection";
const SIEM: &str = "/v2/team/siem";
const SIEM_TEST: &str = "/v2/team/siem/test";

/// Checks that a caller may read and change the settings of its team.
///
/// # Errors
/// 403 without an admin key.
fn check_admin(context: &RequestContext<'_>) -> Result<(), ApiError> {
    let caller = context.caller.as_ref().ok_or_else(|| {
        let text = "Forbidden: without authentication there are no teams, and no settings of a team apply";
        ApiError::new(ErrorCode::Forbidden, text)
    })?;
    authorize_admin(caller)?;
    context.trail.set_target(|| format!("team {}", context.team_name()));
    Ok(())
}

async fn set_threat_protection(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    check_admin(context)?;
    let state = context.state;
    let decoding =
        state.admission.decode_body(body::read(request)?, |body| read_request::<TeamThreatRequest>(body, ()));
    let Checked { plan, warnings: _ } = state.engine.stages().run(Stage::Decode, decoding).await?;
    let (threat, threat_override, values) = plan;
    let threat = match threat {
        ThreatPolicy::Off => store::ThreatPolicy::Off,
        ThreatPolicy::On => store::ThreatPolicy::On,
        ThreatPolicy::Enforced => store::ThreatPolicy::Enforced,
    };
    let threat_override = match threat_override {
        ThreatOverride::Allowed => store::ThreatOverride::Allowed,
        ThreatOverride::Denied => store::ThreatOverride::Denied,
    };
    let values = (values != ThreatProtection::default()).then(|| serde_json::to_string(&values)).transpose();
    let values = values.map_err(|error| ApiError::internal(&error, "the rules could not be written"))?;
    let team = context.team_name().to_owned();
    on_store(context, move |store| {
        store.set_threat_protection(&team, threat, threat_override, values.as_deref())
    })
    .await?;
    threat_protection(context).await
}

/// Responds with the stored settings, not those that requests use for up to a second after a change.
async fn threat_protection(context: &RequestContext<'_>) -> Result<HttpResponse, ApiError> {
    let name = context.team_name().to_owned();
    let (team, values) =
        on_store(context, move |store| Ok((store.team(&name)?, store.threat_values(&name)?))).await?;
    let team = team.ok_or_else(no_team)?;
    let values: ThreatProtection = match values {
        Some(json) => serde_json::from_str(&json)
            .map_err(|error| ApiError::internal(&error, "the team's threat protection could not be read"))?,
        None => ThreatProtection::default(),
    };
    Ok(json(StatusCode::OK, &TeamThreatResponse { success: true, data: view(&team, values) }))
}

fn view(team: &Team, values: ThreatProtection) -> TeamThreatProtection {
    let ThreatProtection {
        mode: _,
        risk_score_threshold,
        blacklist,
        whitelist,
        blocked_tlds,
        failure_policy,
    } = values;
    let (mode, enforced) = match team.threat_protection {
        store::ThreatPolicy::Off => (ThreatMode::Off, false),
        store::ThreatPolicy::On => (ThreatMode::Normal, false),
        store::ThreatPolicy::Enforced => (ThreatMode::Normal, true),
    };
    TeamThreatProtection {
        mode,
        enforced,
        allow_request_overrides: team.threat_override == store::ThreatOverride::Allowed,
        risk_score_threshold: risk_score_threshold.unwrap_or(RISK_SCORE_DEFAULT),
        blacklist: blacklist.unwrap_or_default(),
        whitelist: whitelist.unwrap_or_default(),
        blocked_tlds: blocked_tlds.unwrap_or_default(),
        failure_policy,
    }
}

async fn set_siem(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    check_admin(context)?;
    let Checked { plan: enabled, warnings: _ } = read_request::<SiemRequest>(&body::read(request)?, ())?;
    let change = TeamChange { audit: Some(enabled), ..TeamChange::default() };
    let team = context.team_name().to_owned();
    on_store(context, move |store| store.set_team(&team, &change)).await?;
    siem(context).await
}

async fn siem(context: &RequestContext<'_>) -> Result<HttpResponse, ApiError> {
    let name = context.team_name().to_owned();
    let team = on_store(context, move |store| store.team(&name)).await?.ok_or_else(no_team)?;
    let sinks = context.state.audit.as_ref().map(|audit| audit.metrics().sinks).unwrap_or_default();
    let receivers: Vec<String> = sinks.iter().map(|sink| sink.name.to_owned()).collect();
    let data = SiemSettings { configured: !receivers.is_empty(), enabled: team.audit, receivers };
    Ok(json(StatusCode::OK, &SiemResponse { success: true, data }))
}

/// Sends a test event to the receivers through the spool, as other events, even if those of the team are off.
async fn test_siem(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    check_admin(context)?;
    let Checked { plan: SiemTestRequest { message }, warnings: _ } =
        read_request::<SiemTestRequest>(&body::read(request)?, ())?;
    let audit = context.state.audit.as_ref().ok_or_else(|| {
        let text = "audit events have no receiver: the operator configures them (audit.file, audit.syslog, audit.webhook)";
        ApiError::new(ErrorCode::BadRequest, text)
    })?;
    let team = context.team_name().to_owned();
    let target = message.or_else(|| Some(format!("team {team}")));
    let event = Event { team: Some(team), target, ..Event::new("siem-test") };
    let receipts = audit.record_and_wait(&event, Duration::from_secs(SIEM_TEST_WAIT_S)).await;
    let receiver = |Receipt { sink, failure }| SiemTestReceiver {
        name: sink.to_owned(),
        received: failure.is_none(),
        error: failure,
    };
    let receivers = receipts.into_iter().map(receiver).collect();
    let data = SiemTest { event_id: event.id.to_string(), receivers };
    Ok(json(StatusCode::OK, &SiemTestResponse { success: true, data }))
}

async fn on_store<T: Send + 'static>(
    context: &RequestContext<'_>,
    work: impl FnOnce(&Store) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, ApiError> {
    let store = context.state.store.clone();
    let result = run_blocking(move || work(&store)).await?;
    result.map_err(|error| ApiError::internal(&error, "the settings of the team could not be read or stored"))
}

fn no_team() -> ApiError {
    ApiError::new(ErrorCode::Unauthorized, "Unauthorized: the team of this key was deleted")
}
