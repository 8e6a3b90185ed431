//! Rules of the audit settings of a team.

use websvc_types::ViolationCode;
use websvc_types::limits::SIEM_TEST_MESSAGE_MAX_CHARS;
use websvc_types::team::{SiemRequest, SiemTestRequest};

use crate::bounds;
use crate::path::Path;
use crate::report::Report;

/// Checks a request that turns audit events on or off, and returns whether they are on.
pub(crate) fn check_siem(report: &mut Report, request: SiemRequest) -> bool {
    let SiemRequest { enabled, destination } = request;
    if destination.is_some() {
        report.violation(&Path::Root.key("destination"), ViolationCode::NotSupported, |name| {
            format!(
                "{name} is not supported: the operator configures the receivers of audit events (audit.file, \
                 audit.syslog, audit.webhook)"
            )
        });
    }
    enabled
}

/// Checks a request for a test event, and returns it.
pub(crate) fn check_siem_test(report: &mut Report, request: SiemTestRequest) -> SiemTestRequest {
    if let Some(message) = &request.message {
        bounds::chars(report, &Path::Root.key("message"), message, 0, SIEM_TEST_MESSAGE_MAX_CHARS);
    }
    request
}
