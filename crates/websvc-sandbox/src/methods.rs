//! The methods of the DevTools protocol that the library sends.

/// The methods of the DevTools protocol that programs use through the library, in alphabetic order. A channel that
/// refuses one of them takes a part of the library away; it refuses all others without effect on the library.
///
/// Methods of `Browser`, `Target` and `Websvc` are sent without a session, except `Target.setAutoAttach`. Chromium does not
/// know `Websvc.storeDownload`, which stores the download `guid` under the file name `name`, if there is one, and returns
/// the `url` of the file.
pub const METHODS: &[&str] = &[
    "Browser.cancelDownload",
    "Browser.getVersion",
    "DOM.describeNode",
    "DOM.getFrameOwner",
    "DOM.resolveNode",
    "Emulation.setDefaultBackgroundColorOverride",
    "Emulation.setDeviceMetricsOverride",
    "Emulation.setEmulatedMedia",
    "Input.dispatchKeyEvent",
    "Input.dispatchMouseEvent",
    "Input.insertText",
    "Network.clearBrowserCookies",
    "Network.deleteCookies",
    "Network.enable",
    "Network.getAllCookies",
    "Network.getCookies",
    "Network.getResponseBody",
    "Network.setCookies",
    "Network.setExtraHTTPHeaders",
    "Page.addScriptToEvaluateOnNewDocument",
    "Page.bringToFront",
    "Page.captureScreenshot",
    "Page.createIsolatedWorld",
    "Page.enable",
    "Page.getFrameTree",
    "Page.getLayoutMetrics",
    "Page.getNavigationHistory",
    "Page.handleJavaScriptDialog",
    "Page.navigate",
    "Page.navigateToHistoryEntry",
    "Page.printToPDF",
    "Page.reload",
    "Page.setLifecycleEventsEnabled",
    "Runtime.callFunctionOn",
    "Runtime.disable",
    "Runtime.enable",
    "Runtime.evaluate",
    "Runtime.getProperties",
    "Runtime.releaseObject",
    "Target.attachToTarget",
    "Target.closeTarget",
    "Target.createTarget",
    "Target.detachFromTarget",
    "Target.getTargets",
    "Target.setAutoAttach",
    "Target.setDiscoverTargets",
    "Websvc.storeDownload",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::engine_source;

    /// Returns the texts in single quotes that look like methods and are arguments of `send` or items of a list.
    fn sent_methods(source: &str) -> Vec<&str> {
        let mut found: Vec<&str> = source
            .split(['(', '['])
            .filter_map(|part| part.trim_start().strip_prefix('\''))
            .filter_map(|part| part.split_once('\'').map(|(text, _)| text))
            .filter(|text| {
                let Some((domain, method)) = text.split_once('.') else { return false };
                let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphabetic());
                is_word(domain) && is_word(method) && domain.starts_with(|c: char| c.is_ascii_uppercase())
            })
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    #[test]
    fn list_has_the_methods_of_the_library() {
        let source = engine_source();
        // Events are arguments of `on`.
        let without_events = source.replace(".on('", ".on(event'");
        assert_eq!(sent_methods(&without_events), METHODS);
    }
}
