//! The browser session of a run: its first task on a page opens it, and it stays open for the tasks that follow, until the
//! run ends.

use std::time::{Duration, Instant};

use url::Url;
use uuid::Uuid;
use websvc_agent::{Environment, Event, Stop, ToolFailure};
use websvc_engine::SessionUse;
use websvc_session::{NewSession, SessionBilling, SessionCharge, SessionError, SessionView, Sessions};
use websvc_site::registrable_domain;
use websvc_transport::has_credentials;
use websvc_validate::PagePlan;

use super::RunEnvironment;
use super::read::failure;
use crate::budget::{Price, Reservation};

/// The minimum of the time to live: of a session whose run has few credits left.
const MIN_TTL: Duration = Duration::from_secs(150);

/// The time to live after the end of the time of the run, in which the run ends the session.
const END_TIME: Duration = Duration::from_secs(30);

/// The time after which a session that is not used ends.
const ACTIVITY_TTL: Duration = Duration::from_secs(120);

/// The time that a session must have left for another task.
const MIN_REMAINING: Duration = Duration::from_secs(60);

/// The maximum time for which a run waits for the end of its session. The session ends nevertheless.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The session of a run, if it has one.
pub(super) type Slot = Option<RunSession>;

/// An open session.
pub(super) struct RunSession {
    pub(super) view: SessionView,
    /// The URL that the page had when it was read; `None` if it is not known.
    pub(super) page: Option<Url>,
    /// The URL that it was opened with. A page of another site gets a session of its own, without the cookies of this one.
    opened: Url,
    created: Instant,
    ttl: Duration,
    /// The maximum price, which the budget reserves.
    price: Price,
    guard: SessionGuard,
}

/// Ends a session when it is dropped.
struct SessionGuard {
    sessions: Sessions,
    view: Option<SessionView>,
}

impl RunSession {
    /// Returns whether it can show a page for another task.
    pub(super) fn can_show(&self, url: &Url) -> bool {
        let is_active =
            Uuid::parse_str(&self.view.record.id).is_ok_and(|id| self.guard.sessions.contains(id));
        let has_time = self.remaining() >= MIN_REMAINING;
        is_active && has_time && site(&self.opened) == site(url) && sends_credentials_of(&self.opened, url)
    }

    /// Returns whether it shows a page already. A URL without a fragment means the page in any of its states.
    pub(super) fn shows(&self, url: &Url) -> bool {
        self.page.as_ref().is_some_and(|page| is_same_page(page, url))
    }

    /// Returns the time to live that is left.
    pub(super) fn remaining(&self) -> Duration {
        self.ttl.saturating_sub(self.created.elapsed())
    }
}

impl RunEnvironment {
    /// Opens a session with a page.
    pub(super) async fn open_session(
        &self,
        sessions: &Sessions,
        slot: &mut Slot,
        plan: &PagePlan,
    ) -> Result<SessionView, ToolFailure> {
        let (ttl, reservation) = self.reserve_session().await.map_err(ToolFailure::Stopped)?;
        let (created, new) = (Instant::now(), self.new_session(plan, ttl));
        let owned = sessions.clone();
        // If this call is cancelled, the session ends as soon as it has started.
        let starting = tokio::spawn(async move {
            let view = owned.create(new).await?;
            Ok::<_, SessionError>((view.clone(), SessionGuard { sessions: owned, view: Some(view) }))
        });
        let started = starting.await.map_err(|error| ToolFailure::Failed(error.to_string()))?;
        let (view, guard) = started.map_err(session_failure)?;
        let id = view.record.id.clone();
        *slot = Some(RunSession {
            view: view.clone(),
            page: Some(plan.target.url.clone()),
            opened: plan.target.url_with_credentials(),
            created,
            ttl,
            price: reservation.keep(),
            guard,
        });
        self.record(Event::SessionStarted { id });
        Ok(view)
    }

    /// Reserves the price of a session. Returns its time to live, which is the minimum if the team has few credits left.
    async fn reserve_session(&self) -> Result<(Duration, Reservation<'_>), Stop> {
        let price =
            |ttl| Price::from_credits(self.tools.engine.session_bill(ttl, SessionUse::Prompt).total());
        let ttl = self.session_ttl();
        match self.budget.reserve(price(ttl)).await {
            Err(Stop::TeamCredits { .. }) if ttl > MIN_TTL => {
                Ok((MIN_TTL, self.budget.reserve(price(MIN_TTL)).await?))
            }
            reserved => Ok((ttl, reserved?)),
        }
    }

    /// Returns the time to live of a session that begins now: that of the run, but not more than half of its credits pay.
    fn session_ttl(&self) -> Duration {
        let minute = self.tools.engine.session_bill(Duration::from_secs(60), SessionUse::Prompt).total();
        let run = self.setup.deadline.saturating_duration_since(Instant::now()) + END_TIME;
        let affordable = (self.budget.remaining() / 2).saturating_mul(60).checked_div(minute);
        run.min(affordable.map_or(Duration::MAX, Duration::from_secs)).max(MIN_TTL)
    }

    fn new_session(&self, plan: &PagePlan, ttl: Duration) -> NewSession {
        let setup = &self.setup;
        NewSession {
            team: setup.team.clone(),
            scrape: Some((Uuid::now_v7(), plan.target.url.clone())),
            plan: plan.scrape.clone(),
            boundary: self.destinations.boundary().cloned(),
            ttl,
            activity_ttl: ACTIVITY_TTL,
            stream_web_view: true,
            concurrency: setup.concurrency,
            billing: SessionBilling {
                hold: self.tools.engine.scraper().store().hold_unlimited(&setup.team),
                key: setup.key.clone(),
                request: setup.id.clone(),
                retention: setup.retention,
                charge: SessionCharge::Included,
            },
        }
    }

