//! Scripts of a page: which of them make its content, and which only watch its readers.

use super::names::contains;

/// Parts of the addresses of scripts that count, advertise, ask about cookies or guard a form.
const WATCHING: &[&str] = &[
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

/// Parts of inline scripts of the same kind.
const WATCHING_CALLS: &[&str] = &[
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

/// Parts of the addresses of scripts that a build tool made of an application.
const BUNDLES: &[&str] = &[
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

/// Ways of a script to get data.
const LOADS: &[&str] = &[
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

/// Ways of a script to make elements of data, and of frameworks to begin.
const MAKES: &[&str] =
    &["innerHTML", "insertAdjacentHTML", "append", "createElement", ".html(", "textContent", "render("];
const MOUNTS: &[&str] =
    &["createRoot(", "createApp(", "ReactDOM", ".mount(", "new Vue(", "target:", "m.mount(", "bootstrap("];

/// Names of data in a page that its scripts begin with.
const STATES: &[&str] = &[
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

/// How many bytes of a script are looked at.
const LOOKED_AT: usize = 32 * 1024;

/// How large an inline script is at least that may hold an application.
const LARGE: usize = 16 * 1024;

/// A script element as it stands in the source.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Script<'a> {
    pub(super) kind: &'a [u8],
    pub(super) src: &'a [u8],
    pub(super) id: &'a [u8],
    pub(super) content: &'a [u8],
}

/// Findings about the scripts of a page.
#[derive(Debug, Default)]
pub(super) struct ScriptFindings {
    /// One runs that does more than to watch.
    pub(super) runs: bool,
    /// One looks as if a build tool made it, or is large.
    pub(super) bundle: bool,
    /// There is data that scripts begin with.
    pub(super) state: bool,
    /// One fills one of the empty containers that were given.
    pub(super) fills_container: bool,
}

/// Looks at the scripts of a page, and at what they do with containers that are empty in the source.
pub(super) fn look_at(scripts: &[Script<'_>], empty_ids: &[&[u8]]) -> ScriptFindings {
    let mut findings = ScriptFindings::default();
    for script in scripts {
        let content = &script.content[..script.content.len().min(LOOKED_AT)];
        let names_state = |text: &[u8]| STATES.iter().any(|name| contains(text, name));
        findings.state |= names_state(script.id) || names_state(content);
        if !is_javascript(script.kind) {
            continue;
        }
        let src = script.src.to_ascii_lowercase();
        let is_module = script.kind.eq_ignore_ascii_case(b"module");
        if !src.is_empty() {
            let watches = WATCHING.iter().any(|part| contains(&src, part));
            findings.runs |= !watches;
            findings.bundle |= !watches && (is_module || BUNDLES.iter().any(|part| contains(&src, part)));
            continue;
        }
        if content.trim_ascii().is_empty() {
            continue;
        }
        let has = |parts: &[&str]| parts.iter().any(|part| contains(content, part));
        let works = has(MOUNTS) || (has(LOADS) && has(MAKES));
        if works || !has(WATCHING_CALLS) {
            findings.runs = true;
            findings.bundle |= is_module || contains(content, "import(") || script.content.len() >= LARGE;
        }
        findings.fills_container |= works && empty_ids.iter().any(|id| names_element(content, id));
    }
    findings
}

fn is_javascript(kind: &[u8]) -> bool {
    let kind = kind.to_ascii_lowercase();
    kind.is_empty()
        || kind == b"module"
        || contains(&kind, "javascript")
        || contains(&kind, "ecmascript")
        || contains(&kind, "babel")
}

/// Returns whether a script has the `id` of an element in quotes, or behind `#`.
fn names_element(script: &[u8], id: &[u8]) -> bool {
    memchr::memmem::find_iter(script, id).any(|at| {
        let before = at.checked_sub(1).map(|before| script[before]);
        let after = script.get(at + id.len());
        before.is_some_and(|byte| b"'\"`#".contains(&byte))
            && after.is_some_and(|byte| b"'\"` ".contains(byte))
    })
}
