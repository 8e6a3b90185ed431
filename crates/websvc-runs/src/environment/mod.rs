//! The environment of a run: the tools of the loop over the engine, within the rules and the budget of the run.
//!
//! Nothing here trusts the model. A call is checked before anything is sent: the tool must be offered, its URL must be one
//! that the run may open ([`Destinations`]), its texts must not quote what the model must keep to itself ([`PrivateTexts`]),
//! and the budget must cover its maximum price ([`Budget`]).

mod crawl;
mod destinations;
mod interact;
mod links;
mod page_memory;
mod private_texts;
pub(crate) mod rank;
mod read;
mod search;
mod session;

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{Mutex as AsyncMutex, Semaphore, SemaphorePermit, watch};
use url::Url;
use websvc_agent::{Environment, Event, INSTRUCTIONS, Stop, ToolCall, ToolFailure, ToolKind, ToolOutput};
use websvc_engine::{Bill, ChargeKind, Engine};
use websvc_session::Sessions;
use websvc_store::{CreditHold, KeyId, UsageRetention};
use websvc_transport::BoxFuture;
use websvc_types::{Location, ThreatProtection};
use websvc_validate::Policy;

use crate::budget::Budget;
use crate::credits::TeamCredits;
use destinations::Destinations;
use page_memory::PageMemory;
use private_texts::PrivateTexts;
use session::Slot;

/// The maximum number of pages that all runs of this process read concurrently.
const MAX_READS: usize = 8;

/// The maximum time of one call, except a task on a page.
const CALL_TIMEOUT: Duration = Duration::from_secs(120);

/// The maximum time of a task on a page, with the start of the session.
const TASK_TIMEOUT: Duration = Duration::from_secs(240);

/// The maximum length of a word of a query, in bytes.
const MAX_WORD_BYTES: usize = 100;

/// The dependencies that all runs of this process share. Cheap to clone.
#[derive(Debug, Clone)]
pub struct RunTools {
    /// The engine with the limits of background work.
    engine: Engine,
    /// The browser sessions, for runs that may use them.
    sessions: Option<Sessions>,
    /// The permits of reads.
    reads: Arc<Semaphore>,
}

/// The settings of one run.
pub struct RunSetup {
    /// The ID of the run.
    pub id: String,
    /// The team that it belongs to.
    pub team: String,
    /// The policy of the team.
    pub policy: Policy,
    /// The maximum number of concurrent browser sessions of the team.
    pub concurrency: Option<u32>,
    /// The key of the request; `None` for an anonymous one.
    pub key: Option<KeyId>,
    /// The part of the request that may be stored.
    pub retention: UsageRetention,
    /// The URLs of the request.
    pub urls: Vec<Url>,
    /// True if the run may open only these URLs.
    pub is_strict: bool,
    /// The texts that the user wrote: the prompt, those of earlier turns, and the schema. The run may open what they name.
    pub user_texts: Vec<String>,
    /// Texts that must not leave the service with a call, in addition to the instructions of the model: secrets, which the
    /// model never gets.
    pub private_texts: Vec<String>,
    /// The location from which pages and results are requested.
    pub location: Option<Location>,
    /// The changes to the threat protection of the team.
    pub threat_protection: Option<ThreatProtection>,
    /// True if the caller permits tasks on pages, and its key the use of browser sessions.
    pub allows_interact: bool,
    /// The maximum number of credits.
    pub max_credits: u64,
    /// The credits of a step.
    pub step_credits: u64,
    /// The end of the run.
    pub deadline: Instant,
    /// True once the caller has cancelled the run.
    pub cancelled: watch::Receiver<bool>,
    /// Receives the events of the run.
    pub on_event: Box<dyn Fn(Event) + Send + Sync>,
}

/// The environment of one run.
pub struct RunEnvironment {
    tools: RunTools,
    setup: RunSetup,
    kinds: Vec<ToolKind>,
    budget: Budget,
    destinations: Arc<Destinations>,
    private: PrivateTexts,
    memory: Mutex<PageMemory>,
    session: AsyncMutex<Slot>,
}

