//! The decision whether a trace is exported.

use crate::otlp::context::{TraceId, TraceParent};

/// Selects the traces to export: either all spans of a request or none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sampler {
    /// The share of traces to export, 0 to 1, if the sampling decision of a parent is not followed.
    pub(crate) ratio: f64,
    /// Follows the sampling decision of the parent, if the sender states one.
    pub(crate) follows_parent: bool,
}

impl Default for Sampler {
    fn default() -> Self {
        Self { ratio: 1.0, follows_parent: true }
    }
}

impl Sampler {
    /// Returns whether a trace is exported.
    ///
    /// The identifier decides, so that services with the same ratio select the same traces.
    pub(crate) fn is_sampled(self, trace: TraceId, parent: Option<TraceParent>) -> bool {
        if let Some(parent) = parent.filter(|_| self.follows_parent) {
            return parent.is_sampled;
        }
        if self.ratio >= 1.0 {
            return true;
        }
        let [.., a, b, c, d, e, f, g, h] = trace.0;
        let position = u64::from_be_bytes([a, b, c, d, e, f, g, h]) >> 1;
        #[expect(clippy::cast_precision_loss, reason = "a share need not be exact")]
        let position = position as f64 / (1_u64 << 63) as f64;
        position < self.ratio
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::otlp::context::{Id, TraceContext};

    #[test]
    fn ratio_selects_by_identifier_and_the_decision_of_the_parent_takes_precedence() {
        let trace = |high: u8| Id([0, 0, 0, 0, 0, 0, 0, 0, high, 0, 0, 0, 0, 0, 0, 1]);
        let parent = |is_sampled| {
            Some(TraceParent { context: TraceContext { trace: trace(1), span: Id([1; 8]) }, is_sampled })
        };
        let half = Sampler { ratio: 0.5, follows_parent: true };
        assert!(half.is_sampled(trace(0x7f), None) && !half.is_sampled(trace(0x80), None));
        assert!(half.is_sampled(trace(0xff), parent(true)) && !half.is_sampled(trace(0), parent(false)));
        let ratio_only = Sampler { follows_parent: false, ..half };
        assert!(
            !ratio_only.is_sampled(trace(0xff), parent(true))
                && ratio_only.is_sampled(trace(0), parent(false))
        );
        assert!(Sampler::default().is_sampled(trace(0xff), None));
        assert!(!Sampler { ratio: 0.0, follows_parent: false }.is_sampled(trace(0), None));
    }
}
