//! What an audit event tells of a request: noted on its way, written when it ends, before it is answered.
//!
//! Every request has a trail, and every trail that has a caller whose team wants events leaves one, however the request
//! ends: answered, refused, or dropped because nobody waits for it any more.

use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use url::Url;
use websvc_audit::{Audit, Event, RetentionMode};
use websvc_store::{Caller, UsageRetention};
use websvc_transport::without_credentials;

use crate::handler::demanded;
use crate::response::{ApiError, HttpResponse};

/// The trail of one request.
#[derive(Debug)]
pub(crate) struct AuditTrail {
    /// Where the event goes; `None` when there is no place for one.
    audit: Option<Audit>,
    started: Instant,
    /// Made when the caller is known; `None` when no event is to be written, or it was.
    event: Mutex<Option<Event>>,
    start: Start,
}

/// What is known before the caller is.
#[derive(Debug)]
struct Start {
    operation: Option<&'static str>,
    request: String,
    client: Option<IpAddr>,
}

/// What was asked for.
#[derive(Debug, Default)]
pub(crate) struct AuditedRequest<'a> {
    /// Whom the request says it is made for.
    pub(crate) username: Option<&'a str>,
    pub(crate) query: Option<&'a str>,
    /// The pages.
    pub(crate) urls: &'a [&'a str],
}

impl AuditTrail {
    /// Begins the trail of a request; an operation without a name leaves no event.
    pub(crate) fn new(
        audit: Option<&Audit>,
        operation: Option<&'static str>,
        request: &str,
        client: Option<IpAddr>,
        started: Instant,
    ) -> Self {
        let start = Start { operation, request: request.to_owned(), client };
        Self { audit: audit.cloned(), started, event: Mutex::default(), start }
    }

    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    /// Notes who asks.
    pub(crate) fn set_caller(&self, caller: &Caller) {
        let Some(operation) = self.start.operation.filter(|_| self.audit.is_some() && caller.team.audit)
        else {
            return;
        };
        *self.lock() = Some(Event {
            request_id: Some(self.start.request.clone()),
            team: Some(caller.team.name.clone()),
            key_id: Some(caller.key_id.to_string()),
            client: self.start.client,
            // A request that is refused before it was read has no more to say of it.
            retention: of(demanded(&caller.team)),
            ..Event::new(operation)
        });
    }

    /// Notes what is asked for, as far as it may be told.
    pub(crate) fn set_request(&self, retention: UsageRetention, asked: &AuditedRequest<'_>) {
        if let Some(event) = &mut *self.lock() {
            let AuditedRequest { username, query, urls } = asked;
            event.retention = of(retention);
            event.username = username.map(str::to_owned);
            if retention == UsageRetention::Whole {
                event.query = query.map(str::to_owned);
                event.urls = urls.iter().map(|url| shown(url)).collect();
            }
        }
    }

    /// Notes what an action of administration is done to.
    pub(crate) fn set_target(&self, target: impl FnOnce() -> String) {
        if let Some(event) = &mut *self.lock() {
            event.target = Some(target());
        }
    }

    /// Notes what was charged.
    pub(crate) fn charged(&self, credits: u64) {
        if let Some(event) = &mut *self.lock() {
            event.credits_used = credits;
        }
    }

    /// Ends the trail with an answer.
    pub(crate) fn end(&self, answer: &Result<HttpResponse, ApiError>) {
        match answer {
            Ok(reply) => self.end_with(reply.status().as_u16(), None),
            Err(failure) => self.failed(failure),
        }
    }

    /// Ends the trail with an answer that is no reply of its own.
    pub(crate) fn end_internal<T>(&self, answer: &Result<T, ApiError>) {
        match answer {
            Ok(_) => self.end_with(200, None),
            Err(failure) => self.failed(failure),
        }
    }

    fn failed(&self, failure: &ApiError) {
        self.end_with(failure.status(), Some(failure.code()));
    }

    fn end_with(&self, status: u16, code: Option<&'static str>) {
        self.write(|event| (event.status, event.code) = (Some(status), code));
    }

    fn write(&self, finish: impl FnOnce(&mut Event)) {
        let event = self.lock().take();
        if let (Some(audit), Some(mut event)) = (&self.audit, event) {
            event.duration = self.started.elapsed();
            finish(&mut event);
            audit.record(&event);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Event>> {
        self.event.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns an address without a user and a password.
fn shown(url: &str) -> String {
    Url::parse(url).map_or_else(|_| url.to_owned(), |url| without_credentials(&url).into())
}

impl Drop for AuditTrail {
    /// What was not answered, because nobody waits for it or its handling panicked, was asked all the same.
    fn drop(&mut self) {
        self.write(|_| {});
    }
}

fn of(retention: UsageRetention) -> RetentionMode {
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

        async fn told(self) -> Vec<Value> {
            self.audit.deliver(std::future::ready(()), Duration::from_secs(60)).await;
            let text = std::fs::read_to_string(self.dir.path().join("audit.jsonl")).unwrap_or_default();
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        }
    }

    fn audited() -> TeamChange {
        TeamChange { audit: Some(true), ..TeamChange::default() }
    }

    #[tokio::test]
    async fn a_request_that_nobody_waits_for_any_more_is_told_without_a_status() {
        let case = Case::new(&audited());
        let trail = case.trail();
        trail.set_caller(&case.caller);
        trail.set_request(
            UsageRetention::Whole,
            &AuditedRequest { query: Some("tea"), ..AuditedRequest::default() },
        );
        trail.charged(2);
        drop(trail);
        let told = case.told().await;
        assert_eq!((told.len(), told[0].get("status")), (1, None));
        assert_eq!((&told[0]["query"], &told[0]["creditsUsed"]), (&json!("tea"), &json!(2)));
    }

    #[tokio::test]
    async fn a_request_is_told_once_with_its_first_end() {
        let case = Case::new(&audited());
        let trail = case.trail();
        trail.set_caller(&case.caller);
        trail.end(&Err(ApiError::new(ErrorCode::RateLimited, "text")));
        trail.end_internal(&Ok(()));
        drop(trail);
        let told = case.told().await;
        assert_eq!(
            (told.len(), &told[0]["status"], &told[0]["code"]),
            (1, &json!(429), &json!("RATE_LIMITED"))
        );
    }

    #[tokio::test]
    async fn without_a_caller_or_a_team_that_wants_it_there_is_no_event() {
        let case = Case::new(&TeamChange::default());
        let trail = case.trail();
        trail.set_caller(&case.caller);
        trail.end_internal(&Ok(()));
        case.trail().end_internal(&Ok(()));
        assert_eq!(case.told().await, Vec::<Value>::new());
    }

    #[tokio::test]
    async fn what_is_forced_for_a_team_holds_for_requests_that_were_never_read() {
        let case = Case::new(&TeamChange { anon: Some(Retention::Forced), ..audited() });
        let trail = case.trail();
        trail.set_caller(&case.caller);
        trail.end(&Err(ApiError::new(ErrorCode::RateLimited, "text")));
        let told = case.told().await;
        assert_eq!((&told[0]["retention"], told[0].get("team")), (&json!("anonymous"), None));
    }
}
