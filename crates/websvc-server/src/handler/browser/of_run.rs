//! The sessions that an agent run has open, for its trace (operations.md, section 4.6).

use std::collections::BTreeSet;

use uuid::Uuid;
use websvc_session::SessionError;
use websvc_types::Viewport;
use websvc_types::agent::{AgentBrowserSession, AgentEvent, AgentEventDetail};
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
    for id in open_sessions(events) {
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

/// Returns the sessions that have started and not ended.
fn open_sessions(events: &[AgentEvent]) -> BTreeSet<Uuid> {
    let mut open = BTreeSet::new();
    for event in events {
        match &event.detail {
            AgentEventDetail::BrowserSessionStarted { session_id } => {
                open.extend(Uuid::parse_str(session_id));
            }
            AgentEventDetail::BrowserSessionFinished { session_id, duration_ms: _ } => {
                open.retain(|id| Uuid::parse_str(session_id) != Ok(*id));
            }
            AgentEventDetail::RunStarted {}
            | AgentEventDetail::RunCancelRequested { .. }
            | AgentEventDetail::RunFinished { .. }
            | AgentEventDetail::AgentStarted {}
            | AgentEventDetail::AgentFinished { .. }
            | AgentEventDetail::ProgressReported { .. }
            | AgentEventDetail::ReasoningSummary { .. }
            | AgentEventDetail::ToolCallStarted { .. }
            | AgentEventDetail::ToolCallFinished { .. }
            | AgentEventDetail::ArtifactUpdated { .. }
            | AgentEventDetail::ErrorOccurred { .. } => {}
        }
    }
    open
}
