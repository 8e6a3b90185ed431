//! The log lines about failed attempts, with the names in the error of the server, which contain no text of a request.

use super::server_error::cause_of;
use crate::error::RejectionCause;
use crate::feature::Feature;

/// The attempt that a log line is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt {
    /// The index of the endpoint in the configuration. 0 is the first one.
    pub(super) endpoint: usize,
    /// The feature; `None` for the list of models.
    pub(super) feature: Option<Feature>,
    /// The number of the attempt, from 1.
    pub(super) number: u32,
}

impl Attempt {
    /// Logs the status of a response that is an error, with the names in its body.
    pub(super) fn log_status(self, status: u16, body: &[u8]) {
        let Self { endpoint, feature, number } = self;
        let RejectionCause { code, parameter } = cause_of(body);
        tracing::warn!(
            endpoint,
            feature = feature.map(Feature::name),
            attempt = number,
            status,
            error_code = code,
            error_param = parameter,
            "the endpoint of the language model returned an error"
        );
    }

    /// Logs a connection that failed.
    pub(super) fn log_unreachable(self, reason: &'static str) {
        let Self { endpoint, feature, number } = self;
        tracing::warn!(
            endpoint,
            feature = feature.map(Feature::name),
            attempt = number,
            reason,
            "the endpoint of the language model cannot be reached"
        );
    }
}
