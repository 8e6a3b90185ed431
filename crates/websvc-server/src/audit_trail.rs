//! The audit trail of a request: collected while the request is handled, written when it ends, before the response is
//! sent.
//!
//! Every request has a trail. A trail writes one event if its caller is known and the team wants audit events, however
//! the request ends: with a response, with a rejection, or cancelled because the client disconnected.

use std::net::IpAddr;
use std::time::Instant;

use http::StatusCode;
use parking_lot::Mutex;
use url::Url;
use websvc_audit::{Audit, Event, RetentionMode};
use websvc_store::{Caller, UsageRetention};
use websvc_transport::without_credentials;

use crate::handler::forced_retention;
use crate::response::{ApiError, HttpResponse};

/// The trail of one request. [`end`](Self::end) writes its event; a trail that is dropped writes it without a status.
#[derive(Debug)]
pub(crate) struct AuditTrail {
    /// The receiver of the event; `None` if no sink is configured.
    audit: Option<Audit>,
    started: Instant,
    /// `None` until the caller is known, and after the event was written.
    event: Mutex<Option<Event>>,
    operation: Option<&'static str>,
    request_id: String,
    client: Option<IpAddr>,
}

/// The content of a request, as far as audit events record it.
#[derive(Debug, Default)]
pub(crate) struct AuditedRequest<'a> {
    /// The user for whom the client makes the request.
    pub(crate) username: Option<&'a str>,
    pub(crate) query: Option<&'a str>,
    /// The requested pages.
    pub(crate) urls: &'a [&'a str],
}

/// The status and the error code with which a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AuditOutcome {
    status: u16,
    code: Option<&'static str>,
}

impl AuditOutcome {
    pub(crate) fn of_status(status: StatusCode) -> Self {
        Self { status: status.as_u16(), code: None }
    }

    pub(crate) fn of_error(error: &ApiError) -> Self {
        Self { status: error.status(), code: Some(error.code()) }
    }

    /// Returns the outcome of an HTTP request.
    pub(crate) fn of_response(result: &Result<HttpResponse, ApiError>) -> Self {
        match result {
            Ok(response) => Self::of_status(response.status()),
            Err(error) => Self::of_error(error),
        }
    }

    /// Returns the outcome of an internal request, which has no HTTP response.
    pub(crate) fn of_internal<T>(result: &Result<T, ApiError>) -> Self {
        match result {
            Ok(_) => Self::of_status(StatusCode::OK),
            Err(error) => Self::of_error(error),
        }
    }
}

impl AuditTrail {
    /// Begins the trail of a request; an operation without a name writes no event.
    pub(crate) fn new(
        audit: Option<&Audit>,
        operation: Option<&'static str>,
        request_id: &str,
        client: Option<IpAddr>,
        started: Instant,
    ) -> Self {
        let request_id = request_id.to_owned();
        Self { audit: audit.cloned(), started, event: Mutex::default(), operation, request_id, client }
    }

    pub(crate) fn request_id(&self) -> &str {
        &self.request_id
    }

    /// Takes the event out of the trail, so that none is written: the replica that gets the request writes it.
    pub(crate) fn suspend(&self) -> Option<Event> {
        self.event.lock().take()
    }

    /// Puts back the event, because no other replica has answered the request.
    pub(crate) fn resume(&self, event: Option<Event>) {
        *self.event.lock() = event;
    }

    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    /// Records the caller.
    pub(crate) fn set_caller(&self, caller: &Caller) {
        let Some(operation) = self.operation.filter(|_| self.audit.is_some() && caller.team.audit) else {
            return;
        };
        *self.event.lock() = Some(Event {
            request_id: Some(self.request_id.clone()),
            team: Some(caller.team.name.clone()),
            key_id: Some(caller.key_id.to_string()),
            client: self.client,
            // If the request is rejected before its body is read, the retention of the team applies.
            retention: retention_mode(forced_retention(&caller.team)),
            ..Event::new(operation)
        });
    }

    /// Records the content of the request, as far as its retention allows.
    pub(crate) fn set_request(&self, retention: UsageRetention, request: &AuditedRequest<'_>) {
        if let Some(event) = &mut *self.event.lock() {
            let AuditedRequest { username, query, urls } = request;
            event.retention = retention_mode(retention);
            event.username = username.map(str::to_owned);
            if retention == UsageRetention::Whole {
                event.query = query.map(str::to_owned);
                event.urls = urls.iter().map(|url| strip_credentials(url)).collect();
            }
        }
    }

    /// Records the object of an action, such as a key or a job.
    pub(crate) fn set_target(&self, target: impl FnOnce() -> String) {
        if let Some(event) = &mut *self.event.lock() {
            event.target = Some(target());
        }
    }

    /// Records the charged credits.
    pub(crate) fn set_credits(&self, credits: u64) {
        if let Some(event) = &mut *self.event.lock() {
            event.credits_used = credits;
        }
    }

