//! The filter of the DevTools protocol for clients of a session: commands that are not in its table are refused.
//!
//! The table has what a client needs to drive the pages of its session. It leaves out what reaches beyond them: the files
//! and the system of this machine, other browser contexts, the protocol without this filter, and the end of the browser.

use serde_json::{Map, Value, json};
use url::Url;

/// The commands that are sent on, by domain.
const COMMANDS: &[(&str, &str)] = &[
    (
        "Accessibility",
        "disable enable getAXNodeAndAncestors getChildAXNodes getFullAXTree getPartialAXTree getRootAXNode queryAXTree",
    ),
    ("Animation", "disable enable setPlaybackRate"),
    (
        "Browser",
        "getVersion getWindowBounds getWindowForTarget grantPermissions resetPermissions setDownloadBehavior \
         setPermission setWindowBounds",
    ),
    ("CacheStorage", "deleteCache deleteEntry requestCacheNames requestCachedResponse requestEntries"),
    ("Console", "clearMessages disable enable"),
    (
        "CSS",
        "disable enable forcePseudoState getBackgroundColors getComputedStyleForNode getInlineStylesForNode \
         getMatchedStylesForNode getPlatformFontsForNode getStyleSheetText startRuleUsageTracking \
         stopRuleUsageTracking takeCoverageDelta",
    ),
    (
        "Debugger",
        "disable enable getScriptSource removeBreakpoint resume setAsyncCallStackDepth setBreakpointsActive \
         setPauseOnExceptions setSkipAllPauses",
    ),
    (
        "DOM",
        "describeNode disable discardSearchResults enable focus getAttributes getBoxModel getContentQuads getDocument \
         getFlattenedDocument getFrameOwner getNodeForLocation getOuterHTML getSearchResults performSearch \
         pushNodesByBackendIdsToFrontend querySelector querySelectorAll removeAttribute removeNode requestChildNodes \
         requestNode resolveNode scrollIntoViewIfNeeded setAttributeValue setAttributesAsText setNodeValue setOuterHTML",
    ),
    ("DOMSnapshot", "captureSnapshot disable enable"),
    ("DOMStorage", "clear disable enable getDOMStorageItems removeDOMStorageItem setDOMStorageItem"),
    (
        "Emulation",
        "canEmulate clearDeviceMetricsOverride clearGeolocationOverride clearIdleOverride \
         setAutoDarkModeOverride setCPUThrottlingRate setDefaultBackgroundColorOverride setDeviceMetricsOverride \
         setEmulatedMedia setEmulatedOSTextScale setEmulatedVisionDeficiency setFocusEmulationEnabled \
         setGeolocationOverride setHardwareConcurrencyOverride setIdleOverride setLocaleOverride \
         setScriptExecutionDisabled setScrollbarsHidden setTimezoneOverride setTouchEmulationEnabled \
         setUserAgentOverride",
    ),
    (
        "Fetch",
        "continueRequest continueResponse continueWithAuth disable enable failRequest fulfillRequest getResponseBody \
         takeResponseBodyAsStream",
    ),
    ("HeapProfiler", "collectGarbage disable enable"),
    (
        "IndexedDB",
        "clearObjectStore deleteDatabase deleteObjectStoreEntries disable enable requestData requestDatabase \
         requestDatabaseNames",
    ),
    (
        "Input",
        "cancelDragging dispatchDragEvent dispatchKeyEvent dispatchMouseEvent dispatchTouchEvent emulateTouchFromMouseEvent \
         imeSetComposition insertText setIgnoreInputEvents setInterceptDrags synthesizePinchGesture \
         synthesizeScrollGesture synthesizeTapGesture",
    ),
    ("Inspector", "disable enable"),
    ("IO", "close read"),
    ("Log", "clear disable enable"),
    (
        "Network",
        "clearBrowserCache clearBrowserCookies deleteCookies disable emulateNetworkConditions enable \
         getAllCookies getCookies getRequestPostData getResponseBody getResponseBodyForInterception setAttachDebugStack \
         setBlockedURLs setBypassServiceWorker setCacheDisabled setCookie setCookies setExtraHTTPHeaders \
         setUserAgentOverride",
    ),
    ("Overlay", "disable enable hideHighlight highlightNode"),
    (
        "Page",
        "addScriptToEvaluateOnNewDocument bringToFront captureScreenshot captureSnapshot close \
         createIsolatedWorld disable enable getFrameTree getLayoutMetrics getNavigationHistory getResourceContent \
         getResourceTree handleJavaScriptDialog navigate navigateToHistoryEntry printToPDF reload \
         removeScriptToEvaluateOnNewDocument resetNavigationHistory screencastFrameAck setBypassCSP \
         setDocumentContent setFontSizes setInterceptFileChooserDialog \
         setLifecycleEventsEnabled setWebLifecycleState startScreencast stopLoading stopScreencast",
    ),
    ("Performance", "disable enable getMetrics"),
    (
        "Profiler",
        "disable enable getBestEffortCoverage startPreciseCoverage stopPreciseCoverage takePreciseCoverage",
    ),
    (
        "Runtime",
        "addBinding awaitPromise callFunctionOn compileScript disable discardConsoleEntries enable evaluate getHeapUsage \
         getIsolateId getProperties globalLexicalScopeNames queryObjects releaseObject releaseObjectGroup removeBinding \
         runIfWaitingForDebugger runScript setAsyncCallStackDepth terminateExecution",
    ),
    ("Schema", "getDomains"),
    ("Security", "disable enable setIgnoreCertificateErrors"),
    ("ServiceWorker", "disable enable skipWaiting stopAllWorkers stopWorker unregister"),
    (
        "Storage",
        "clearCookies clearDataForOrigin clearDataForStorageKey getCookies getStorageKeyForFrame getUsageAndQuota setCookies",
    ),
    (
        "Target",
        "activateTarget attachToTarget closeTarget createTarget detachFromTarget getBrowserContexts getTargetInfo getTargets \
         setAutoAttach setDiscoverTargets",
    ),
];

