//! What Chromium attaches to by itself, before it runs: the page of a context, windows that it opens, and workers
//! that several pages could share.
//!
//! All of them wait until they are told to run, so that nothing of a page asks for anything before it has been told
//! who looks at it and what is not to be loaded.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::connection::{Cdp, CdpError};

/// Told of the session and the kind of a worker that waits.
pub(crate) type WorkerCallback = Arc<dyn Fn(&str, &str) + Send + Sync>;

/// The contexts of one process that are open.
#[derive(Default)]
pub(crate) struct TargetRegistry(Mutex<HashMap<String, ContextTargets>>);

/// What has arrived in one context.
#[derive(Default)]
struct ContextTargets {
    /// Its only page, and our session with it.
    page: Option<(String, String)>,
    welcome: Option<WorkerCallback>,
}

/// What is to be done about an arrival.
enum AttachAction {
    Run,
    Close,
    Greet(WorkerCallback),
    Ignore,
}

impl TargetRegistry {
    /// Asks Chromium to report what arrives, and to let it wait.
    pub(crate) async fn watch(cdp: &Cdp) -> Result<(), CdpError> {
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
    pub(crate) fn register_context(&self, context: &str) {
        self.lock().insert(context.to_owned(), ContextTargets::default());
    }

    /// Says who is told of the workers of a context.
    pub(crate) fn on_worker(&self, context: &str, welcome: WorkerCallback) {
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
    pub(crate) fn on_attached(&self, cdp: &Cdp, params: &Value) {
        let session = params["sessionId"].as_str().unwrap_or_default();
        let target = &params["targetInfo"];
        let run = |session| cdp.send_no_reply(session, "Runtime.runIfWaitingForDebugger", json!({}));
        match self.manners(session, target) {
            AttachAction::Run => run(session),
            AttachAction::Greet(welcome) => welcome(session, target["type"].as_str().unwrap_or_default()),
            AttachAction::Close => {
                // The page that opened it is held up until it runs: what it asks for then is left without an answer.
                cdp.send_no_reply(session, "Fetch.enable", json!({}));
                cdp.send_no_reply("", "Target.closeTarget", json!({"targetId": target["targetId"]}));
                run(session);
            }
            AttachAction::Ignore => {
                run(session);
                cdp.send_no_reply("", "Target.detachFromTarget", json!({"sessionId": session}));
            }
        }
    }

    fn manners(&self, session: &str, target: &Value) -> AttachAction {
        let mut contexts = self.lock();
        let context = target["browserContextId"].as_str().unwrap_or_default();
        // Of a page that is being put away, or of somebody else's who uses this browser.
        let Some(guests) = contexts.get_mut(context) else { return AttachAction::Ignore };
        if target["type"] != "page" {
            return guests.welcome.clone().map_or(AttachAction::Ignore, AttachAction::Greet);
        }
        if guests.page.is_some() {
            return AttachAction::Close;
        }
        let name = target["targetId"].as_str().unwrap_or_default();
        guests.page = Some((name.to_owned(), session.to_owned()));
        AttachAction::Run
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, ContextTargets>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
