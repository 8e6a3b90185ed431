//! Tasks on pages: a browser session in which the model acts, with the permission of the caller.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use uuid::Uuid;
use websvc_agent::{Link, ReadPage, ToolFailure, ToolOutput};
use websvc_engine::{SessionUse, run_blocking};
use websvc_session::{
    NewSession, PromptExecution, SessionBilling, SessionCharge, SessionError, SessionView, Sessions,
};
use websvc_types::ScrapeRequest;
use websvc_types::interact::InteractLanguage;
use websvc_validate::{Checked, CodePlan, PagePlan, check_scrape};

use super::RunEnvironment;
use super::read::{failure, known_page, refused};
use crate::budget::Price;

/// The maximum time of a session, which decides its maximum price.
const TTL: Duration = Duration::from_secs(150);

/// The maximum time of a task.
const TASK_TIMEOUT: Duration = Duration::from_secs(90);

/// The maximum time to read the page after the task.
const READ_TIMEOUT: Duration = Duration::from_secs(15);

/// The time after which a session that is not used ends.
const ACTIVITY_TTL: Duration = Duration::from_secs(120);

/// The code that returns the page after the task.
const READ_PAGE: &str = "const data = await page.evaluate(() => ({ url: location.href, title: document.title, \
    text: document.body ? document.body.innerText.slice(0, 200000) : '', \
    links: Array.from(document.links).slice(0, 500).map((link) => \
    ({ url: link.href, text: (link.innerText || '').slice(0, 200) })) })); console.log(JSON.stringify(data));";

/// A session of a run. Dropping it ends the session.
struct TaskSession {
    sessions: Sessions,
    view: Option<SessionView>,
}

impl RunEnvironment {
    /// Does a task on a page, and reads the page then.
    pub(super) async fn interact(&self, url: &str, task: &str) -> Result<ToolOutput, ToolFailure> {
        let url = self.destination(url)?;
        let Some(sessions) = self.tools.sessions.clone() else {
            return Err(refused("this service has no browser sessions"));
        };
        let request = ScrapeRequest { options: self.scrape_options(), ..ScrapeRequest::new(url.as_str()) };
        let Checked { plan, warnings: _ } =
            check_scrape(request, &self.setup.policy).map_err(|rejection| refused(&rejection.to_string()))?;
        let engine = &self.tools.engine;
        let price = Price::of(engine.session_bill(TTL, SessionUse::Prompt).total());
        let reservation = self.budget.reserve(price).await.map_err(ToolFailure::Stopped)?;
        let view = sessions.create(self.new_session(&plan)).await.map_err(session_failure)?;
        let session = TaskSession { sessions: sessions.clone(), view: Some(view.clone()) };
        let executed = sessions.prompt(&view, task, Some(TASK_TIMEOUT)).await;
        let page = self.read_session(&sessions, &view).await;
        let duration = session.end().await;
        // A session whose end is unknown may have lasted for its whole time.
        let bill = engine.session_bill(duration.unwrap_or(TTL).min(TTL), SessionUse::Prompt);
        reservation.settle(&bill);
        let PromptExecution { execution, output } = executed.map_err(session_failure)?;
        let answer = output.unwrap_or(execution.outcome.stderr);
        Ok(ToolOutput::Read { pages: page.into_iter().collect(), failures: Vec::new(), answer })
    }

    fn new_session(&self, plan: &PagePlan) -> NewSession {
        let setup = &self.setup;
        NewSession {
            team: setup.team.clone(),
            scrape: Some((Uuid::now_v7(), plan.target().url().clone())),
            plan: plan.scrape().clone(),
            ttl: TTL,
            activity_ttl: ACTIVITY_TTL,
            stream_web_view: false,
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

    /// Returns the page of a session as text; `None` if it cannot be read.
    async fn read_session(&self, sessions: &Sessions, view: &SessionView) -> Option<ReadPage> {
        let code =
            CodePlan { code: READ_PAGE.to_owned(), language: InteractLanguage::Node, timeout: READ_TIMEOUT };
        let executed = sessions.execute(view, code, None).await.ok()?;
        let mut data: Value = serde_json::from_str(executed.outcome.stdout.trim()).ok()?;
        let links = data["links"].as_array().into_iter().flatten().filter_map(|link| {
            let url = link["url"].as_str().filter(|url| url.starts_with("http"))?.to_owned();
            Some(Link { url, text: link["text"].as_str().unwrap_or_default().to_owned() })
        });
        let mut links: Vec<Link> = links.collect();
        let mut seen = std::collections::HashSet::new();
        links.retain(|link| seen.insert(link.url.clone()));
        let mut take = |name: &str| match data[name].take() {
            Value::String(text) => text,
            _ => String::new(),
        };
        let page = ReadPage { url: take("url"), title: take("title"), markdown: take("text"), links };
        let destinations = Arc::clone(&self.destinations);
        run_blocking(self.call_deadline(), move || known_page(&destinations, page)).await.ok()
    }
}

impl TaskSession {
    /// Ends the session. Returns its duration.
    async fn end(mut self) -> Option<Duration> {
        let view = self.view.take()?;
        self.sessions.end(&view).await.ok().map(|end| end.duration)
    }
}

impl Drop for TaskSession {
    fn drop(&mut self) {
        let Some(view) = self.view.take() else { return };
        // The call was cancelled. The session would end by itself, but later. Without a runtime, the service is stopping.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let sessions = self.sessions.clone();
        runtime.spawn(async move {
            if let Err(error) = sessions.end(&view).await {
                tracing::warn!(%error, "the browser session of a cancelled agent run could not be ended");
            }
        });
    }
}

fn session_failure(error: SessionError) -> ToolFailure {
    match error {
        SessionError::Engine(error) => failure(&error),
        other => ToolFailure::Failed(other.to_string()),
    }
}
