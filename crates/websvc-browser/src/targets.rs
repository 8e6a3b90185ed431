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
use crate::document_url::DocumentUrl;

/// A callback for a paused worker, with its session and its type.
pub(crate) type WorkerCallback = Arc<dyn Fn(&str, &str) + Send + Sync>;

/// A callback for a paused window, with its session and its target.
pub(crate) type TabCallback = Arc<dyn Fn(&str, &str) + Send + Sync>;

/// A callback for the URL of a document that a page shows.
pub(crate) type UrlCallback = Arc<dyn Fn(&str) + Send + Sync>;

/// A callback for a session that was detached from its target.
pub(crate) type DetachCallback = Arc<dyn Fn(&str) + Send + Sync>;

/// The targets of the open browser contexts of one process.
#[derive(Default)]
pub(crate) struct TargetRegistry(Mutex<HashMap<String, ContextTargets>>);

/// The targets of one browser context.
#[derive(Default)]
struct ContextTargets {
    /// The pages of the context, the first one first. A context without tabs has only one.
    pages: Vec<PageTarget>,
    on_worker: Option<WorkerCallback>,
    tabs: Option<Tabs>,
    /// The number of pages that clients are creating.
    expected: usize,
}

/// A page that a client creates, whose URL was checked. The headless shell does not report that URL at once.
pub(crate) struct ExpectedPage {
    registry: Arc<TargetRegistry>,
    context: String,
}

impl Drop for ExpectedPage {
    fn drop(&mut self) {
        if let Some(targets) = self.registry.lock().get_mut(&self.context) {
            targets.expected = targets.expected.saturating_sub(1);
        }
    }
}

impl ContextTargets {
    fn is_web_page(&self, target: &str) -> bool {
        self.pages.iter().any(|page| page.target == target && page.is_of_web)
    }
}

/// A page of a browser context.
struct PageTarget {
    target: String,
    session: String,
    /// True if its first document is of the web: it was reported, or another page of the web has opened the window. Pages
    /// of the browser itself can open windows, too.
    is_of_web: bool,
}

/// The rule for the windows that the page of a context opens. Without it, they are closed.
pub(crate) struct Tabs {
    pub(crate) max_pages: usize,
    pub(crate) on_open: TabCallback,
    pub(crate) on_detached: DetachCallback,
    pub(crate) on_url: UrlCallback,
}

/// The action for a target that was attached.
enum AttachAction {
    Resume,
    Close,
    /// Call the callback, which resumes the worker.
    SetUpWorker(WorkerCallback),
    /// Call the callback, which resumes the window.
    SetUpTab(TabCallback),
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

    /// Allows the pages of a context to open windows.
    pub(crate) fn allow_tabs(&self, context: &str, tabs: Tabs) {
        if let Some(targets) = self.lock().get_mut(context) {
            targets.tabs = Some(tabs);
        }
    }

    /// Lets a context have one new page, which its creator sets up. The earlier ones are gone, which Chromium may not have
    /// reported yet, or are of no interest any more.
    pub(crate) fn disallow_tabs(&self, context: &str) {
        if let Some(targets) = self.lock().get_mut(context) {
            targets.tabs = None;
            targets.pages.clear();
        }
    }

    /// Returns the targets and sessions of the pages of a context, the first one first.
    pub(crate) fn pages(&self, context: &str) -> Vec<(String, String)> {
        let contexts = self.lock();
        let pages = contexts.get(context).map(|targets| targets.pages.iter()).into_iter().flatten();
        pages.map(|page| (page.target.clone(), page.session.clone())).collect()
    }

    /// Removes a page that is gone.
    pub(crate) fn remove_page(&self, context: &str, target: &str) {
        if let Some(targets) = self.lock().get_mut(context) {
            targets.pages.retain(|page| page.target != target);
        }
    }

