//! `GET /docs`: the API reference, which displays the OpenAPI document of the service with Swagger UI.
//!
//! All files are part of the program, and the policy of the page forbids to load anything from other hosts. Swagger UI is
//! stored compressed, as browsers accept it.

use std::sync::LazyLock;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderValue, StatusCode};
use websvc_transport::Body;

use super::compressed::{Compressed, compressed};
use crate::response::{ApiError, HttpResponse, with_type};
use crate::route::{Endpoint, Handler, OperationGroup, handler};

pub(crate) const ENDPOINTS: &[Endpoint] = &[
    file(PAGE, handler!(|_, _| Ok(secured(revalidated(HTML, PAGE_FILE.clone()))))),
    file(PAGE_SCRIPT, handler!(|_, _| Ok(secured(revalidated(JAVASCRIPT, PAGE_SCRIPT_FILE))))),
    file(PAGE_STYLE, handler!(|_, _| Ok(secured(revalidated(CSS, PAGE_STYLE_FILE))))),
    file(
        RENDERER,
        handler!(|_, request| bundled(JAVASCRIPT, &RENDERER_FILE, request.headers()).await.map(secured)),
    ),
    file(
        RENDERER_STYLE,
        handler!(|_, request| bundled(CSS, &RENDERER_STYLE_FILE, request.headers()).await.map(secured)),
    ),
    file(
        RENDERER_LICENSE,
        handler!(|_, request| bundled(TEXT, &RENDERER_LICENSE_FILE, request.headers()).await.map(secured)),
    ),
    file(RENDERER_NOTICE, handler!(|_, _| Ok(secured(revalidated(TEXT, RENDERER_NOTICE_FILE))))),
];

const fn file(path: &'static str, content: Handler) -> Endpoint {
    Endpoint::get(path, OperationGroup::Docs, content).public()
}

/// The page.
const PAGE: &str = "/docs";
/// The script that starts Swagger UI.
const PAGE_SCRIPT: &str = "/docs/page.js";
/// The style sheet of the page around Swagger UI.
const PAGE_STYLE: &str = "/docs/page.css";
/// The script of Swagger UI. Browsers cache it permanently, because the path contains its version.
const RENDERER: &str = concat!("/docs/", env!("SWAGGER_UI_VERSION"), "/swagger-ui-bundle.js");
/// The style sheet of Swagger UI.
const RENDERER_STYLE: &str = concat!("/docs/", env!("SWAGGER_UI_VERSION"), "/swagger-ui.css");
/// The license of Swagger UI, Apache-2.0.
const RENDERER_LICENSE: &str = concat!("/docs/", env!("SWAGGER_UI_VERSION"), "/LICENSE");
/// The notice that the license requires.
const RENDERER_NOTICE: &str = concat!("/docs/", env!("SWAGGER_UI_VERSION"), "/NOTICE");

const HTML: &str = "text/html; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

/// The policy: everything is loaded from this service, and no page may frame the reference. The style sheet of Swagger UI
/// contains icons as `data:` URLs.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static RENDERER_FILE: Compressed = compressed!("swagger-ui-bundle.js");
static RENDERER_STYLE_FILE: Compressed = compressed!("swagger-ui.css");
static RENDERER_LICENSE_FILE: Compressed = compressed!("LICENSE");
const RENDERER_NOTICE_FILE: Bytes = Bytes::from_static(include_bytes!(concat!(env!("OUT_DIR"), "/NOTICE")));
const PAGE_SCRIPT_FILE: Bytes = Bytes::from_static(include_bytes!("docs/page.js"));
const PAGE_STYLE_FILE: Bytes = Bytes::from_static(include_bytes!("docs/page.css"));

static PAGE_FILE: LazyLock<Bytes> =
    LazyLock::new(|| include_str!("docs/page.html").replace("{version}", env!("SWAGGER_UI_VERSION")).into());

/// Adds the headers of all files.
fn secured(mut response: HttpResponse) -> HttpResponse {
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// Returns a small file that browsers revalidate each time, because it may change with any version.
fn revalidated(media_type: &'static str, content: Bytes) -> HttpResponse {
    let mut response = with_type(StatusCode::OK, media_type, Body::from(content));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// Returns a file of Swagger UI, compressed if the client accepts it.
async fn bundled(
    media_type: &'static str,
    file: &'static Compressed,
    headers: &HeaderMap,
) -> Result<HttpResponse, ApiError> {
    let mut response = file.response(media_type, headers).await?;
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bundled_file_can_be_decompressed() {
        for file in [&RENDERER_FILE, &RENDERER_STYLE_FILE, &RENDERER_LICENSE_FILE] {
            assert!(file.plain.len() > file.gzip.len(), "{} bytes", file.plain.len());
        }
        assert!(RENDERER_FILE.plain.windows(15).any(|text| text == b"SwaggerUIBundle"));
    }
}