    /// Ends the session of the run, if it has one. To be called when the loop has ended, whatever its outcome.
    pub async fn close(&self) {
        self.close_session(&mut *self.session.lock().await).await;
    }

    /// Ends the session, and charges for it.
    pub(super) async fn close_session(&self, slot: &mut Slot) {
        let Some(RunSession { view, page: _, opened: _, created, ttl, price, guard }) = slot.take() else {
            return;
        };
        // If this call is dropped while the session ends, this releases the price.
        let reservation = self.budget.kept(price);
        let team = &self.setup.team;
        let ended = tokio::time::timeout(CLOSE_TIMEOUT, guard.end(team)).await.ok().flatten();
        let duration = ended.unwrap_or_else(|| created.elapsed()).min(ttl);
        let bill = self.tools.engine.session_bill(duration, SessionUse::Prompt);
        reservation.settle(&bill);
        self.record(Event::SessionFinished { id: view.record.id, duration });
    }
}

impl SessionGuard {
    /// Ends the session. Returns its duration, also if it has ended before; `None` if that is not known.
    async fn end(mut self, team: &str) -> Option<Duration> {
        let view = self.view.take()?;
        if let Ok(end) = self.sessions.end(&view).await {
            return Some(end.duration);
        }
        let id = Uuid::parse_str(&view.record.id).ok()?;
        let ended = self.sessions.find(team, id).await.ok()?;
        self.sessions.end(&ended).await.ok().map(|end| end.duration)
    }
}

impl Drop for SessionGuard {
    fn drop(&mut self) {
        let Some(view) = self.view.take() else { return };
        // The session would end by itself, but later. Without a runtime, the service is stopping.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let sessions = self.sessions.clone();
        runtime.spawn(async move {
            if let Err(error) = sessions.end(&view).await {
                tracing::warn!(%error, "the browser session of an agent run could not be ended");
            }
        });
    }
}

/// Returns whether a session that was opened with a URL sends the user name and the password of another URL, if that has any.
/// It sends those of its own URL, to the origin of that URL.
fn sends_credentials_of(opened: &Url, url: &Url) -> bool {
    let is_same = (opened.username(), opened.password()) == (url.username(), url.password());
    !has_credentials(url) || (is_same && opened.origin() == url.origin())
}

/// Returns whether a URL is that of a page. Without a fragment, it means the page in any of its states.
fn is_same_page(page: &Url, url: &Url) -> bool {
    let mut wanted = url.clone();
    if wanted.fragment().is_none() {
        wanted.set_fragment(page.fragment());
    }
    wanted == *page
}

/// Returns the site of a URL: its registrable domain and port.
fn site(url: &Url) -> String {
    let host = registrable_domain(url.host_str().unwrap_or_default());
    format!("{host}:{}", url.port_or_known_default().filter(|port| !matches!(port, 80 | 443)).unwrap_or(0))
}

/// Returns why a tool that needs a session has no output.
pub(super) fn session_failure(error: SessionError) -> ToolFailure {
    match error {
        SessionError::Engine(error) => failure(&error),
        other => ToolFailure::Failed(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_is_the_same_in_any_state_unless_one_is_named() {
        let is_same = |page: &str, url: &str| is_same_page(&page.parse().unwrap(), &url.parse().unwrap());
        for (page, url, expected) in [
            ("http://a.test/x", "http://a.test/x", true),
            ("http://a.test/x#/list", "http://a.test/x", true),
            ("http://a.test/x#/list", "http://a.test/x#/list", true),
            ("http://a.test/x#/list", "http://a.test/x#/cart", false),
            ("http://a.test/x", "http://a.test/x#/cart", false),
            ("http://a.test/x?page=2", "http://a.test/x", false),
            ("http://a.test/x", "https://a.test/x", false),
        ] {
            assert_eq!(is_same(page, url), expected, "{page} {url}");
        }
    }

    #[test]
    fn session_sends_only_its_own_credentials_to_its_own_origin() {
        let sends =
            |opened: &str, url: &str| sends_credentials_of(&opened.parse().unwrap(), &url.parse().unwrap());
        for (opened, url, expected) in [
            ("http://u:p@a.test/x", "http://u:p@a.test/y", true),
            ("http://u:p@a.test/x", "http://b.a.test/", true),
            ("http://u:p@a.test/x", "http://u:other@a.test/x", false),
            ("http://u:p@a.test/x", "http://u:p@b.a.test/x", false),
            ("http://u:p@a.test/x", "https://u:p@a.test/x", false),
            ("http://a.test/x", "http://u@a.test/x", false),
        ] {
            assert_eq!(sends(opened, url), expected, "{opened} {url}");
        }
    }

    #[test]
    fn site_is_the_registrable_domain_and_the_port() {
        let is_same = |one: &str, other: &str| site(&one.parse().unwrap()) == site(&other.parse().unwrap());
        for (one, other, expected) in [
            ("http://shop.test/login", "https://account.shop.test/orders", true),
            ("http://shop.test/", "http://shop.test:8080/", false),
            ("http://a.co.uk/", "http://b.co.uk/", false),
            ("http://127.0.0.1/", "http://127.0.0.2/", false),
        ] {
            assert_eq!(is_same(one, other), expected, "{one} {other}");
        }
    }
}
