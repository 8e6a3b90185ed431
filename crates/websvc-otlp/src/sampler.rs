//! Which traces are sent.

use crate::context::{TraceId, TraceParent};

/// Which traces are sent: all or none of the spans of a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampler {
    /// The share of the traces that begin here, 0 to 1.
    pub ratio: f64,
    /// Follows the sampling decision of the parent, if the sender states one.
    pub follows_parent: bool,
}

impl Default for Sampler {
    fn default() -> Self {
        Self { ratio: 1.0, follows_parent: true }
    }
}

impl Sampler {
    /// Decides by the identifier, so that all services of the same share decide alike.
    pub(crate) fn takes(self, trace: TraceId, parent: Option<TraceParent>) -> bool {
        if let Some(parent) = parent.filter(|_| self.follows_parent) {
            return parent.is_sampled;
        }
        if self.ratio >= 1.0 {
            return true;
        }
        let [.., a, b, c, d, e, f, g, h] = trace.0;
        let place = u64::from_be_bytes([a, b, c, d, e, f, g, h]) >> 1;
        #[expect(clippy::cast_precision_loss, reason = "a share needs no exact number")]
        let place = place as f64 / (1_u64 << 63) as f64;
        place < self.ratio
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{SpanId, TraceContext};

    #[test]
    fn a_share_is_taken_and_a_sender_who_says_so_is_followed() {
        let trace = |high: u8| TraceId([0, 0, 0, 0, 0, 0, 0, 0, high, 0, 0, 0, 0, 0, 0, 1]);
        let parent = |is_sampled| {
            Some(TraceParent { context: TraceContext { trace: trace(1), span: SpanId([1; 8]) }, is_sampled })
        };
        let half = Sampler { ratio: 0.5, follows_parent: true };
        assert!(half.takes(trace(0x7f), None) && !half.takes(trace(0x80), None));
        assert!(half.takes(trace(0xff), parent(true)) && !half.takes(trace(0), parent(false)));
        let alone = Sampler { follows_parent: false, ..half };
        assert!(!alone.takes(trace(0xff), parent(true)) && alone.takes(trace(0), parent(false)));
        assert!(Sampler::default().takes(trace(0xff), None));
        assert!(!Sampler { ratio: 0.0, follows_parent: false }.takes(trace(0), None));
    }
}