/// The rules for parameters of commands in the table.
const RULES: &[(&str, Rule)] = &[
    ("Browser.grantPermissions", Rule::OwnContext),
    ("Browser.resetPermissions", Rule::OwnContext),
    ("Browser.setDownloadBehavior", Rule::OwnContext),
    ("Browser.setPermission", Rule::OwnContext),
    ("Fetch.continueRequest", Rule::WebUrl),
    ("Input.dispatchDragEvent", Rule::NoFiles),
    ("IO.close", Rule::OwnStream),
    ("IO.read", Rule::OwnStream),
    ("Page.navigate", Rule::WebUrl),
    ("Storage.clearCookies", Rule::OwnContext),
    ("Storage.getCookies", Rule::OwnContext),
    ("Storage.setCookies", Rule::OwnContext),
    ("Target.attachToTarget", Rule::Flat),
    ("Target.createTarget", Rule::NewTab),
    ("Target.detachFromTarget", Rule::OwnSession),
    ("Target.setAutoAttach", Rule::FlatOrOff),
];

/// The command that shows a client the events of downloads, and has no other effect: clients send it when they connect, and
/// fail if it is refused.
const SHOW_DOWNLOADS: &str = "Browser.setDownloadBehavior";

/// The commands that are answered without an effect: clients fail if they are refused, and the session decides about
/// downloads.
const NO_EFFECT: &[&str] = &["Page.setDownloadBehavior"];

/// The parameters of a new tab. Others have effects beyond it.
const NEW_TAB: &[&str] = &[
    "url",
    "width",
    "height",
    "left",
    "top",
    "windowState",
    "newWindow",
    "background",
    "focus",
    "browserContextId",
];

/// A rule for the parameters of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    None,
    /// `browserContextId` is that of the session, which is also the default.
    OwnContext,
    /// `url` has a scheme of the web.
    WebUrl,
    /// `data` contains no files.
    NoFiles,
    /// `handle` is a stream that the client has opened.
    OwnStream,
    /// `sessionId` is one of the client.
    OwnSession,
    /// `flatten` is true: other messages would not pass the filter.
    Flat,
    /// `flatten` is true, unless `autoAttach` is false, which attaches to nothing.
    FlatOrOff,
    /// The tab is one of the session, with a URL of the web.
    NewTab,
}

/// The objects of one client that its commands may name.
pub(super) trait Ownership {
    /// Returns the browser context of the session.
    fn context(&self) -> &str;
    /// Returns whether the client is attached by this session of the protocol.
    fn owns_session(&self, session: &str) -> bool;
    /// Returns whether the client has opened this stream.
    fn owns_stream(&self, handle: &str) -> bool;
}

