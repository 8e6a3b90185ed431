//! Requests that another request or program makes inside the process, such as MCP tool calls. Each is a request of its
//! own in the log, in traces and in audit events, and has the same endpoint and handler as over HTTP.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Instant;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Method, Request};
use url::form_urlencoded;
use uuid::Uuid;
use websvc_stage::RequestSpan;
use websvc_store::Caller;
use websvc_transport::ServerBody;
use websvc_types::ErrorCode;

use super::{RequestContext, Service};
use crate::audit_trail::{AuditOutcome, AuditTrail};
use crate::authorize::authorize_endpoint;
use crate::forwarding::Forwarded;
use crate::handler::{parse, receive_form};
use crate::response::ApiError;
use crate::route::{Endpoint, endpoints};

/// The caller of internal requests.
#[derive(Debug, Clone, Default)]
pub(crate) struct InternalCaller {
    pub(crate) caller: Option<Caller>,
    /// The base URL under which the caller reaches the service; without it, responses contain files inline.
    pub(crate) base_url: Option<String>,
    pub(crate) address: Option<IpAddr>,
}

/// A request to an endpoint inside the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InternalRequest {
    method: Method,
    /// The path of the endpoint, with its names in braces.
    endpoint: &'static str,
    path: String,
    query: String,
    body: Bytes,
    content_type: Option<String>,
}

impl InternalRequest {
    /// Returns a request to the endpoint with this method and path.
    pub(crate) fn new(method: Method, endpoint: &'static str) -> Self {
        Self {
            method,
            endpoint,
            path: endpoint.to_owned(),
            query: String::new(),
            body: Bytes::new(),
            content_type: None,
        }
    }

    /// Returns a request to parse a file with options in JSON, as a form.
    pub(crate) fn parse_file(name: &str, file: &[u8], options: Option<&str>) -> Self {
        let boundary = Uuid::now_v7().simple().to_string();
        let mut body = Vec::with_capacity(file.len() + 512);
        let mut add = |disposition: &str, content: &[u8]| {
            let head = format!("--{boundary}\r\nContent-Disposition: form-data; {disposition}\r\n\r\n");
            body.extend_from_slice(head.as_bytes());
            body.extend_from_slice(content);
            body.extend_from_slice(b"\r\n");
        };
        let name: String = name.chars().filter(|c| !matches!(c, '"' | '\\') && !c.is_control()).collect();
        add(&format!("name=\"file\"; filename=\"{name}\""), file);
        if let Some(options) = options {
            add("name=\"options\"", options.as_bytes());
        }
        body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
        let content_type = Some(format!("multipart/form-data; boundary={boundary}"));
        Self { content_type, ..Self::new(Method::POST, "/v2/parse").body(body.into()) }
    }

    /// Sets the segment of the path that stands in braces. The value is not trusted.
    pub(crate) fn segment(mut self, name: &str, value: &str) -> Self {
        // An empty segment would be left out, and so name another endpoint.
        let encoded: String = match value {
            "" => "-".to_owned(),
            value => form_urlencoded::byte_serialize(value.as_bytes()).collect(),
        };
        self.path = self.path.replace(&format!("{{{name}}}"), &encoded);
        self
    }

    /// Adds a parameter to the query string.
    pub(crate) fn parameter(mut self, name: &str, value: &str) -> Self {
        self.query = form_urlencoded::Serializer::new(self.query).append_pair(name, value).finish();
        self
    }

    /// Sets the body.
    pub(crate) fn body(self, body: Bytes) -> Self {
        Self { body, ..self }
    }

    /// Returns the method, the path and the query string, and the body.
    #[cfg(test)]
    pub(crate) fn parts(&self) -> (String, &Bytes) {
        (format!("{} {}", self.method, self.path_and_query()), &self.body)
    }

    fn path_and_query(&self) -> String {
        if self.query.is_empty() { self.path.clone() } else { format!("{}?{}", self.path, self.query) }
    }

    fn endpoint(&self) -> Option<&'static Endpoint> {
        endpoints().find(|endpoint| endpoint.method == self.method && endpoint.path == self.endpoint)
    }

    /// Returns the request as one over HTTP, whose body has arrived.
    fn into_request(self, id: &str, caller: &InternalCaller) -> Result<Request<ServerBody>, ApiError> {
        let client = caller.address.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        // It is not passed on to another replica: it has no credentials that the other could check.
        let forwarded =
            Forwarded { id: id.to_owned(), client, base_url: caller.base_url.clone(), is_question: false };
        let uri = self.path_and_query();
        let body = ServerBody::received(self.body, SocketAddr::new(client, 0));
        let mut request = Request::builder().method(self.method).uri(uri).extension(forwarded);
        if let Some(content_type) = self.content_type {
            request = request.header(CONTENT_TYPE, content_type);
        }
        let request = request.body(body);
        request.map_err(|error| ApiError::internal(&error, "the internal request is invalid"))
    }
}

impl Service {
    /// Handles an internal request, and returns the response as JSON.
    pub(crate) async fn handle_internal(
        &self,
        caller: &InternalCaller,
        request: InternalRequest,
    ) -> Result<String, ApiError> {
        let id = Uuid::now_v7().to_string();
        let endpoint = request.endpoint().ok_or_else(|| {
            let text = format!("Not found: {} {}", request.method, request.endpoint);
            ApiError::new(ErrorCode::NotFound, text)
        })?;
        let span = RequestSpan::within(&id, endpoint.name.unwrap_or_default());
        let trail = self.internal_trail(caller, endpoint, &id);
        let result = match authorize_endpoint(caller.caller.as_ref(), endpoint) {
            Ok(()) => {
                let mut context = RequestContext::new(&self.state, &trail, &id, span.clone(), endpoint);
                context.caller.clone_from(&caller.caller);
                span.run(perform(context, request.into_request(&id, caller)?)).await
            }
            Err(error) => Err(error),
        };
        trail.end(AuditOutcome::of_internal(&result));
        result
    }

    /// Begins the audit trail of an internal request.
    fn internal_trail(&self, caller: &InternalCaller, endpoint: &Endpoint, id: &str) -> AuditTrail {
        let (audit, started) = (self.state.audit.as_ref(), Instant::now());
        let trail = AuditTrail::new(audit, endpoint.name, id, caller.address, started);
        if let Some(caller) = &caller.caller {
            trail.set_caller(caller);
        }
        trail
    }
}

/// Runs the handler, and returns the body of its response.
async fn perform(context: RequestContext<'_>, request: Request<ServerBody>) -> Result<String, ApiError> {
    let response = if request.headers().contains_key(CONTENT_TYPE) {
        // The only request that is not JSON.
        let form = receive_form(&context, request).await?;
        parse(context, form).await?
    } else {
        (context.endpoint.handler)(context, request).await?
    };
    let body = response.body().bytes().cloned().unwrap_or_default();
    String::from_utf8(body.into())
        .map_err(|error| ApiError::internal(&error, "the response could not be serialized"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_of_a_segment_cannot_name_another_endpoint() {
        let path = |value| InternalRequest::new(Method::GET, "/v2/monitor/{id}").segment("id", value).path;
        assert_eq!(path("7"), "/v2/monitor/7");
        assert_eq!(path(""), "/v2/monitor/-");
        assert_eq!(path("7/run?a#b"), "/v2/monitor/7%2Frun%3Fa%23b");
    }

    #[test]
    fn parameters_are_encoded() {
        let request =
            InternalRequest::new(Method::GET, "/v2/browser").parameter("status", "a&b").parameter("n", "1");
        assert_eq!(request.path_and_query(), "/v2/browser?status=a%26b&n=1");
    }
}