    /// Handles `Target.detachedFromTarget`: a tab was closed.
    pub(crate) fn on_detached(&self, params: &Value) {
        let session = params["sessionId"].as_str().unwrap_or_default();
        let mut callbacks = Vec::new();
        for targets in self.lock().values_mut() {
            if let Some(Tabs { on_detached, .. }) = &targets.tabs {
                targets.pages.retain(|page| page.session != session);
                callbacks.push(Arc::clone(on_detached));
            }
        }
        for on_detached in callbacks {
            on_detached(session);
        }
    }

    /// Makes Chromium report the URLs of all pages, also of those that are not yet set up.
    pub(crate) async fn watch_urls(cdp: &Cdp) -> Result<(), CdpError> {
        let params = json!({"discover": true, "filter": [{"type": "page"}]});
        cdp.call("", "Target.setDiscoverTargets", params).await?;
        Ok(())
    }

    /// Handles `Target.targetCreated` and `Target.targetInfoChanged`: a page shows another document.
    pub(crate) fn on_info(&self, params: &Value) {
        self.report_url(&params["targetInfo"]);
    }

    /// Reports the URL of a page to its context.
    fn report_url(&self, info: &Value) {
        if info["type"] != "page" {
            return;
        }
        let text = |name: &str| info[name].as_str().unwrap_or_default();
        let on_url = {
            let mut contexts = self.lock();
            let Some(targets) = contexts.get_mut(text("browserContextId")) else { return };
            let mut pages = targets.pages.iter_mut();
            if DocumentUrl::from_url(text("url")) == DocumentUrl::Web
                && let Some(page) = pages.find(|page| page.target == text("targetId"))
            {
                page.is_of_web = true;
            }
            targets.tabs.as_ref().map(|tabs| Arc::clone(&tabs.on_url))
        };
        if let Some(on_url) = on_url {
            on_url(text("url"));
        }
    }

    /// Expects a page that a client creates, until the result is dropped.
    pub(crate) fn expect_page(self: &Arc<Self>, context: &str) -> ExpectedPage {
        if let Some(targets) = self.lock().get_mut(context) {
            targets.expected += 1;
        }
        ExpectedPage { registry: Arc::clone(self), context: context.to_owned() }
    }

    /// Returns whether a target is an open page of a context whose first document is of the web.
    pub(crate) fn is_web_page(&self, context: &str, target: &str) -> bool {
        self.lock().get(context).is_some_and(|targets| targets.is_web_page(target))
    }

    /// Removes a browser context.
    pub(crate) fn unregister_context(&self, context: &str) {
        self.lock().remove(context);
    }

    /// Returns the session of the page of a context. Chromium attaches to it before it responds to its creation.
    pub(crate) fn session(&self, context: &str, target: &str) -> Option<String> {
        let contexts = self.lock();
        let page = contexts.get(context)?.pages.iter().find(|page| page.target == target)?;
        Some(page.session.clone())
    }