    /// Ends the trail: writes its event.
    pub(crate) fn end(self, outcome: AuditOutcome) {
        self.write(Some(outcome));
    }

    fn write(&self, outcome: Option<AuditOutcome>) {
        let event = self.event.lock().take();
        if let (Some(audit), Some(mut event)) = (&self.audit, event) {
            event.duration = self.started.elapsed();
            event.status = outcome.map(|outcome| outcome.status);
            event.code = outcome.and_then(|outcome| outcome.code);
            audit.record(&event);
        }
    }
}

impl Drop for AuditTrail {
    /// Writes the event of a request that was cancelled or whose handler panicked. After [`AuditTrail::end`] there is
    /// nothing left to write.
    fn drop(&mut self) {
        self.write(None);
    }
}

/// Returns a URL without user name and password.
fn strip_credentials(url: &str) -> String {
    Url::parse(url).map_or_else(|_| url.to_owned(), |url| without_credentials(&url).into())
}

fn retention_mode(retention: UsageRetention) -> RetentionMode {
    match retention {
        UsageRetention::Whole => RetentionMode::Whole,
        UsageRetention::Zero => RetentionMode::Zero,
        UsageRetention::Anonymous => RetentionMode::Anonymous,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};
    use tempfile::TempDir;
    use websvc_audit::{AuditConfig, Sink};
    use websvc_store::{Retention, Store, TeamChange};
    use websvc_types::ErrorCode;

    use super::*;

    struct Case {
        dir: TempDir,
        audit: Audit,
        caller: Caller,
    }

    impl Case {
        fn new(change: &TeamChange) -> Self {
            let dir = tempfile::tempdir().unwrap();
            let store = Store::open(dir.path()).unwrap();
            store.set_team("red", change).unwrap();
            let key = store.create_key("red", "").unwrap();
            let caller = store.authenticate(key.secret.expose()).unwrap().unwrap();
            let sinks = vec![Sink::file(dir.path().join("audit.jsonl"))];
            let audit = Audit::open(&dir.path().join("audit"), AuditConfig { sinks, max_bytes: 1 << 20 });
            Self { dir, audit: audit.unwrap(), caller }
        }

        fn trail(&self) -> AuditTrail {
            AuditTrail::new(Some(&self.audit), Some("search"), "r", None, Instant::now())
        }

        /// Delivers the events, and returns them.
        async fn events(self) -> Vec<Value> {
            self.audit.deliver(std::future::ready(()), Duration::from_secs(60)).await;
            let text = std::fs::read_to_string(self.dir.path().join("audit.jsonl")).unwrap_or_default();
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        }
    }

    fn rate_limited() -> AuditOutcome {
        AuditOutcome::of_error(&ApiError::new(ErrorCode::RateLimited, "text"))
    }

    fn audited() -> TeamChange {
        TeamChange { audit: Some(true), ..TeamChange::default() }
    }

    #[tokio::test]
    async fn event_of_a_cancelled_request_has_no_status() {
        let case = Case::new(&audited());
        let trail = case.trail();
        trail.set_caller(&case.caller);
        trail.set_request(
            UsageRetention::Whole,
            &AuditedRequest { query: Some("tea"), ..AuditedRequest::default() },
        );
        trail.set_credits(2);
        drop(trail);
        let events = case.events().await;
        assert_eq!((events.len(), events[0].get("status")), (1, None));
        assert_eq!((&events[0]["query"], &events[0]["creditsUsed"]), (&json!("tea"), &json!(2)));
    }

    #[tokio::test]
    async fn trail_that_ends_writes_one_event_with_its_outcome() {
        let case = Case::new(&audited());
        let trail = case.trail();
        trail.set_caller(&case.caller);
        trail.end(rate_limited());
        let events = case.events().await;
        assert_eq!(
            (events.len(), &events[0]["status"], &events[0]["code"]),
            (1, &json!(429), &json!("RATE_LIMITED"))
        );
    }

    #[tokio::test]
    async fn trail_without_a_caller_or_a_team_that_wants_events_writes_none() {
        let case = Case::new(&TeamChange::default());
        let trail = case.trail();
        trail.set_caller(&case.caller);
        trail.end(AuditOutcome::of_internal(&Ok(())));
        case.trail().end(AuditOutcome::of_internal(&Ok(())));
        assert_eq!(case.events().await, Vec::<Value>::new());
    }

    #[tokio::test]
    async fn request_rejected_before_its_body_is_read_has_the_forced_retention_of_its_team() {
        let case = Case::new(&TeamChange { anon: Some(Retention::Forced), ..audited() });
        let trail = case.trail();
        trail.set_caller(&case.caller);
        trail.end(rate_limited());
        let events = case.events().await;
        assert_eq!((&events[0]["retention"], events[0].get("team")), (&json!("anonymous"), None));
    }
}
