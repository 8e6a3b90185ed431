//! What Chromium attaches to by itself, before it runs: the page of a context, windows that it opens, and workers
//! that several pages could share.
//!
//! All of them wait until they are told to run, so that nothing of a page asks for anything before it has been told
//! who looks at it and what is not to be loaded.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::connection::{CallError, Cdp};

/// Told of the session and the kind of a worker that waits.
pub(crate) type Welcome = Arc<dyn Fn(&str, &str) + Send + Sync>;

/// The contexts of one process that are open.
#[derive(Default)]
pub(crate) struct Arrivals(Mutex<HashMap<String, Guests>>);

/// What has arrived in one context.
#[derive(Default)]
struct Guests {
    /// Its only page, and our session with it.
    page: Option<(String, String)>,
    welcome: Option<Welcome>,
}

/// What is to be done about an arrival.
enum Manners {
    Run,
    Close,
    Greet(Welcome),
    Ignore,
}

impl Arrivals {
    /// Asks Chromium to report what arrives, and to let it wait.
    pub(crate) async fn watch(cdp: &Cdp) -> Result<(), CallError> {
        let params = json!({
            "autoAttach": true,
            "waitForDebuggerOnStart": true,
            "flatten": true,
            "filter": [{"type": "page"}, {"type": "service_worker"}, {"type": "shared_worker"}],
        });
        cdp.call("", "Target.setAutoAttach", params).await?;
        Ok(())
    }

    /// Expects a page in a context.
    pub(crate) fn expect(&self, context: &str) {
        self.lock().insert(context.to_owned(), Guests::default());
    }

    /// Says who is told of the workers of a context.
    pub(crate) fn welcome(&self, context: &str, welcome: Welcome) {
        if let Some(guests) = self.lock().get_mut(context) {
            guests.welcome = Some(welcome);
        }
    }

    /// Expects nothing more in a context.
    pub(crate) fn forget(&self, context: &str) {
        self.lock().remove(context);
    }

    /// Returns our session with the page of a context; it arrives before its making is answered.
    pub(crate) fn session(&self, context: &str, target: &str) -> Option<String> {
        let contexts = self.lock();
        let (page, session) = contexts.get(context)?.page.as_ref()?;
        (page == target).then(|| session.clone())
    }

    /// Deals with a target that Chromium has attached to.
    pub(crate) fn attached(&self, cdp: &Cdp, params: &Value) {
        let session = params["sessionId"].as_str().unwrap_or_default();
        let target = &params["targetInfo"];
        let run = |session| cdp.post(session, "Runtime.runIfWaitingForDebugger", json!({}));
        match self.manners(session, target) {
            Manners::Run => run(session),
            Manners::Greet(welcome) => welcome(session, target["type"].as_str().unwrap_or_default()),
            Manners::Close => {
                // The page that opened it is held up until it runs: what it asks for then is left without an answer.
                cdp.post(session, "Fetch.enable", json!({}));
                cdp.post("", "Target.closeTarget", json!({"targetId": target["targetId"]}));
                run(session);
            }
            Manners::Ignore => {
                run(session);
                cdp.post("", "Target.detachFromTarget", json!({"sessionId": session}));
            }
        }
    }

    fn manners(&self, session: &str, target: &Value) -> Manners {
        let mut contexts = self.lock();
        let context = target["browserContextId"].as_str().unwrap_or_default();
        // Of a page that is being put away, or of somebody else's who uses this browser.
        let Some(guests) = contexts.get_mut(context) else { return Manners::Ignore };
        if target["type"] != "page" {
            return guests.welcome.clone().map_or(Manners::Ignore, Manners::Greet);
        }
        if guests.page.is_some() {
            return Manners::Close;
        }
        let name = target["targetId"].as_str().unwrap_or_default();
        guests.page = Some((name.to_owned(), session.to_owned()));
        Manners::Run
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Guests>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
