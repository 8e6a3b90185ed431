//! `/mcp`: the tools over the "streamable HTTP" transport of the protocol, without sessions.

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
use websvc_transport::{Body, ServerBody};
use websvc_types::ErrorCode;
use websvc_types::limits::BODY_OPTIONS_MAX_BYTES;
use websvc_validate::check_values;

use super::McpTools;
use crate::admission::SMALL_BODY_BYTES;
use crate::authenticate::Authentication;
use crate::blocking::start_blocking;
use crate::response::{ApiError, HttpResponse};
use crate::route::{Endpoint, OperationGroup, RequestBody, handler};
use crate::service::{InternalCaller, RequestContext, ServiceState};

pub(crate) const ENDPOINTS: &[Endpoint] =
    &[Endpoint::post("/mcp", OperationGroup::Mcp, handler!(|context, request| mcp(context, request).await))
        .name("mcp")
        // The endpoints that the tools use have scopes.
        .body(RequestBody::LONG)];

/// Handles one message of the protocol.
async fn mcp(context: RequestContext<'_>, request: Request<ServerBody>) -> Result<HttpResponse, ApiError> {
    let base_url = context.state.base_url(&request);
    let address = Some(context.state.client_ip(&request));
    reject_cross_origin(&context, request.uri(), request.headers(), base_url.as_deref())?;
    let (parts, body) = request.into_parts();
    let body = body.into_received();
    check_values(&body)?;
    let is_long = body.len() > SMALL_BODY_BYTES;
    let text = String::from_utf8(body.into())
        .map_err(|error| ApiError::new(ErrorCode::BadRequest, format!("Bad request: {error}")))?;
    let caller = Arc::new(InternalCaller { caller: context.caller.clone(), base_url, address });
    let tools = McpTools { service: context.service(), caller };
    // `reject_cross_origin` has checked Host and Origin, with the configuration of this service.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(BODY_OPTIONS_MAX_BYTES)
        .disable_allowed_hosts();
    let service = StreamableHttpService::new(
        move || Ok(tools.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    let handling = async move { service.handle(Request::from_parts(parts, text)).await };
    // The library parses the body when it is polled first.
    let reply = if is_long { start_blocking(handling).await? } else { handling.await };
    let (parts, body) = reply.into_parts();
    Ok(HttpResponse::from_parts(parts, Body::from(collect(body).await)))
}

/// Rejects a request that a page of another origin may have sent (row S20 of the proofs). Browsers send the origin of the
/// page. Without authentication, the host is checked, too: a page could resolve its own host name to the address of this
/// service (DNS rebinding).
///
/// # Errors
/// 403.
pub(crate) fn reject_cross_origin(
    context: &RequestContext<'_>,
    uri: &Uri,
    headers: &HeaderMap,
    base_url: Option<&str>,
) -> Result<(), ApiError> {
    let ServiceState { authentication, public_url, .. } = &**context.state;
    let forbidden = |text: String| Err(ApiError::new(ErrorCode::Forbidden, text));
    if let Some(origin) = headers.get(ORIGIN) {
        let origin = origin.to_str().unwrap_or("?");
        if !is_same_origin(origin, base_url) {
            return forbidden(format!("Forbidden: {origin:?} is not the origin of this service"));
        }
    }
    if *authentication == Authentication::Open && !public_url.is_configured() {
        let host = uri.host().or_else(|| headers.get(HOST)?.to_str().ok()).unwrap_or_default();
        if !is_address_or_localhost(host) {
            return forbidden(format!(
                "Forbidden: without keys ([auth] required = false) the host must be an IP address, localhost or the host of \
                 server.public_url, not {host:?}"
            ));
        }
    }
    Ok(())
}

fn is_same_origin(origin: &str, base_url: Option<&str>) -> bool {
    let parse = |text: &str| Url::parse(text).ok().map(|url| url.origin());
    base_url.and_then(parse).is_some_and(|own| own.is_tuple() && parse(origin) == Some(own))
}

/// Returns whether a host, with or without port, is an IP address or `localhost`. DNS cannot change what these mean.
fn is_address_or_localhost(host: &str) -> bool {
    let Ok(url) = Url::parse(&format!("http://{host}/")) else { return false };
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(_) | url::Host::Ipv6(_)) => is_literal_address(host),
        None => false,
    }
}

/// Returns whether the address has the usual form. A browser would also accept a plain number.
fn is_literal_address(host: &str) -> bool {
    let address = host
        .strip_prefix('[')
        .and_then(|rest| rest.split(']').next())
        .unwrap_or_else(|| host.rsplit_once(':').map_or(host, |(name, _)| name));
    address.parse::<IpAddr>().is_ok()
}

/// Collects a body that is known to end.
async fn collect<B>(mut body: B) -> Bytes
where
    B: http_body::Body<Data = Bytes, Error = Infallible> + Unpin,
{
    let mut collected = BytesMut::new();
    while let Some(Ok(frame)) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        if let Ok(data) = frame.into_data() {
            if collected.is_empty() && body.is_end_stream() {
                return data;
            }
            collected.extend_from_slice(&data);
        }
    }
    collected.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_origin_of_the_base_url_is_the_same() {
        let base_url = Some("https://websvc.test/api");
        assert!(is_same_origin("https://websvc.test", base_url));
        assert!(is_same_origin("https://websvc.test:443", base_url));
        for other in
            ["http://websvc.test", "https://websvc.test:8443", "https://websvc.test.evil.test", "null", ""]
        {
            assert!(!is_same_origin(other, base_url), "{other}");
        }
        assert!(!is_same_origin("https://websvc.test", None));
        assert!(!is_same_origin("null", Some("null")));
    }

    #[test]
    fn only_ip_addresses_and_localhost_are_safe_hosts() {
        for safe in [
            "127.0.0.1",
            "127.0.0.1:3002",
            "[::1]:3002",
            "[::1]",
            "localhost",
            "localhost:3002",
            "192.0.2.1:80",
        ] {
            assert!(is_address_or_localhost(safe), "{safe}");
        }
        for unsafe_host in [
            "rebound.test",
            "rebound.test:3002",
            "127.0.0.1.rebound.test",
            "localhost.rebound.test",
            "",
            "a b",
            "2130706433",
        ] {
            assert!(!is_address_or_localhost(unsafe_host), "{unsafe_host}");
        }
    }
}
