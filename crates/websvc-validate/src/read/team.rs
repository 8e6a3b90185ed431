//! Bodies of requests about the settings of a team.

use websvc_types::limits::SIEM_TEST_MESSAGE_MAX_CHARS;
use websvc_types::team::{SiemRequest, SiemTestRequest, TeamThreatRequest};
use websvc_types::{ThreatProtection, ViolationCode};

use super::{SIEM, SIEM_TEST, TEAM_THREAT, read};
use crate::bounds;
use crate::checked::Checked;
use crate::error::Rejection;
use crate::path::Path;
use crate::policy::{ThreatOverride, ThreatPolicy};
use crate::report::Report;
use crate::threat;

/// Reads and checks the threat protection of a team, and returns its policies and its values.
///
/// # Errors
/// [`Rejection`] has the syntax error, or lists every rule that the request breaks.
pub fn read_team_threat(
    body: &[u8],
) -> Result<Checked<(ThreatPolicy, ThreatOverride, ThreatProtection)>, Rejection> {
    let mut report = Report::default();
    let request = read::<TeamThreatRequest>(&mut report, body, &TEAM_THREAT)?;
    let settings = threat::check_team(&mut report, request);
    report.finish(settings)
}

/// Reads and checks the body of a request that turns audit events on or off, and returns whether they are on.
///
/// # Errors
/// [`Rejection`] has the syntax error, or lists every rule that the request breaks.
pub fn read_siem(body: &[u8]) -> Result<Checked<bool>, Rejection> {
    let mut report = Report::default();
    let SiemRequest { enabled, destination } = read::<SiemRequest>(&mut report, body, &SIEM)?;
    if destination.is_some() {
        report.violation(&Path::Root.key("destination"), ViolationCode::NotSupported, |name| {
            format!(
                "{name} is not supported: the operator configures the receivers of audit events (audit.file, \
                 audit.syslog, audit.webhook)"
            )
        });
    }
    report.finish(enabled)
}

/// Reads and checks the body of a request for a test event.
///
/// # Errors
/// [`Rejection`] has the syntax error, or lists every rule that the request breaks.
pub fn read_siem_test(body: &[u8]) -> Result<Checked<SiemTestRequest>, Rejection> {
    let mut report = Report::default();
    let request = read::<SiemTestRequest>(&mut report, body, &SIEM_TEST)?;
    if let Some(message) = &request.message {
        bounds::chars(&mut report, &Path::Root.key("message"), message, 0, SIEM_TEST_MESSAGE_MAX_CHARS);
    }
    report.finish(request)
}
