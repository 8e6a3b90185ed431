//! `GET /docs`: the API reference, Swagger UI over the service's own OpenAPI document.
//!
//! Everything comes from this process: the renderer is in the program, compressed as browsers take it, and the
//! policy of the page forbids to load anything from elsewhere.

use std::sync::LazyLock;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderValue, StatusCode};
use websvc_transport::Body;

use super::compressed::{Compressed, compressed};
use crate::response::{ApiError, HttpResponse, with_type};

/// A file of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DocsFile {
    Page,
    PageScript,
    PageStyle,
    Renderer,
    RendererStyle,
    RendererLicence,
    RendererNotice,
}

/// The page itself.
pub(crate) const PAGE: &str = "/docs";
/// What starts the renderer.
pub(crate) const PAGE_SCRIPT: &str = "/docs/page.js";
/// The look of what is around the reference.
pub(crate) const PAGE_STYLE: &str = "/docs/page.css";
/// The renderer. The version in the path lets browsers keep it for good.
pub(crate) const RENDERER: &str = concat!("/docs/", env!("SWAGGER_UI_VERSION"), "/swagger-ui-bundle.js");
/// The look of the renderer.
pub(crate) const RENDERER_STYLE: &str = concat!("/docs/", env!("SWAGGER_UI_VERSION"), "/swagger-ui.css");
/// The licence of the renderer, Apache-2.0.
pub(crate) const RENDERER_LICENCE: &str = concat!("/docs/", env!("SWAGGER_UI_VERSION"), "/LICENSE");
/// The notice that the licence asks for.
pub(crate) const RENDERER_NOTICE: &str = concat!("/docs/", env!("SWAGGER_UI_VERSION"), "/NOTICE");

const HTML: &str = "text/html; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

/// Only what this service sends, in nobody's frame. The renderer has icons in its style sheet, hence `data:`.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static RENDERER_FILE: Compressed = compressed!("swagger-ui-bundle.js");
static RENDERER_STYLE_FILE: Compressed = compressed!("swagger-ui.css");
static RENDERER_LICENCE_FILE: Compressed = compressed!("LICENSE");
const RENDERER_NOTICE_FILE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/NOTICE"));

static PAGE_FILE: LazyLock<Bytes> =
    LazyLock::new(|| include_str!("docs/page.html").replace("{version}", env!("SWAGGER_UI_VERSION")).into());

/// Answers with a file of the reference.
pub(crate) async fn docs(file: DocsFile, headers: &HeaderMap) -> Result<HttpResponse, ApiError> {
    let mut reply = match file {
        DocsFile::Page => own(HTML, PAGE_FILE.clone()),
        DocsFile::PageScript => own(JAVASCRIPT, Bytes::from_static(include_bytes!("docs/page.js"))),
        DocsFile::PageStyle => own(CSS, Bytes::from_static(include_bytes!("docs/page.css"))),
        DocsFile::Renderer => bundled(JAVASCRIPT, &RENDERER_FILE, headers).await?,
        DocsFile::RendererStyle => bundled(CSS, &RENDERER_STYLE_FILE, headers).await?,
        DocsFile::RendererLicence => bundled(TEXT, &RENDERER_LICENCE_FILE, headers).await?,
        DocsFile::RendererNotice => own(TEXT, Bytes::from_static(RENDERER_NOTICE_FILE)),
    };
    let headers = reply.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Ok(reply)
}

/// Returns one of our own files: small, and asked for again each time, since it may change with any version.
fn own(media_type: &'static str, content: Bytes) -> HttpResponse {
    let mut reply = with_type(StatusCode::OK, media_type, Body::from(content));
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    reply
}

/// Returns a file of the renderer, compressed if the client can read that.
async fn bundled(
    media_type: &'static str,
    file: &'static Compressed,
    headers: &HeaderMap,
) -> Result<HttpResponse, ApiError> {
    let mut reply = file.reply(media_type, headers).await?;
    let headers = reply.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    Ok(reply)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bundled_file_unpacks() {
        for file in [&RENDERER_FILE, &RENDERER_STYLE_FILE, &RENDERER_LICENCE_FILE] {
            assert!(file.plain.len() > file.gzip.len(), "{} bytes", file.plain.len());
        }
        assert!(RENDERER_FILE.plain.windows(15).any(|text| text == b"SwaggerUIBundle"));
    }
}
