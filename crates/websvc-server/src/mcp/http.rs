//! `/mcp`: the tools over HTTP ("streamable HTTP" of the protocol, without sessions).

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::header::{HOST, ORIGIN};
use http::{HeaderMap, Request, Uri};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use url::Url;
use websvc_transport::{Body, BodyTimeout, ServerBody};
use websvc_types::ErrorCode;
use websvc_types::limits::BODY_MAX_BYTES;

use super::McpTools;
use crate::authenticate::Authentication;
use crate::response::{ApiError, HttpResponse};
use crate::service::{InternalCaller, RequestContext};

/// Answers one message of the protocol.
pub(crate) async fn mcp(
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let peer = request.body().peer_addr().ip();
    let origin = context.origin.of(peer, request.uri(), request.headers());
    let address = Some(context.origin.client_ip(peer, request.headers()));
    refuse_strangers(&context, request.uri(), request.headers(), origin.as_deref())?;
    let (parts, body) = request.into_parts();
    let body = body.read(BODY_MAX_BYTES, BodyTimeout::default()).await?;
    let text = String::from_utf8(body.into())
        .map_err(|error| ApiError::new(ErrorCode::BadRequest, format!("Bad request: {error}")))?;
    let asker = Arc::new(InternalCaller { caller: context.caller.clone(), origin, address });
    let tools = McpTools { service: context.service.clone(), asker };
    // Host and Origin were looked at: by rules that know the configuration.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(BODY_MAX_BYTES)
        .disable_allowed_hosts();
    let service = StreamableHttpService::new(
        move || Ok(tools.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    let reply = service.handle(Request::from_parts(parts, text)).await;
    let (parts, body) = reply.into_parts();
    Ok(HttpResponse::from_parts(parts, Body::from(collect(body).await)))
}

/// Refuses what a page of somebody else may have sent (row S20 of the proofs): a browser says where a page is from, and
/// where no key is asked for, a page could have given its own name our address.
///
/// # Errors
/// 403.
pub(crate) fn refuse_strangers(
    context: &RequestContext<'_>,
    uri: &Uri,
    headers: &HeaderMap,
    own: Option<&str>,
) -> Result<(), ApiError> {
    let forbidden = |text: String| Err(ApiError::new(ErrorCode::Forbidden, text));
    if let Some(origin) = headers.get(ORIGIN) {
        let origin = origin.to_str().unwrap_or("?");
        if !is_same(origin, own) {
            return forbidden(format!("Forbidden: {origin:?} is not the origin of this service"));
        }
    }
    if context.authentication == Authentication::Open && !context.origin.is_set() {
        let host = uri.host().or_else(|| headers.get(HOST)?.to_str().ok()).unwrap_or_default();
        if !is_an_address(host) {
            return forbidden(format!(
                "Forbidden: without keys ([auth] required = false) this is asked for by an address, by localhost or by \
                 server.public_url, not as {host:?}"
            ));
        }
    }
    Ok(())
}

fn is_same(origin: &str, own: Option<&str>) -> bool {
    let parse = |text: &str| Url::parse(text).ok().map(|url| url.origin());
    own.and_then(parse).is_some_and(|own| own.is_tuple() && parse(origin) == Some(own))
}

/// Tells whether a host, with or without port, is an IP address or this machine's own name: no name that others give.
fn is_an_address(host: &str) -> bool {
    let Ok(url) = Url::parse(&format!("http://{host}/")) else { return false };
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(_) | url::Host::Ipv6(_)) => host_is_literal(host),
        None => false,
    }
}

/// Tells whether the address is written as one, and not as a number that a browser would read as one.
fn host_is_literal(host: &str) -> bool {
    let bare = host
        .strip_prefix('[')
        .and_then(|rest| rest.split(']').next())
        .unwrap_or_else(|| host.rsplit_once(':').map_or(host, |(name, _)| name));
    bare.parse::<IpAddr>().is_ok()
}

/// Returns a body that is known to end.
async fn collect<B>(mut body: B) -> Bytes
where
    B: http_body::Body<Data = Bytes, Error = Infallible> + Unpin,
{
    let mut whole = BytesMut::new();
    while let Some(Ok(frame)) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        if let Ok(data) = frame.into_data() {
            if whole.is_empty() && body.is_end_stream() {
                return data;
            }
            whole.extend_from_slice(&data);
        }
    }
    whole.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_origin_is_the_same() {
        let own = Some("https://websvc.test/api");
        assert!(is_same("https://websvc.test", own));
        assert!(is_same("https://websvc.test:443", own));
        for other in
            ["http://websvc.test", "https://websvc.test:8443", "https://websvc.test.evil.test", "null", ""]
        {
            assert!(!is_same(other, own), "{other}");
        }
        assert!(!is_same("https://websvc.test", None));
        assert!(!is_same("null", Some("null")));
    }

    #[test]
    fn names_that_others_give_are_no_addresses() {
        for good in [
            "127.0.0.1",
            "127.0.0.1:3002",
            "[::1]:3002",
            "[::1]",
            "localhost",
            "localhost:3002",
            "192.0.2.1:80",
        ] {
            assert!(is_an_address(good), "{good}");
        }
        for bad in [
            "rebound.test",
            "rebound.test:3002",
            "127.0.0.1.rebound.test",
            "localhost.rebound.test",
            "",
            "a b",
            "2130706433",
        ] {
            assert!(!is_an_address(bad), "{bad}");
        }
    }
}
