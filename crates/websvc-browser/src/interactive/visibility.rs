//! The decision which targets a client of a session may see and name. A target that it may not see is hidden from all
//! results and events, and no command reaches it.

use serde_json::Value;

use crate::document_url::DocumentUrl;

/// The types of targets that clients see: pages, with the tab around each, and what runs inside them. All others belong to
/// the browser itself, such as `browser_ui`.
const TYPES: &[&str] = &["iframe", "page", "service_worker", "shared_worker", "tab", "worker"];

/// The relation of a client to a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Visibility {
    /// It belongs to the session.
    Visible,
    Hidden,
    /// It is a page of the session that shows a document of the server, which ends the session.
    Forbidden,
}

/// The protocol session that has reported a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reporter {
    /// That of the browser.
    Browser,
    /// That of a target which the client sees, and which contains the reported one.
    Container,
}

/// Decides on a `Target.TargetInfo`. `is_web_page` returns whether a target is an open page of the session whose first
/// document is of the web.
pub(super) fn judge(
    info: &Value,
    context: &str,
    reporter: Reporter,
    is_web_page: impl Fn(&str) -> bool,
) -> Visibility {
    let text = |name: &str| info[name].as_str().unwrap_or_default();
    let kind = text("type");
    if text("browserContextId") != context || !TYPES.contains(&kind) {
        return Visibility::Hidden;
    }
    let is_visible = match (DocumentUrl::from_url(text("url")), kind) {
        (DocumentUrl::Web | DocumentUrl::Error, _) => true,
        (DocumentUrl::Server, "page") => return Visibility::Forbidden,
        // Such a page can open none of the server. A page of the browser itself can.
        (DocumentUrl::Unknown, "page") => is_web_page(text("targetId")) || is_web_page(text("openerId")),
        // Only targets inside a tab can be reached through it, and they are judged on their own.
        (DocumentUrl::Unknown, "tab") => true,
        (DocumentUrl::Unknown, _) => reporter == Reporter::Container,
        (DocumentUrl::Server | DocumentUrl::Other, _) => false,
    };
    if is_visible { Visibility::Visible } else { Visibility::Hidden }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The types of targets in the source of Chromium, and one that does not exist.
    const ALL_TYPES: &[&str] = &[
        "auction_worklet",
        "app",
        "assistive_technology",
        "background_page",
        "browser",
        "browser_ui",
        "guest",
        "iframe",
        "other",
        "page",
        "service_worker",
        "shared_storage_worklet",
        "shared_worker",
        "tab",
        "webview",
        "worker",
        "worklet",
        "",
    ];

    const WEB: &[&str] = &[
        "http://a.test/",
        "https://a.test/",
        "about:blank",
        "about:srcdoc",
        "data:text/html,x",
        "blob:http://a.test/1",
        "chrome-error://chromewebdata/",
    ];

    const SERVER: &[&str] = &[
        "file:///etc/passwd",
        "chrome://omnibox-popup.top-chrome/",
        "chrome://version/",
        "chrome-untrusted://a/",
        "chrome-extension://a/b.html",
        "devtools://devtools/bundled/inspector.html",
        "view-source:file:///etc/passwd",
        "filesystem:http://a.test/temporary/a",
        "blob:chrome://version/1",
        "about:version",
    ];

    fn judged(kind: &str, url: &str, opener: &str, reporter: Reporter) -> Visibility {
        let info = json!({"type": kind, "url": url, "openerId": opener, "browserContextId": "OWN"});
        let visibility = judge(&info, "OWN", reporter, |target| target == "PAGE");
        let mut other = info;
        for context in [json!("OTHER"), Value::Null] {
            other["browserContextId"] = context;
            assert_eq!(judge(&other, "OWN", reporter, |_| true), Visibility::Hidden, "{other}");
        }
        visibility
    }

    #[test]
    fn targets_are_visible_by_type_and_url() {
        use Visibility::{Forbidden, Hidden, Visible};

        for kind in ALL_TYPES {
            for reporter in [Reporter::Browser, Reporter::Container] {
                let is_listed = matches!(
                    *kind,
                    "iframe" | "page" | "service_worker" | "shared_worker" | "tab" | "worker"
                );
                for url in WEB {
                    let expected = if is_listed { Visible } else { Hidden };
                    assert_eq!(judged(kind, url, "", reporter), expected, "{kind} {url} {reporter:?}");
                }
                for url in SERVER {
                    let expected = if *kind == "page" { Forbidden } else { Hidden };
                    assert_eq!(judged(kind, url, "PAGE", reporter), expected, "{kind} {url} {reporter:?}");
                }
                assert_eq!(judged(kind, "mailto:a@b.test", "PAGE", reporter), Hidden, "{kind}");
                let without_url = match (*kind, reporter) {
                    ("tab", _)
                    | ("iframe" | "service_worker" | "shared_worker" | "worker", Reporter::Container) => {
                        Visible
                    }
                    _ => Hidden,
                };
                for opener in ["", "OTHER"] {
                    assert_eq!(
                        judged(kind, "", opener, reporter),
                        without_url,
                        "{kind} {reporter:?} {opener}"
                    );
                }
            }
        }
        // A window that a page of the session has opened, and a page between two documents.
        assert_eq!(judged("page", "", "PAGE", Reporter::Browser), Visible);
        let between = json!({"type": "page", "url": "", "targetId": "PAGE", "browserContextId": "OWN"});
        assert_eq!(judge(&between, "OWN", Reporter::Browser, |target| target == "PAGE"), Visible);
        assert_eq!(judge(&Value::Null, "", Reporter::Browser, |_| true), Hidden);
    }
}
