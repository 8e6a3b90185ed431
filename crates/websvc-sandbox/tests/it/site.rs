//! The site that the programs visit.

use std::path::Path;

use websvc_testkit::{Page, TestWeb};

/// Starts the site. It is the same for the hosts 127.0.0.1 and localhost, which are different sites for the browser.
pub(crate) async fn start() -> TestWeb {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/site");
    let mut web = TestWeb::builder();
    for host in ["127.0.0.1", "localhost"] {
        let url = |path: &str| format!("http://{host}/{path}");
        web = web
            .directory(host, &folder)
            .page(&url("data.json"), Page::new("application/json", r#"{"items":["a","b","c"]}"#))
            .page(&url("moved"), Page::redirect(302, "/inner.html"))
            .page(&url("file.bin"), Page::new("application/octet-stream", "bytes of a file"))
            .page(&url("none.html"), Page::html("<h1>Not here</h1>").status(404))
            .page(&url("app/done"), Page::html("<title>Done</title>"))
            .page_with(&url("headers"), |request| {
                Page::html(format!("x-test: {}", request.header("x-test").unwrap_or("missing")))
            });
    }
    web.start().await
}

/// Replaces the names of the two sites in a program.
pub(crate) fn insert_addresses(code: &str, web: &TestWeb) -> String {
    let port = web.http_addr().port();
    code.replace("SITE", &format!("http://127.0.0.1:{port}"))
        .replace("OTHER", &format!("http://localhost:{port}"))
}
