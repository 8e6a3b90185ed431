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

/// A file of the API reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DocsFile {
    Page,
    PageScript,
    PageStyle,
    Renderer,
    RendererStyle,
    RendererLicense,
    RendererNotice,
}

/// The page.
pub(crate) const PAGE: &str = "/docs";
/// The script that starts Swagger UI.
pub(crate) const PAGE_SCRIPT: &str = "/docs/page.js";
/// The style sheet of the page around Swagger UI.
pub(crate) const PAGE_STYLE: &str = "/docs/page.css";
/// The script of Swagger UI. Browsers cache it permanently, because the path contains its version.
pub(crate) const RENDERER: &str = concat!("/docs/", env!("SWAGGER_UI_VERSION"), "/swagger-ui-bundle.js");
/// The style sheet of Swagger UI.
pub(crate) const RENDERER_STYLE: &str = concat!("/docs/", env!("SWAGGER_UI_VERSION"), "/swagger-ui.css");
/// The license of Swagger UI, Apache-2.0.
pub(crate) const RENDERER_LICENSE: &str = concat!("/docs/", env!("SWAGGER_UI_VERSION"), "/LICENSE");
/// The notice that the license requires.
pub(crate) const RENDERER_NOTICE: &str = concat!("/docs/", env!("SWAGGER_UI_VERSION"), "/NOTICE");

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
const RENDERER_NOTICE_FILE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/NOTICE"));

static PAGE_FILE: LazyLock<Bytes> =
    LazyLock::new(|| include_str!("docs/page.html").replace("{version}", env!("SWAGGER_UI_VERSION")).into());

/// Responds with a file of the API reference.
pub(crate) async fn docs(file: DocsFile, headers: &HeaderMap) -> Result<HttpResponse, ApiError> {
    let mut response = match file {
        DocsFile::Page => revalidated(HTML, PAGE_FILE.clone()),
        DocsFile::PageScript => revalidated(JAVASCRIPT, Bytes::from_static(include_bytes!("docs/page.js"))),
        DocsFile::PageStyle => revalidated(CSS, Bytes::from_static(include_bytes!("docs/page.css"))),
        DocsFile::Renderer => bundled(JAVASCRIPT, &RENDERER_FILE, headers).await?,
        DocsFile::RendererStyle => bundled(CSS, &RENDERER_STYLE_FILE, headers).await?,
        DocsFile::RendererLicense => bundled(TEXT, &RENDERER_LICENSE_FILE, headers).await?,
        DocsFile::RendererNotice => revalidated(TEXT, Bytes::from_static(RENDERER_NOTICE_FILE)),
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Ok(response)
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