/// The handling of a command.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Verdict {
    /// It is sent on, with these parameters.
    Forward(Value),
    /// It is answered without being sent on.
    Answer(Value),
    /// It is answered without being sent on, and decides whether the client sees the events of downloads.
    ShowDownloads(bool),
    /// It is refused, for this reason.
    Refuse(String),
}

/// Decides on a command of a client.
pub(super) fn check(method: &str, params: Value, owner: &dyn Ownership) -> Verdict {
    if NO_EFFECT.contains(&method) {
        return Verdict::Answer(json!({}));
    }
    if !is_listed(method) {
        return Verdict::Refuse(format!("{method} is not available in a browser session{}", hint(method)));
    }
    let mut params = match params {
        Value::Null => Map::new(),
        Value::Object(params) => params,
        _ => return Verdict::Refuse(format!("the parameters of {method} must be an object")),
    };
    let rule = RULES.iter().find(|(name, _)| *name == method).map_or(Rule::None, |(_, rule)| *rule);
    match apply(rule, &mut params, owner) {
        Ok(()) if method == SHOW_DOWNLOADS => {
            Verdict::ShowDownloads(params.get("eventsEnabled") == Some(&Value::Bool(true)))
        }
        Ok(()) => Verdict::Forward(Value::Object(params)),
        Err(reason) => Verdict::Refuse(format!("{method} is refused in a browser session: {reason}")),
    }
}

fn is_listed(method: &str) -> bool {
    let Some((domain, command)) = method.split_once('.') else { return false };
    COMMANDS.iter().any(|(name, commands)| {
        *name == domain && commands.split_ascii_whitespace().any(|listed| listed == command)
    })
}

/// Returns the way that clients should take in place of a command.
fn hint(method: &str) -> &'static str {
    match method {
        "Target.createBrowserContext" => ": it has one browser context, use the default one",
        "Browser.close" | "Browser.crash" => ": delete the session with DELETE /v2/browser/{id}",
        "DOM.setFileInputFiles" => ": its files would be files of the server",
        _ => "",
    }
}

fn apply(rule: Rule, params: &mut Map<String, Value>, owner: &dyn Ownership) -> Result<(), String> {
    match rule {
        Rule::None => Ok(()),
        Rule::OwnContext => use_own_context(params, owner),
        Rule::WebUrl => check_url(params.get("url")),
        Rule::NoFiles => match params.get("data").and_then(|data| data.get("files")) {
            None | Some(Value::Null) => Ok(()),
            Some(Value::Array(files)) if files.is_empty() => Ok(()),
            Some(_) => Err("its files would be files of the server".to_owned()),
        },
        Rule::OwnStream => match text(params, "handle") {
            handle if owner.owns_stream(handle) => Ok(()),
            handle => Err(format!("the session has not opened the stream {handle:?}")),
        },
        Rule::OwnSession => match text(params, "sessionId") {
            session if owner.owns_session(session) => Ok(()),
            session => Err(format!("there is no session {session:?}")),
        },
        Rule::Flat => check_flat(params),
        Rule::FlatOrOff if params.get("autoAttach") == Some(&Value::Bool(false)) => Ok(()),
        Rule::FlatOrOff => check_flat(params),
        Rule::NewTab => {
            if let Some(name) = params.keys().find(|name| !NEW_TAB.contains(&name.as_str())) {
                return Err(format!("the parameter {name} is not available"));
            }
            check_url(params.get("url"))?;
            use_own_context(params, owner)
        }
    }
}

fn text<'a>(params: &'a Map<String, Value>, name: &str) -> &'a str {
    params.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn check_flat(params: &Map<String, Value>) -> Result<(), String> {
    match params.get("flatten") {
        Some(Value::Bool(true)) => Ok(()),
        _ => Err("flatten must be true".to_owned()),
    }
}

/// Checks that a command names no other browser context, and adds that of the session.
fn use_own_context(params: &mut Map<String, Value>, owner: &dyn Ownership) -> Result<(), String> {
    match params.get("browserContextId") {
        None | Some(Value::Null) => {}
        Some(Value::String(context)) if context == owner.context() => {}
        Some(other) => return Err(format!("there is no browser context {other}")),
    }
    params.insert("browserContextId".to_owned(), owner.context().into());
    Ok(())
}

