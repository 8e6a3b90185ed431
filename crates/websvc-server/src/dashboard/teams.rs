//! The teams on the dashboard.

use http::{Request, StatusCode};
use serde::{Deserialize, Deserializer, Serialize};
use websvc_store::{Team, TeamChange, UnknownPolicy};
use websvc_transport::ServerBody;
use websvc_types::ErrorCode;

use super::{read, run_on_store, success};
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TeamView {
    name: String,
    zdr: &'static str,
    anon: &'static str,
    threat_protection: &'static str,
    threat_override: &'static str,
    credits: Option<u64>,
    requests_per_minute: Option<u32>,
    concurrency: Option<u32>,
    audit: &'static str,
    index: &'static str,
    robots_agent: &'static str,
}

impl From<Team> for TeamView {
    fn from(team: Team) -> Self {
        Self {
            name: team.name,
            zdr: team.zdr.as_str(),
            anon: team.anon.as_str(),
            threat_protection: team.threat_protection.as_str(),
            threat_override: team.threat_override.as_str(),
            credits: team.credits,
            requests_per_minute: team.requests_per_minute,
            concurrency: team.concurrency,
            audit: if team.audit { "on" } else { "off" },
            index: team.index.as_str(),
            robots_agent: team.robots_agent.as_str(),
        }
    }
}

/// `GET /dashboard/teams`.
pub(super) async fn list(context: &RequestContext<'_>) -> Result<HttpResponse, ApiError> {
    let store = context.state.store.clone();
    let teams: Vec<TeamView> =
        run_on_store(move || store.list_teams()).await?.into_iter().map(TeamView::from).collect();
    Ok(json(StatusCode::OK, &serde_json::json!({ "teams": teams })))
}

/// A change of a team. A missing field changes nothing; `null` restores the default.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Change {
    name: String,
    zdr: Option<String>,
    anon: Option<String>,
    threat_protection: Option<String>,
    threat_override: Option<String>,
    #[serde(default, deserialize_with = "double_option")]
    credits: Option<Option<u64>>,
    #[serde(default, deserialize_with = "double_option")]
    requests_per_minute: Option<Option<u32>>,
    #[serde(default, deserialize_with = "double_option")]
    concurrency: Option<Option<u32>>,
    audit: Option<Switch>,
    index: Option<String>,
    robots_agent: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Switch {
    On,
    Off,
}

/// Deserializes a field that is `null` to `Some(None)`, so that it differs from a missing one.
fn double_option<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// `PUT /dashboard/teams`: creates or changes a team.
pub(super) async fn set(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let change: Change = read(request)?;
    context.trail.set_target(|| format!("team {}", change.name));
    let team_change = TeamChange {
        zdr: policy("zdr", change.zdr)?,
        anon: policy("anon", change.anon)?,
        threat_protection: policy("threatProtection", change.threat_protection)?,
        threat_override: policy("threatOverride", change.threat_override)?,
        credits: change.credits,
        requests_per_minute: change.requests_per_minute,
        concurrency: change.concurrency,
        audit: change.audit.map(|switch| switch == Switch::On),
        index: policy("index", change.index)?,
        robots_agent: policy("robotsAgent", change.robots_agent)?,
    };
    let store = context.state.store.clone();
    run_on_store(move || store.set_team(&change.name, &team_change)).await?;
    Ok(success())
}

fn policy<T: std::str::FromStr<Err = UnknownPolicy>>(
    field: &str,
    value: Option<String>,
) -> Result<Option<T>, ApiError> {
    value
        .map(|value| value.parse())
        .transpose()
        .map_err(|error| ApiError::new(ErrorCode::BadRequest, format!("Bad request: {field}: {error}")))
}
