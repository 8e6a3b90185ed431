//! The sessions that an agent run has open, for its trace (operations.md, section 4.6).

use uuid::Uuid;
use websvc_runs::open_sessions;
use websvc_session::SessionError;
use websvc_types::Viewport;
use websvc_types::agent::{AgentBrowserSession, AgentEvent};
use websvc_types::interact::{BrowserSession, BrowserSessionStatus};

use super::{forward, wire};
use crate::forwarding::Origin;
use crate::response::ApiError;
use crate::service::RequestContext;

/// The window of the sessions of runs, which is that of a desktop.
const VIEWPORT: Viewport = Viewport { width: 1280, height: 800 };

/// Returns the sessions that a run with these events has open. A session whose replica does not respond is left out, because
/// only that replica knows its URL.
///
/// # Errors
/// Failures of the database.
pub(in crate::handler) async fn sessions_of_run(
    context: &RequestContext<'_>,
    base_url: Option<&str>,
    origin: Option<&Origin>,
    events: &[AgentEvent],
) -> Result<Vec<AgentBrowserSession>, ApiError> {
    let mut sessions: Vec<BrowserSession> = Vec::new();
    for id in open_sessions(events).into_iter().filter_map(|id| Uuid::parse_str(id).ok()) {
        match context.state.browser_sessions.find(context.team_name(), id).await {
            Ok(view) => sessions.push(wire::listed(base_url, &view)),
            // Rows of ended sessions are deleted after some time.
            Err(SessionError::NotFound) => {}
            Err(error) => return Err(error.into()),
        }
    }
    sessions.retain(|session| session.status == BrowserSessionStatus::Active);
    if let Some(origin) = origin {
        forward::complete_list(context, origin, &mut sessions).await?;
    }
    let shown = sessions.into_iter().filter(|session| !session.live_view_url.is_empty());
    let shown = shown.map(|BrowserSession { id, live_view_url, .. }| AgentBrowserSession {
        id,
        live_view_url,
        viewport: VIEWPORT,
    });
    Ok(shown.collect())
}