/// Checks the scheme of a URL. Pages of the web cannot open others either.
fn check_url(url: Option<&Value>) -> Result<(), String> {
    let url = match url {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::String(url)) if url.is_empty() => return Ok(()),
        Some(Value::String(url)) => url,
        Some(_) => return Err("url must be a string".to_owned()),
    };
    let shown: String = url.chars().take(100).collect();
    let parsed = Url::parse(url).map_err(|_| format!("{shown:?} is not an absolute URL"))?;
    let is_allowed = match parsed.scheme() {
        "http" | "https" | "data" => true,
        "about" => matches!(parsed.path(), "blank" | "srcdoc"),
        "blob" => ["http://", "https://", "null/"].iter().any(|start| parsed.path().starts_with(start)),
        _ => false,
    };
    if is_allowed {
        Ok(())
    } else {
        Err(format!("URLs with the scheme {} cannot be opened", parsed.scheme()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Owner;

    impl Ownership for Owner {
        fn context(&self) -> &str {
            "OWN"
        }
        fn owns_session(&self, session: &str) -> bool {
            session == "S1"
        }
        fn owns_stream(&self, handle: &str) -> bool {
            handle == "7"
        }
    }

    #[track_caller]
    fn refused(method: &str, params: Value) {
        let verdict = check(method, params, &Owner);
        assert!(matches!(verdict, Verdict::Refuse(_)), "{method} {verdict:?}");
    }

    #[track_caller]
    fn forwarded(method: &str, params: &Value, expected: &Value) {
        assert_eq!(check(method, params.clone(), &Owner), Verdict::Forward(expected.clone()), "{method}");
    }

    /// Commands that reach the machine, another context, the protocol without the filter, or the end of the browser.
    const FORBIDDEN: &str = "Browser.addPrivacySandboxEnrollmentOverride Browser.cancelDownload Browser.close Browser.crash \
        Browser.crashGpuProcess Browser.executeBrowserCommand Browser.getBrowserCommandLine Browser.getHistograms \
        Browser.setDockTile Cast.enable Cast.startTabMirroring DeviceAccess.enable DOM.getFileInfo DOM.setFileInputFiles \
        Extensions.loadUnpacked Extensions.uninstall FileSystem.getDirectory HeapProfiler.takeHeapSnapshot IO.resolveBlob \
        Memory.forciblyPurgeJavaScriptMemory Memory.getBrowserSamplingProfile Network.loadNetworkResource \
        Network.enableReportingApi Page.addCompilationCache Page.crash Page.getManifestIcons Page.handleFileChooser \
        Page.setPrerenderingAllowed Page.setWebLifecycle Page.waitForDebugger PWA.install PWA.launch \
        Storage.setInterestGroupTracking Storage.overrideQuotaForOrigin SystemInfo.getInfo SystemInfo.getProcessInfo \
        Target.attachToBrowserTarget Target.autoAttachRelated Target.createBrowserContext Target.disposeBrowserContext \
        Target.exposeDevToolsProtocol Target.openDevTools Target.sendMessageToTarget Target.setAttachToFrames \
        Target.setRemoteLocations Tethering.bind Tethering.unbind Tracing.end Tracing.start \
        Tracing.requestMemoryDump WebAuthn.enable Runtime Page. .navigate page.navigate Page.navigate.x";

    #[test]
    fn forbidden_commands_are_refused() {
        for method in FORBIDDEN.split_ascii_whitespace() {
            refused(method, json!({}));
        }
        refused("", json!({}));
    }

    #[test]
    fn forbidden_parameters_are_refused() {
        for url in [
            "file:///etc/passwd",
            "FILE:///etc/passwd",
            " file:///etc/passwd",
            "view-source:file:///etc/passwd",
            "view-source:http://a.test/",
            "chrome://version",
            "chrome-extension://a/b.html",
            "devtools://devtools/bundled/inspector.html",
            "filesystem:http://a.test/temporary/a",
            "javascript:alert(1)",
            "blob:file:///1",
            "about:version",
            "ftp://a.test/",
            "relative",
        ] {
            for method in ["Page.navigate", "Target.createTarget", "Fetch.continueRequest"] {
                refused(method, json!({"url": url}));
            }
        }
        for (method, params) in [
            ("Page.navigate", json!({"url": ["http://a.test/"]})),
            ("Page.navigate", json!([])),
            ("Target.createTarget", json!({"url": "http://a.test/", "browserContextId": "OTHER"})),
            ("Target.createTarget", json!({"url": "http://a.test/", "hidden": true})),
            ("Target.createTarget", json!({"url": "http://a.test/", "enableBeginFrameControl": true})),
            ("Storage.getCookies", json!({"browserContextId": "OTHER"})),
            ("Storage.setCookies", json!({"cookies": [], "browserContextId": 7})),
            ("Browser.grantPermissions", json!({"permissions": [], "browserContextId": "OTHER"})),
            ("Target.attachToTarget", json!({"targetId": "T"})),
            ("Target.attachToTarget", json!({"targetId": "T", "flatten": false})),
            ("Target.attachToTarget", json!({"targetId": "T", "autoAttach": false})),
            ("Target.attachToTarget", json!({"targetId": "T", "autoAttach": false, "flatten": false})),
            ("Target.setAutoAttach", json!({"autoAttach": true, "waitForDebuggerOnStart": false})),
            ("Target.detachFromTarget", json!({"sessionId": "S2"})),
            ("Target.detachFromTarget", json!({"targetId": "T"})),
            ("IO.read", json!({"handle": "8"})),
            ("IO.read", json!({"handle": "blob:http://a.test/1"})),
            ("IO.close", json!({})),
            ("Input.dispatchDragEvent", json!({"type": "drop", "data": {"files": ["/etc/passwd"]}})),
            ("Input.dispatchDragEvent", json!({"type": "drop", "data": {"files": "/etc/passwd"}})),
        ] {
            refused(method, params);
        }
    }

    #[test]
    fn commands_of_the_page_are_forwarded_in_its_context() {
        let about = json!({"url": "about:blank"});
        forwarded("Page.navigate", &about, &about);
        let web = json!({"url": "https://a.test/", "frameId": "F"});
        forwarded("Page.navigate", &web, &web);
        forwarded("Runtime.enable", &Value::Null, &json!({}));
        forwarded("Storage.getCookies", &json!({}), &json!({"browserContextId": "OWN"}));
        let tab = json!({"url": "about:blank", "browserContextId": "OWN"});
        forwarded("Target.createTarget", &about, &tab);
        forwarded("Target.createTarget", &tab, &tab);
        let attach = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
        forwarded("Target.setAutoAttach", &attach, &attach);
        let detach = json!({"autoAttach": false, "waitForDebuggerOnStart": false});
        forwarded("Target.setAutoAttach", &detach, &detach);
        forwarded("IO.read", &json!({"handle": "7"}), &json!({"handle": "7"}));
        let drag = json!({"type": "drop", "data": {"items": [], "files": []}});
        forwarded("Input.dispatchDragEvent", &drag, &drag);
    }

    #[test]
    fn clients_see_downloads_but_do_not_decide_about_them() {
        let params = json!({"behavior": "allow", "downloadPath": "/tmp", "eventsEnabled": true});
        let verdict = check("Browser.setDownloadBehavior", params.clone(), &Owner);
        assert_eq!(verdict, Verdict::ShowDownloads(true));
        let verdict = check("Browser.setDownloadBehavior", json!({"behavior": "default"}), &Owner);
        assert_eq!(verdict, Verdict::ShowDownloads(false));
        refused("Browser.setDownloadBehavior", json!({"behavior": "allow", "browserContextId": "OTHER"}));
        assert_eq!(check("Page.setDownloadBehavior", params, &Owner), Verdict::Answer(json!({})));
    }

    #[test]
    fn commands_with_rules_are_listed_once_and_sorted() {
        for (domain, commands) in COMMANDS {
            let commands: Vec<&str> = commands.split_ascii_whitespace().collect();
            assert!(commands.is_sorted_by(|a, b| a < b), "{domain}: {commands:?}");
        }
        let lower_case = |name: &str| name.to_ascii_lowercase();
        let domains: Vec<String> = COMMANDS.iter().map(|(domain, _)| lower_case(domain)).collect();
        assert!(domains.is_sorted_by(|a, b| a < b), "{domains:?}");
        let methods: Vec<String> = RULES.iter().map(|(method, _)| lower_case(method)).collect();
        assert!(methods.is_sorted_by(|a, b| a < b), "{methods:?}");
        assert!(RULES.iter().all(|(method, _)| is_listed(method)));
    }
}
