//! Tasks on pages: the model acts in the browser session of the run, with the permission of the caller.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use url::Url;
use websvc_agent::{Link, ReadPage, ToolFailure, ToolOutput};
use websvc_engine::run_blocking;
use websvc_session::{PromptExecution, SessionView, Sessions};
use websvc_types::ScrapeRequest;
use websvc_types::interact::InteractLanguage;
use websvc_validate::{Checked, CodePlan, PagePlan, check_request};

use super::RunEnvironment;
use super::read::{known_page, refused};
use super::session::{Slot, session_failure};

/// The maximum time of a task.
const TASK_TIMEOUT: Duration = Duration::from_secs(90);

/// The maximum time to read the page after the task.
const READ_TIMEOUT: Duration = Duration::from_secs(15);

/// The maximum time to open another page in the open session.
const OPEN_TIMEOUT: Duration = Duration::from_secs(30);

/// The code that returns the page after the task.
const READ_PAGE: &str = "const data = await page.evaluate(() => ({ url: location.href, title: document.title, \
    text: document.body ? document.body.innerText.slice(0, 200000) : '', \
    links: Array.from(document.links).slice(0, 500).map((link) => \
    ({ url: link.href, text: (link.innerText || '').slice(0, 200) })) })); console.log(JSON.stringify(data));";

impl RunEnvironment {
    /// Does a task on a page, and reads the page then. The page, its cookies and its scripts stay as they are for the tasks
    /// that follow.
    pub(super) async fn interact(&self, url: &str, task: &str) -> Result<ToolOutput, ToolFailure> {
        let url = self.destination(url)?;
        let Some(sessions) = &self.tools.sessions else {
            return Err(refused("this service has no browser sessions"));
        };
        let request = ScrapeRequest { options: self.scrape_options(), ..ScrapeRequest::new(url.as_str()) };
        let Checked { plan, warnings: _ } = check_request(&request, &self.setup.policy)
            .map_err(|rejection| refused(&rejection.to_string()))?;
        let mut slot = self.session.lock().await;
        let view = self.session_at(sessions, &mut slot, &plan).await?;
        let mut remaining = Duration::ZERO;
        if let Some(session) = slot.as_mut() {
            // Not known until it is read after the task, also if this call is dropped before.
            session.page = None;
            remaining = session.remaining();
        }
        let timeout = TASK_TIMEOUT.min(remaining.saturating_sub(READ_TIMEOUT));
        let executed = sessions.prompt(&view, task, Some(timeout)).await;
        let page = self.read_session(sessions, &view).await;
        if let Some(session) = slot.as_mut() {
            session.page = page.as_ref().and_then(|page| Url::parse(&page.url).ok());
        }
        let PromptExecution { execution, output } = executed.map_err(session_failure)?;
        let answer = output.unwrap_or(execution.outcome.stderr);
        Ok(ToolOutput::Read { pages: page.into_iter().collect(), failures: Vec::new(), answer })
    }

    /// Returns the session with a page: the open one if it may show the page, or else a new one.
    async fn session_at(
        &self,
        sessions: &Sessions,
        slot: &mut Slot,
        plan: &PagePlan,
    ) -> Result<SessionView, ToolFailure> {
        let target = &plan.target;
        let open = slot.as_ref().filter(|session| session.can_show(&target.url_with_credentials()));
        let Some(session) = open else {
            self.close_session(slot).await;
            return self.open_session(sessions, slot, plan).await;
        };
        let (view, is_shown) = (session.view.clone(), session.shows(&target.url));
        if !is_shown {
            // The task that follows must not act on another page.
            if let Some(session) = slot.as_mut() {
                session.page = None;
            }
            let code = format!("await page.goto({});", Value::from(target.url.as_str()));
            let code = CodePlan { code, language: InteractLanguage::Node, timeout: OPEN_TIMEOUT };
            let opened = sessions.execute(&view, code, None).await.map_err(session_failure)?;
            if opened.outcome.exit_code != 0 || opened.outcome.killed {
                // The output may name the password of the URL.
                return Err(ToolFailure::Failed("the browser could not open the page".to_owned()));
            }
        }
        Ok(view)
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
        // A page that was refused leaves one of the browser, with its text.
        let url = Some(take("url")).filter(|url| url.starts_with("http"))?;
        let page = ReadPage { url, title: take("title"), markdown: take("text"), links };
        let destinations = Arc::clone(&self.destinations);
        run_blocking(self.call_deadline(), move || known_page(&destinations, page)).await.ok()
    }
}
