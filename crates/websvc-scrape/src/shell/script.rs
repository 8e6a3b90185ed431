//! Analysis of the scripts of a page: distinguishes applications, which create content, from trackers.

use super::names::contains;

/// Parts of the URLs of trackers: scripts for statistics, advertising, cookie banners and captchas.
const TRACKER_URLS: &[&str] = &[
    "googletagmanager",
    "google-analytics",
    "googlesyndication",
    "doubleclick",
    "googleadservices",
    "recaptcha",
    "hcaptcha",
    "turnstile",
    "plausible",
    "matomo",
    "piwik",
    "umami",
    "usefathom",
    "hotjar",
    "clarity.ms",
    "segment.com",
    "segment.io",
    "mixpanel",
    "amplitude",
    "facebook.net",
    "hs-scripts",
    "hs-analytics",
    "newrelic",
    "nr-data",
    "cloudflareinsights",
    "cookiebot",
    "onetrust",
    "cookielaw",
    "usercentrics",
    "sentry",
    "intercom",
    "crisp.chat",
    "zdassets",
    "statcounter",
    "disqus",
    "adsbygoogle",
    "analytics",
    "email-decode",
    "rocket-loader",
];

/// Parts of inline trackers.
const TRACKER_CALLS: &[&str] = &[
    "gtag(",
    "dataLayer",
    "_gaq",
    "GoogleAnalyticsObject",
    "_paq",
    "fbq(",
    "hj(",
    "clarity(",
    "_hsq",
    "NREUM",
    "mixpanel.",
    "amplitude.",
    "analytics.load",
    "plausible",
    "OptanonWrapper",
    "adsbygoogle",
    "Sentry.",
];

/// Parts of the URLs of bundles, which build tools make from an application.
const BUNDLE_URLS: &[&str] = &[
    "chunk",
    "bundle",
    "runtime",
    "polyfills",
    "vendor",
    "/main.",
    "/main-",
    "/app.",
    "/app-",
    "/index-",
    "/index.",
    "/_next/",
    "/_nuxt/",
    "/_app/",
    "/webpack",
    "/static/js/",
    "/build/",
    "/dist/",
    "_framework/blazor",
    "flutter_bootstrap",
    "main.dart.js",
];

/// Calls of scripts that load data.
const LOAD_CALLS: &[&str] = &[
    "fetch(",
    "XMLHttpRequest",
    "axios",
    "$.ajax",
    "$.get",
    "getJSON",
    "EventSource",
    "WebSocket",
    ".load(",
];

/// Calls of scripts that create elements.
const CREATE_CALLS: &[&str] =
    &["innerHTML", "insertAdjacentHTML", "append", "createElement", ".html(", "textContent", "render("];

/// Calls that start the application of a framework.
const MOUNT_CALLS: &[&str] =
    &["createRoot(", "createApp(", "ReactDOM", ".mount(", "new Vue(", "target:", "m.mount(", "bootstrap("];

/// Names of the initial state of an application in the source of a page.
const STATE_NAMES: &[&str] = &[
    "__NEXT_DATA__",
    "__next_f",
    "__NUXT__",
    "__INITIAL_STATE__",
    "__PRELOADED_STATE__",
    "__APOLLO_STATE__",
    "__INITIAL_DATA__",
    "__remixContext",
    "__reactRouterContext",
    "__sveltekit",
    "ng-state",
];

/// The maximum number of bytes of a script that are searched.
const MAX_SCAN_BYTES: usize = 32 * 1024;

/// The minimum size of an inline script that counts as a bundle, in bytes.
const MIN_BUNDLE_BYTES: usize = 16 * 1024;

/// A script element of the source.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Script<'a> {
    pub(super) kind: &'a [u8],
    pub(super) src: &'a [u8],
    pub(super) id: &'a [u8],
    pub(super) content: &'a [u8],
}

/// Evidence in the scripts of a page.
#[derive(Debug, Default)]
pub(super) struct ScriptEvidence {
    /// True if a script runs that is not a tracker.
    pub(super) has_application: bool,
    /// True if such a script is a bundle, a module or large.
    pub(super) has_bundle: bool,
    /// True if the source contains the initial state of an application.
    pub(super) has_state: bool,
    /// True if a script fills one of the given empty containers.
    pub(super) fills_container: bool,
}

/// Collects the evidence in the scripts of a page. `empty_ids` are the `id` attributes of containers that are empty in
/// the source.
pub(super) fn analyze_scripts(scripts: &[Script<'_>], empty_ids: &[&[u8]]) -> ScriptEvidence {
    let mut evidence = ScriptEvidence::default();
    for script in scripts {
        let content = &script.content[..script.content.len().min(MAX_SCAN_BYTES)];
        let names_state = |text: &[u8]| STATE_NAMES.iter().any(|name| contains(text, name));
        evidence.has_state |= names_state(script.id) || names_state(content);
        if !is_javascript(script.kind) {
            continue;
        }
        let src = script.src.to_ascii_lowercase();
        let is_module = script.kind.eq_ignore_ascii_case(b"module");
        if !src.is_empty() {
            let is_tracker = TRACKER_URLS.iter().any(|part| contains(&src, part));
            let is_bundle = is_module || BUNDLE_URLS.iter().any(|part| contains(&src, part));
            evidence.has_application |= !is_tracker;
            evidence.has_bundle |= !is_tracker && is_bundle;
            continue;
        }
        if content.trim_ascii().is_empty() {
            continue;
        }
        let has = |parts: &[&str]| parts.iter().any(|part| contains(content, part));
        let creates_content = has(MOUNT_CALLS) || (has(LOAD_CALLS) && has(CREATE_CALLS));
        if creates_content || !has(TRACKER_CALLS) {
            evidence.has_application = true;
            evidence.has_bundle |=
                is_module || contains(content, "import(") || script.content.len() >= MIN_BUNDLE_BYTES;
        }
        evidence.fills_container |= creates_content && empty_ids.iter().any(|id| names_element(content, id));
    }
    evidence
}

fn is_javascript(kind: &[u8]) -> bool {
    let kind = kind.to_ascii_lowercase();
    kind.is_empty()
        || kind == b"module"
        || contains(&kind, "javascript")
        || contains(&kind, "ecmascript")
        || contains(&kind, "babel")
}

/// Returns whether a script contains the `id` of an element in quotes, or after `#`.
fn names_element(script: &[u8], id: &[u8]) -> bool {
    memchr::memmem::find_iter(script, id).any(|at| {
        let before = at.checked_sub(1).map(|before| script[before]);
        let after = script.get(at + id.len());
        before.is_some_and(|byte| b"'\"`#".contains(&byte))
            && after.is_some_and(|byte| b"'\"` ".contains(byte))
    })
}
