//! A request for an operation on monitors, of an HTTP client or of an MCP tool.

use bytes::Bytes;
use http::Request;
use uuid::Uuid;
use websvc_transport::ServerBody;
use websvc_types::ErrorCode;

use super::MonitorOperation;
use crate::handler;
use crate::response::ApiError;
use crate::service::RequestContext;

/// A request for an operation on monitors. The operations use the fields that they need.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct MonitorRequest {
    /// The base URL under which the caller reaches the service, for links.
    pub(crate) base_url: Option<String>,
    /// ID of the monitor, not yet checked.
    pub(crate) monitor: String,
    /// ID of the check, not yet checked.
    pub(crate) check: String,
    /// Query string.
    pub(crate) query: Option<String>,
    /// Body.
    pub(crate) body: Bytes,
}

impl MonitorRequest {
    /// Reads an HTTP request; its body only for the operations that have one.
    ///
    /// # Errors
    /// 415 for a body of another media type.
    pub(super) fn read(
        context: &RequestContext<'_>,
        operation: MonitorOperation,
        request: Request<ServerBody>,
    ) -> Result<Self, ApiError> {
        let base_url = context.state.base_url(&request);
        // In `/v2/monitor/{id}/checks/{checkId}`.
        let (monitor, check) = (segment(request.uri().path(), 2), segment(request.uri().path(), 4));
        let query = request.uri().query().map(str::to_owned);
        let body = match operation {
            MonitorOperation::Create | MonitorOperation::Update | MonitorOperation::Run => {
                handler::read_body(request)?
            }
            MonitorOperation::List
            | MonitorOperation::Get
            | MonitorOperation::Delete
            | MonitorOperation::Checks
            | MonitorOperation::Check
            | MonitorOperation::Feed => Bytes::new(),
        };
        Ok(Self { base_url, monitor, check, query, body })
    }

    /// Returns the ID of the monitor.
    ///
    /// # Errors
    /// 400 if it is not a UUID.
    pub(super) fn monitor_id(&self) -> Result<String, ApiError> {
        parse_id(&self.monitor, "Invalid monitor ID")
    }

    /// Returns the ID of the check.
    ///
    /// # Errors
    /// 400 if it is not a UUID.
    pub(super) fn check_id(&self) -> Result<String, ApiError> {
        parse_id(&self.check, "Invalid check ID")
    }
}

/// Returns a segment of a path by its number; empty if there is none.
fn segment(path: &str, number: usize) -> String {
    path.split('/').filter(|segment| !segment.is_empty()).nth(number).unwrap_or_default().to_owned()
}

fn parse_id(text: &str, problem: &'static str) -> Result<String, ApiError> {
    match Uuid::parse_str(text) {
        Ok(id) => Ok(id.to_string()),
        Err(_) => Err(ApiError::new(ErrorCode::BadRequest, problem)),
    }
}
