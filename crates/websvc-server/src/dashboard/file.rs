//! The static files of the dashboard, which are part of the program.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderValue, StatusCode};
use websvc_transport::Body;

use crate::response::{HttpResponse, with_type};

/// A static file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct File {
    pub(crate) path: &'static str,
    media_type: &'static str,
    content: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";

macro_rules! file {
    ($media_type:expr, $name:literal) => {
        File {
            path: concat!("/dashboard/files/", $name),
            media_type: $media_type,
            content: include_str!(concat!("files/", $name)),
        }
    };
}

/// The style sheet of the page.
pub(crate) const STYLE: File = file!(CSS, "style.css");
/// The scripts of the page.
pub(crate) const SCRIPTS: [File; 29] = [
    file!(JAVASCRIPT, "main.js"),
    file!(JAVASCRIPT, "agent.js"),
    file!(JAVASCRIPT, "agent_form.js"),
    file!(JAVASCRIPT, "agent_trace.js"),
    file!(JAVASCRIPT, "agents.js"),
    file!(JAVASCRIPT, "api.js"),
    file!(JAVASCRIPT, "check.js"),
    file!(JAVASCRIPT, "dialog.js"),
    file!(JAVASCRIPT, "diff.js"),
    file!(JAVASCRIPT, "dom.js"),
    file!(JAVASCRIPT, "feedback.js"),
    file!(JAVASCRIPT, "form.js"),
    file!(JAVASCRIPT, "keys.js"),
    file!(JAVASCRIPT, "live.js"),
    file!(JAVASCRIPT, "monitor.js"),
    file!(JAVASCRIPT, "monitor_actions.js"),
    file!(JAVASCRIPT, "monitor_form.js"),
    file!(JAVASCRIPT, "monitor_target.js"),
    file!(JAVASCRIPT, "monitor_text.js"),
    file!(JAVASCRIPT, "monitors.js"),
    file!(JAVASCRIPT, "playground.js"),
    file!(JAVASCRIPT, "requests.js"),
    file!(JAVASCRIPT, "results.js"),
    file!(JAVASCRIPT, "session.js"),
    file!(JAVASCRIPT, "sessions.js"),
    file!(JAVASCRIPT, "snippets.js"),
    file!(JAVASCRIPT, "system.js"),
    file!(JAVASCRIPT, "teams.js"),
    file!(JAVASCRIPT, "usage.js"),
];

/// The policy: everything is loaded from this service, and no page may frame the dashboard. Images are artifacts of the
/// service, or inline data of a response. Frames are live views of browser sessions, which are pages of the service.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Returns the HTML page.
pub(crate) fn page() -> HttpResponse {
    response(File { path: "/", media_type: HTML, content: include_str!("files/page.html") })
}

/// Returns a file. Browsers revalidate it each time, because it may change with any version.
pub(crate) fn response(file: File) -> HttpResponse {
    let body = Body::from(Bytes::from_static(file.content.as_bytes()));
    let mut response = with_type(StatusCode::OK, file.media_type, body);
    set_security_headers(response.headers_mut());
    response
}

fn set_security_headers(headers: &mut HeaderMap) {
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(VARY, HeaderValue::from_static("accept"));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;
    use crate::route::ROUTES;

    #[test]
    fn every_file_is_served_and_every_import_exists() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/dashboard/files");
        let on_disk: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "page.html")
            .collect();
        let name = |file: &File| file.path.rsplit('/').next().unwrap().to_owned();
        let served: BTreeSet<String> = SCRIPTS.iter().chain([&STYLE]).map(name).collect();
        assert_eq!(on_disk, served);
        for script in &SCRIPTS {
            assert!(ROUTES.iter().any(|route| route.path == script.path), "{} has no route", script.path);
            for line in script.content.lines().filter(|line| line.starts_with("import ")) {
                let from = line.split('"').nth(1).unwrap().trim_start_matches("./");
                assert!(served.contains(from), "{}: {line}", script.path);
            }
        }
    }

    #[test]
    fn files_load_nothing_remote_and_create_no_markup_from_text() {
        for file in SCRIPTS.iter().chain([&STYLE]) {
            assert!(!file.content.contains("innerHTML"), "{}", file.path);
            assert!(!file.content.contains("eval("), "{}", file.path);
            assert!(!file.content.contains("@import"), "{}", file.path);
        }
        assert!(!include_str!("files/page.html").contains("style="));
    }
}