impl RunTools {
    /// Creates the tools of this process. The engine is one for background work.
    #[must_use]
    pub fn new(engine: &Engine, sessions: Option<Sessions>) -> Self {
        Self { engine: engine.clone(), sessions, reads: Arc::new(Semaphore::new(MAX_READS)) }
    }

    /// Waits for a permit to read a page; `None` if the service is stopping.
    pub(crate) async fn read_permit(&self) -> Option<SemaphorePermit<'_>> {
        self.reads.acquire().await.ok()
    }

    /// Creates the environment of a run that holds these credits at its start. It holds more as its work goes on.
    #[must_use]
    pub fn environment(&self, setup: RunSetup, hold: CreditHold) -> RunEnvironment {
        let destinations = Arc::new(Destinations::new(&setup.urls, setup.is_strict, &setup.user_texts));
        let instructions = INSTRUCTIONS.map(str::to_owned);
        let private = PrivateTexts::new(setup.private_texts.iter().chain(&instructions));
        let store = self.engine.scraper().store().clone();
        let team = TeamCredits::new(store, setup.team.clone(), setup.max_credits);
        let budget = Budget::new(setup.max_credits, team, hold);
        let kinds = self.kinds(&setup);
        let (memory, session) = (Mutex::default(), AsyncMutex::default());
        RunEnvironment { tools: self.clone(), setup, kinds, budget, destinations, private, memory, session }
    }

    /// Returns the tools of a run. A strict run only reads its URLs: searches and maps send requests elsewhere.
    fn kinds(&self, setup: &RunSetup) -> Vec<ToolKind> {
        let mut kinds = match setup.is_strict {
            true => vec![ToolKind::Scrape],
            false => vec![ToolKind::Map, ToolKind::Scrape, ToolKind::Crawl],
        };
        if !setup.is_strict && !self.engine.sources().is_empty() {
            kinds.insert(0, ToolKind::Search);
        }
        if setup.allows_interact && self.can_interact() {
            kinds.push(ToolKind::Interact);
        }
        kinds
    }

    fn can_interact(&self) -> bool {
        let sessions = self.sessions.as_ref().filter(|sessions| sessions.is_enabled());
        self.engine.scraper().browser().is_some()
            && sessions.is_some_and(|sessions| sessions.check_prompts().is_ok())
    }
}

impl RunEnvironment {
    /// Returns the credits of the work so far.
    #[must_use]
    pub fn credits(&self) -> u64 {
        self.budget.bill().total()
    }

    /// Returns the charges of the work so far, by kind.
    #[must_use]
    pub fn bill(&self) -> Bill {
        self.budget.bill()
    }

    /// Returns the charges of the work, and the credits that are held for them.
    pub(crate) fn into_charge(self) -> (Bill, CreditHold) {
        self.budget.into_parts()
    }

    fn is_cancelled(&self) -> bool {
        *self.setup.cancelled.borrow()
    }

    /// Waits until the caller cancels the run.
    async fn cancelled(&self) {
        let mut cancelled = self.setup.cancelled.clone();
        if cancelled.wait_for(|is_cancelled| *is_cancelled).await.is_err() {
            // The run cannot be cancelled any more.
            std::future::pending::<()>().await;
        }
    }

    /// Returns the end of a call that begins now.
    fn call_deadline(&self) -> Instant {
        self.setup.deadline.min(Instant::now() + CALL_TIMEOUT)
    }

    /// Checks a call before anything is sent for it, and runs it.
    async fn run_call(&self, call: &ToolCall) -> Result<ToolOutput, ToolFailure> {
        self.check_call(call)?;
        match call {
            ToolCall::Search { query } => self.search(query).await,
            ToolCall::Map { url, query } => self.map(url, query).await,
            ToolCall::Scrape { url } => self.scrape(url).await,
            ToolCall::Crawl { url, max_pages } => self.crawl(url, *max_pages).await,
            ToolCall::Interact { url, task } => self.interact(url, task).await,
        }
    }

