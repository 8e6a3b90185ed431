//! The table of the commands that are sent on, and the rules for their parameters.

use super::Rule;

/// The commands that are sent on, by domain.
pub(super) const COMMANDS: &[(&str, &str)] = &[
    (
        "Accessibility",
        "disable enable getAXNodeAndAncestors getChildAXNodes getFullAXTree getPartialAXTree getRootAXNode queryAXTree",
    ),
    ("Animation", "disable enable setPlaybackRate"),
    ("Audits", "disable enable"),
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
pub(super) const RULES: &[(&str, Rule)] = &[
    ("Browser.getWindowForTarget", Rule::OwnTarget),
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
    ("Target.activateTarget", Rule::OwnTarget),
    ("Target.attachToTarget", Rule::FlatTarget),
    ("Target.closeTarget", Rule::OwnTarget),
    ("Target.createTarget", Rule::NewTab),
    ("Target.detachFromTarget", Rule::OwnSession),
    ("Target.getTargetInfo", Rule::OwnTarget),
    ("Target.setAutoAttach", Rule::FlatOrOff),
];