    /// Handles `Target.attachedToTarget`.
    pub(crate) fn on_attached(&self, cdp: &Cdp, params: &Value) {
        let session = params["sessionId"].as_str().unwrap_or_default();
        let target = &params["targetInfo"];
        if target["type"] == "browser" {
            // A client of an interactive session, which attached on request.
            return;
        }
        // Its URL is known already if the browser itself has opened it.
        self.report_url(target);
        let resume = |session| cdp.send_no_reply(session, "Runtime.runIfWaitingForDebugger", json!({}));
        match self.attach_action(session, target) {
            AttachAction::Resume => resume(session),
            AttachAction::SetUpWorker(callback) => {
                callback(session, target["type"].as_str().unwrap_or_default());
            }
            AttachAction::SetUpTab(callback) => {
                callback(session, target["targetId"].as_str().unwrap_or_default());
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
        if is_of_server(target) {
            return AttachAction::Close;
        }
        let action = match &targets.tabs {
            None if targets.pages.is_empty() => AttachAction::Resume,
            Some(tabs) if targets.pages.len() < tabs.max_pages => {
                AttachAction::SetUpTab(Arc::clone(&tabs.on_open))
            }
            Some(_) | None => return AttachAction::Close,
        };
        let text = |name: &str| target[name].as_str().unwrap_or_default().to_owned();
        let is_of_web = match DocumentUrl::from_url(&text("url")) {
            // Its creator, websvc or a client, has named an allowed one.
            DocumentUrl::Unknown if text("openerId").is_empty() => {
                targets.tabs.is_none() || targets.expected > 0
            }
            DocumentUrl::Unknown => targets.is_web_page(&text("openerId")),
            kind => kind == DocumentUrl::Web,
        };
        targets.pages.push(PageTarget { target: text("targetId"), session: session.to_owned(), is_of_web });
        action
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, ContextTargets>> {
        self.0.lock()
    }
}

/// Returns whether a target shows a document of the server.
fn is_of_server(target: &Value) -> bool {
    target["url"].as_str().is_some_and(|url| DocumentUrl::from_url(url) == DocumentUrl::Server)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_is_of_the_web_by_its_url_or_by_the_page_that_opened_it() {
        let registry = Arc::new(TargetRegistry::default());
        registry.register_context("C");
        let ignore = Arc::new(|_: &str, _: &str| {});
        let urls: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = Arc::clone(&urls);
        registry.allow_tabs(
            "C",
            Tabs {
                max_pages: 99,
                on_open: ignore,
                on_detached: Arc::new(|_| {}),
                on_url: Arc::new(move |url| seen.lock().push(url.to_owned())),
            },
        );
        let page = |target: &str, url: &str, opener: &str| json!({"targetId": target, "type": "page", "url": url, "openerId": opener, "browserContextId": "C"});
        for (target, url, opener, is_of_web) in [
            ("first", "about:blank", "", true),
            ("window", "", "first", true),
            ("window of the window", "", "window", true),
            ("of the browser", "", "", false),
            ("window of the browser", "", "of the browser", false),
            ("of another program", "mailto:a@b.test", "first", false),
        ] {
            registry.attach_action("S", &page(target, url, opener));
            assert_eq!(registry.is_web_page("C", target), is_of_web, "{target}");
        }
        assert!(!registry.is_web_page("D", "first"), "it is in another context");
        let expected = registry.expect_page("C");
        registry.attach_action("S", &page("created", "", ""));
        registry.attach_action("S", &page("window meanwhile", "", "of the browser"));
        drop(expected);
        registry.attach_action("S", &page("later", "", ""));
        for (target, is_of_web) in [("created", true), ("window meanwhile", false), ("later", false)] {
            assert_eq!(registry.is_web_page("C", target), is_of_web, "{target}");
        }
        registry.report_url(&page("of the browser", "http://a.test/", ""));
        assert!(registry.is_web_page("C", "of the browser"), "its URL is known now");
        let file = page("file", "file:///etc/passwd", "first");
        assert!(matches!(registry.attach_action("S", &file), AttachAction::Close));
        assert!(!registry.is_web_page("C", "file"));
        registry.report_url(&file);
        assert_eq!(*urls.lock(), ["http://a.test/", "file:///etc/passwd"]);
    }

    #[test]
    fn page_of_a_context_is_replaced_before_the_end_of_the_earlier_ones_is_reported() {
        let registry = TargetRegistry::default();
        registry.register_context("C");
        let page = |target: &str| json!({"targetId": target, "type": "page", "browserContextId": "C"});
        assert!(matches!(registry.attach_action("S1", &page("first")), AttachAction::Resume));
        assert!(matches!(registry.attach_action("S2", &page("second")), AttachAction::Close));
        registry.disallow_tabs("C");
        assert!(matches!(registry.attach_action("S3", &page("third")), AttachAction::Resume));
        assert_eq!(registry.pages("C"), [("third".to_owned(), "S3".to_owned())]);
    }
}