    /// Checks that the tool is offered and that the call quotes no private text.
    fn check_call(&self, call: &ToolCall) -> Result<(), ToolFailure> {
        let (kind, texts) = match call {
            ToolCall::Search { query } => (ToolKind::Search, [query.as_str(), ""]),
            ToolCall::Map { url, query } => (ToolKind::Map, [url.as_str(), query]),
            ToolCall::Scrape { url } => (ToolKind::Scrape, [url.as_str(), ""]),
            ToolCall::Crawl { url, max_pages: _ } => (ToolKind::Crawl, [url.as_str(), ""]),
            ToolCall::Interact { url, task } => (ToolKind::Interact, [url.as_str(), task]),
        };
        if !self.kinds.contains(&kind) {
            return Err(ToolFailure::Refused("this run does not have the tool".to_owned()));
        }
        if matches!(kind, ToolKind::Search | ToolKind::Map) && has_opaque_word(call) {
            return Err(ToolFailure::Refused(format!(
                "a query has no words of more than {MAX_WORD_BYTES} bytes"
            )));
        }
        if texts.iter().any(|text| self.private.is_quoted_in(text)) {
            return Err(ToolFailure::Refused("it quotes the instructions of the service".to_owned()));
        }
        Ok(())
    }

    /// Returns the URL of a call if the run may open it.
    fn destination(&self, url: &str) -> Result<Url, ToolFailure> {
        self.destinations.check(url).map_err(|reason| ToolFailure::Refused(reason.to_owned()))
    }
}

/// Returns whether a query has a word that is too long to be one, such as a text in base64.
fn has_opaque_word(call: &ToolCall) -> bool {
    match call {
        ToolCall::Search { query } | ToolCall::Map { query, url: _ } => {
            query.split_whitespace().any(|word| word.len() > MAX_WORD_BYTES)
        }
        ToolCall::Scrape { .. } | ToolCall::Crawl { .. } | ToolCall::Interact { .. } => false,
    }
}

impl Environment for RunEnvironment {
    fn tools(&self) -> &[ToolKind] {
        &self.kinds
    }

    fn can_open(&self, url: &str) -> bool {
        self.destinations.check(url).is_ok()
    }

    fn begin_step(&self) -> BoxFuture<'_, Result<(), Stop>> {
        Box::pin(async move {
            if self.is_cancelled() {
                return Err(Stop::Cancelled);
            }
            self.budget.charge(ChargeKind::AgentStep, self.setup.step_credits).await
        })
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, Result<ToolOutput, ToolFailure>> {
        Box::pin(async move {
            let timeout = match call {
                ToolCall::Interact { .. } => TASK_TIMEOUT,
                ToolCall::Search { .. }
                | ToolCall::Map { .. }
                | ToolCall::Scrape { .. }
                | ToolCall::Crawl { .. } => CALL_TIMEOUT,
            };
            let deadline = self.setup.deadline.min(Instant::now() + timeout);
            let calling = tokio::time::timeout_at(deadline.into(), Box::pin(self.run_call(call)));
            let outcome = tokio::select! {
                biased;
                () = self.cancelled() => return Err(ToolFailure::Stopped(Stop::Cancelled)),
                outcome = calling => outcome,
            };
            if self.budget.is_exceeded() {
                return Err(ToolFailure::Stopped(Stop::CreditLimit));
            }
            outcome.unwrap_or_else(|_elapsed| Err(ToolFailure::Failed("it took too long".to_owned())))
        })
    }

    fn rank<'a>(&'a self, query: &'a str, texts: &'a [&'a str]) -> BoxFuture<'a, Vec<usize>> {
        Box::pin(self.rank_texts(query, texts))
    }

    fn violation<'a>(&'a self, schema: &'a Value, value: &'a Value) -> BoxFuture<'a, Option<String>> {
        Box::pin(rank::violation(schema, value))
    }

    fn record(&self, event: Event) {
        (self.setup.on_event)(event);
    }
}
