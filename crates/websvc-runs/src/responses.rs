//! Responses about agent runs, from the rows of the store.

use std::time::Duration;

use url::Url;
use websvc_jobs::timestamp;
use websvc_store::{RunRecord, RunStatus};
use websvc_transport::{has_credentials, without_credentials};
use websvc_types::agent::{
    AgentListItem, AgentListOptions, AgentListSettings, AgentRequest, AgentStatus, AgentStatusResponse,
    AgentThread, AgentThreadRun, AgentThreadRunStatus, AgentThreadStatus,
};
use websvc_types::limits::{AGENT_HINT_MAX_CHARS, AGENT_ORIGIN_MAX_CHARS};

use crate::stored::{StoredRequest, StoredResult};

/// The model in a list of a run whose request had none: clients require a name, and know this one.
const DEFAULT_MODEL: &str = "spark-1-pro";

/// The `origin` of a run whose request has none.
const DEFAULT_ORIGIN: &str = "api";

/// Returns the status of a run for its client.
pub(crate) fn status(
    record: &RunRecord,
    stored: &StoredRequest,
    result: Option<StoredResult>,
    retention: Duration,
) -> AgentStatusResponse {
    let StoredRequest { request, warnings } = stored;
    let result = result.unwrap_or_default();
    let retention_ms = u64::try_from(retention.as_millis()).unwrap_or(u64::MAX);
    let expires_at_ms = record.expires_at_ms.unwrap_or(record.created_at_ms.saturating_add(retention_ms));
    let is_finished = record.status.is_finished();
    AgentStatusResponse {
        success: true,
        id: record.id.clone(),
        status: agent_status(record.status),
        data: result.data,
        error: record.error.clone(),
        model: request.model.clone(),
        effort: request.effort,
        expires_at: timestamp(expires_at_ms),
        credits_used: is_finished.then_some(record.credits),
        thread_id: record.thread.clone(),
        thread_turn: record.turn,
        mode: request.mode.unwrap_or_default(),
        message: record.message.clone(),
        partial: result.partial,
        partial_schema_valid: result.partial_schema_valid,
        stop_reason: is_finished.then_some(result.stop_reason),
        warning: (!warnings.is_empty()).then(|| warnings.join("; ")),
    }
}

/// Returns the status that polling clients know.
fn agent_status(status: RunStatus) -> AgentStatus {
    match status {
        RunStatus::Queued | RunStatus::Running => AgentStatus::Processing,
        RunStatus::Succeeded => AgentStatus::Completed,
        RunStatus::Failed | RunStatus::Cancelled | RunStatus::Refused | RunStatus::CreditLimitReached => {
            AgentStatus::Failed
        }
    }
}

/// Returns a run as an item of a list; `None` if another version of the program stored it.
#[must_use]
pub fn agent_list_item(record: &RunRecord) -> Option<AgentListItem> {
    let StoredRequest { request, warnings: _ } = StoredRequest::decode(&record.request)?;
    let target_hint = target_hint(&request);
    let AgentRequest { prompt, urls, schema, model, effort, origin, integration, .. } = request;
    let urls = urls.map(|urls| urls.iter().map(|url| shown_url(url)).collect());
    let model = model.unwrap_or_else(|| DEFAULT_MODEL.to_owned());
    let cut = |text: String| text.chars().take(AGENT_ORIGIN_MAX_CHARS).collect::<String>();
    Some(AgentListItem {
        id: record.id.clone(),
        created_at: timestamp(record.created_at_ms),
        target_hint,
        origin: origin.filter(|origin| !origin.is_empty()).map_or(DEFAULT_ORIGIN.to_owned(), cut),
        integration: integration.map(cut),
        settings: AgentListSettings::default(),
        status: agent_status(record.status),
        options: AgentListOptions { urls, prompt, schema, model, effort },
    })
}

/// Returns the first URL of a request, or the beginning of its prompt.
pub(crate) fn target_hint(request: &AgentRequest) -> String {
    let urls = request.urls.as_deref().unwrap_or_default();
    let text = urls.first().map_or_else(|| request.prompt.clone(), |url| shown_url(url));
    text.chars().take(AGENT_HINT_MAX_CHARS).collect()
}

/// Returns a URL of a request without user name and password, which other keys of the team must not see.
fn shown_url(text: &str) -> String {
    let absolute = Url::parse(text).ok().filter(Url::has_host);
    let url = absolute.or_else(|| Url::parse(&format!("http://{}", text.trim())).ok());
    url.filter(has_credentials).map_or_else(|| text.to_owned(), |url| without_credentials(&url).into())
}

/// Returns a thread without its runs; `None` if it has no runs.
#[must_use]
pub fn agent_thread(records: &[RunRecord], runs: Vec<AgentThreadRun>) -> Option<AgentThread> {
    let first = records.first()?;
    let changed_at_ms = |record: &RunRecord| record.finished_at_ms.unwrap_or(record.created_at_ms);
    let updated_at_ms = records.iter().map(changed_at_ms).max().unwrap_or(first.created_at_ms);
    let is_running = records.iter().any(|record| !record.status.is_finished());
    Some(AgentThread {
        id: first.thread.clone(),
        created_at: timestamp(first.created_at_ms),
        updated_at: timestamp(updated_at_ms),
        status: if is_running { AgentThreadStatus::Running } else { AgentThreadStatus::Idle },
        runs,
    })
}

/// Returns a run of a thread for its client. Without its result it has no data.
pub(crate) fn thread_run(
    record: &RunRecord,
    stored: &StoredRequest,
    result: Option<StoredResult>,
) -> AgentThreadRun {
    let request = &stored.request;
    AgentThreadRun {
        id: record.id.clone(),
        turn: record.turn,
        mode: request.mode.unwrap_or_default(),
        prompt: request.prompt.clone(),
        urls: request.urls.as_ref().map(|urls| urls.iter().map(|url| shown_url(url)).collect()),
        schema: request.schema.clone(),
        effort: request.effort,
        status: match record.status {
            RunStatus::Queued | RunStatus::Running => AgentThreadRunStatus::Processing,
            RunStatus::Succeeded => AgentThreadRunStatus::Succeeded,
            RunStatus::Failed => AgentThreadRunStatus::Failed,
            RunStatus::Cancelled => AgentThreadRunStatus::Cancelled,
            RunStatus::Refused => AgentThreadRunStatus::Refused,
            RunStatus::CreditLimitReached => AgentThreadRunStatus::CreditLimitReached,
        },
        created_at: timestamp(record.created_at_ms),
        finished_at: record.finished_at_ms.map(timestamp),
        credits_used: record.status.is_finished().then_some(record.credits),
        message: record.message.clone(),
        data: result.and_then(|result| result.data),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_repeat_urls_without_passwords() {
        for (sent, shown) in [
            ("https://user:hunter2@a.test/x", "https://a.test/x"),
            ("token@a.test", "http://a.test/"),
            ("a.test:8080/x@y", "a.test:8080/x@y"),
            ("https://a.test", "https://a.test"),
        ] {
            assert_eq!(shown_url(sent), shown, "{sent}");
        }
    }
}
