//! What an audit event tells of a request: noted on its way, written when it ends, before it is answered.
//!
//! Every request has a trail, and every trail that has a caller whose team wants events leaves one, however the request
//! ends: answered, refused, or dropped because nobody waits for it any more.

use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use websvc_audit::{Audit, Event, Kept};
use websvc_store::{Caller, UsageRetention};

use crate::handler::demanded;
use crate::reply::{Failure, Reply};

/// The trail of one request.
#[derive(Debug)]
pub(crate) struct Trail {
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
pub(crate) struct Asked<'a> {
    /// Whom the request says it is made for.
    pub(crate) username: Option<&'a str>,
    pub(crate) query: Option<&'a str>,
    pub(crate) url: Option<&'a str>,
}

impl Trail {
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

    /// Notes who asks.
    pub(crate) fn known(&self, caller: &Caller) {
        let Some(operation) = self.start.operation.filter(|_| self.audit.is_some() && caller.team.audit) else {
            return;
        };
        *self.lock() = Some(Event {
            request_id: Some(self.start.request.clone()),
            team: Some(caller.team.name.clone()),
            key_id: Some(caller.key_id.to_string()),
            client: self.start.client,
            // A request that is refused before it was read has no more to say of it.
            kept: of(demanded(&caller.team)),
            ..Event::new(operation)
        });
    }

    /// Notes what is asked for, as far as it may be told.
    pub(crate) fn asked(&self, retention: UsageRetention, asked: &Asked<'_>) {
        if let Some(event) = &mut *self.lock() {
            let Asked { username, query, url } = asked;
            event.kept = of(retention);
            event.username = username.map(str::to_owned);
            if retention == UsageRetention::Whole {
                event.query = query.map(str::to_owned);
                event.urls = url.iter().map(|url| (*url).to_owned()).collect();
            }
        }
    }

    /// Notes what an action of administration is done to.
    pub(crate) fn concerns(&self, target: impl FnOnce() -> String) {
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
    pub(crate) fn end(&self, answer: &Result<Reply, Failure>) {
        match answer {
            Ok(reply) => self.end_with(reply.status().as_u16(), None),
            Err(failure) => self.failed(failure),
        }
    }

    /// Ends the trail with an answer that is no reply of its own.
    pub(crate) fn end_within<T>(&self, answer: &Result<T, Failure>) {
        match answer {
            Ok(_) => self.end_with(200, None),
            Err(failure) => self.failed(failure),
        }
    }

    fn failed(&self, failure: &Failure) {
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

impl Drop for Trail {
    /// What was not answered, because nobody waits for it or its handling panicked, was asked all the same.
    fn drop(&mut self) {
        self.write(|_| {});
    }
}

fn of(retention: UsageRetention) -> Kept {
    match retention {
        UsageRetention::Whole => Kept::Whole,
        UsageRetention::Zero => Kept::Zero,
        UsageRetention::Anonymous => Kept::Anonymous,
    }
}
