//! The targets that Chromium attaches to automatically: the page of a context, the windows that it opens, and workers that
//! several pages could share.
//!
//! All of them start paused, so that no part of a page sends a request before it has the settings and the blocking rules of
//! the page.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value, json};

use crate::connection::{Cdp, CdpError};

/// A callback for a paused worker, with its session and its type.
pub(crate) type WorkerCallback = Arc<dyn Fn(&str, &str) + Send + Sync>;

/// The targets of the open browser contexts of one process.
#[derive(Default)]
pub(crate) struct TargetRegistry(Mutex<HashMap<String, ContextTargets>>);

/// The targets of one browser context.
#[derive(Default)]
struct ContextTargets {
    /// The only page of the context.
    page: Option<PageTarget>,
    on_worker: Option<WorkerCallback>,
}

/// The page of a browser context.
struct PageTarget {
    target: String,
    session: String,
}

/// The action for a target that was attached.
enum AttachAction {
    Resume,
    Close,
    /// Call the callback, which resumes the worker.
    SetUpWorker(WorkerCallback),
    /// Resume and detach.
    Detach,
}

impl TargetRegistry {
    /// Makes Chromium attach to new targets and start them paused.
    pub(crate) async fn enable(cdp: &Cdp) -> Result<(), CdpError> {
        let params = json!({
            "autoAttach": true,
            "waitForDebuggerOnStart": true,
            "flatten": true,
            "filter": [{"type": "page"}, {"type": "service_worker"}, {"type": "shared_worker"}],
        });
        cdp.call("", "Target.setAutoAttach", params).await?;
        Ok(())
    }

    /// Registers a browser context, before its page is created.
    pub(crate) fn register_context(&self, context: &str) {
        self.lock().insert(context.to_owned(), ContextTargets::default());
    }

    /// Sets the callback for the workers of a context.
    pub(crate) fn on_worker(&self, context: &str, callback: WorkerCallback) {
        if let Some(targets) = self.lock().get_mut(context) {
            targets.on_worker = Some(callback);
        }
    }

    /// Removes a browser context.
    pub(crate) fn unregister_context(&self, context: &str) {
        self.lock().remove(context);
    }

    /// Returns the session of the page of a context. Chromium attaches to it before it responds to its creation.
    pub(crate) fn session(&self, context: &str, target: &str) -> Option<String> {
        let contexts = self.lock();
        let page = contexts.get(context)?.page.as_ref()?;
        (page.target == target).then(|| page.session.clone())
    }

    /// Handles `Target.attachedToTarget`.
    pub(crate) fn on_attached(&self, cdp: &Cdp, params: &Value) {
        let session = params["sessionId"].as_str().unwrap_or_default();
        let target = &params["targetInfo"];
        let resume = |session| cdp.send_no_reply(session, "Runtime.runIfWaitingForDebugger", json!({}));
        match self.attach_action(session, target) {
            AttachAction::Resume => resume(session),
            AttachAction::SetUpWorker(callback) => {
                callback(session, target["type"].as_str().unwrap_or_default());
            }
            AttachAction::Close => {
                // The page that opened the window waits until it runs. Its requests are paused and never continued.
                cdp.send_no_reply(session, "Fetch.enable", json!({}));
                cdp.send_no_reply("", "Target.closeTarget", json!({"targetId": target["targetId"]}));
                resume(session);
            }
            AttachAction::Detach => {
                resume(session);
                cdp.send_no_reply("", "Target.detachFromTarget", json!({"sessionId": session}));
            }
        }
    }

    fn attach_action(&self, session: &str, target: &Value) -> AttachAction {
        let mut contexts = self.lock();
        let context = target["browserContextId"].as_str().unwrap_or_default();
        // The context is being closed, or belongs to another client of a shared browser.
        let Some(targets) = contexts.get_mut(context) else { return AttachAction::Detach };
        if target["type"] != "page" {
            return targets.on_worker.clone().map_or(AttachAction::Detach, AttachAction::SetUpWorker);
        }
        if targets.page.is_some() {
            return AttachAction::Close;
        }
        let target = target["targetId"].as_str().unwrap_or_default();
        targets.page = Some(PageTarget { target: target.to_owned(), session: session.to_owned() });
        AttachAction::Resume
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, ContextTargets>> {
        self.0.lock()
    }
}
