//! The browser sessions of the team, for the page "Sessions" of the dashboard.
//!
//! The URLs of the live view are paths: the dashboard embeds the page from its own origin, whatever the public URL is.

use http::StatusCode;
use serde::Serialize;
use websvc_session::{SessionUrls, SessionView};
use websvc_store::{BrowserSessionRecord, BrowserSessionStatus};

use crate::handler::authorize_sessions;
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;

/// The sessions, the newest first.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionList {
    /// Milliseconds since the Unix epoch, like the times of the sessions.
    now: u64,
    sessions: Vec<SessionRow>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionRow {
    id: String,
    /// `active`, `destroyed`, or `elsewhere`: active in another process of the service.
    status: &'static str,
    /// The scrape whose page it shows.
    scrape: Option<String>,
    created_at: u64,
    active_at: u64,
    expires_at: u64,
    destroyed_at: Option<u64>,
    /// The credits that an active session would cost now.
    credits: Option<u64>,
    live_view: Option<LiveView>,
}

/// The paths of the live view.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LiveView {
    read_only: String,
    interactive: String,
}

/// Responds with the sessions of the caller's team, which needs the rights to use sessions.
pub(super) async fn list(context: &RequestContext<'_>) -> Result<HttpResponse, ApiError> {
    authorize_sessions(context.caller.as_ref())?;
    let sessions = &context.state.browser_sessions;
    let views = sessions.list(context.team_name(), None).await?;
    let rows = views.into_iter().map(|view| {
        let credits = sessions.credits_so_far(&view);
        row(view, credits)
    });
    Ok(json(StatusCode::OK, &SessionList { now: context.state.store.now_ms(), sessions: rows.collect() }))
}

fn row(view: SessionView, credits: Option<u64>) -> SessionRow {
    let SessionView { record, urls } = view;
    let BrowserSessionRecord {
        id,
        team: _,
        scrape,
        stream_web_view: _,
        status,
        is_own: _,
        created_at_ms,
        active_at_ms,
        expires_at_ms,
        destroyed_at_ms,
    } = record;
    let live_view = urls.map(|urls| live_view(&id, &urls));
    SessionRow {
        status: match (status, &live_view) {
            (BrowserSessionStatus::Active, Some(_)) => "active",
            (BrowserSessionStatus::Active, None) => "elsewhere",
            (BrowserSessionStatus::Destroyed, _) => "destroyed",
        },
        id,
        scrape,
        created_at: created_at_ms,
        active_at: active_at_ms,
        expires_at: expires_at_ms,
        destroyed_at: destroyed_at_ms,
        credits,
        live_view,
    }
}

fn live_view(id: &str, urls: &SessionUrls) -> LiveView {
    let path = format!("/v2/browser/{id}/live?token=");
    LiveView {
        read_only: format!("{path}{}", urls.view_token()),
        interactive: format!("{path}{}&interactive=true", urls.control_token()),
    }
}
