//! Identifiers of traces and spans, and the `traceparent` header of W3C Trace Context.

use std::fmt;

/// The identifier of a trace or of a span, never zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Id<const N: usize>(pub [u8; N]);

pub(crate) type TraceId = Id<16>;
pub(crate) type SpanId = Id<8>;

/// A span and the trace that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TraceContext {
    /// The trace.
    pub(crate) trace: TraceId,
    /// The span.
    pub(crate) span: SpanId,
}

/// Content of a `traceparent` header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TraceParent {
    pub(crate) context: TraceContext,
    pub(crate) is_sampled: bool,
}

impl TraceParent {
    /// Parses a `traceparent` header; `None` if it is invalid (W3C Trace Context, section 3.2).
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let [version, trace, span, flags] = [parts.next()?, parts.next()?, parts.next()?, parts.next()?];
        let [version] = parse_hex::<1>(version)?;
        // Later versions may add parts; version 0 has exactly four.
        if version == 0xff || (version == 0 && parts.next().is_some()) {
            return None;
        }
        let (trace, span, [flags]) = (parse_hex::<16>(trace)?, parse_hex::<8>(span)?, parse_hex::<1>(flags)?);
        if trace == [0; 16] || span == [0; 8] {
            return None;
        }
        let context = TraceContext { trace: Id(trace), span: Id(span) };
        Some(Self { context, is_sampled: flags & 1 == 1 })
    }
}

/// Parses `N` bytes from lower-case hex digits.
fn parse_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

impl<const N: usize> Id<N> {
    /// Returns a random identifier; `None` if the operating system provides no random bytes.
    pub(crate) fn random() -> Option<Self> {
        let mut bytes = [0; N];
        getrandom::fill(&mut bytes).ok()?;
        (bytes != [0; N]).then_some(Self(bytes))
    }
}

impl<const N: usize> fmt::Display for Id<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const SPAN: &str = "00f067aa0ba902b7";

    #[test]
    fn traceparent_is_parsed_and_its_identifiers_are_displayed() {
        let parent = TraceParent::parse(&format!("00-{TRACE}-{SPAN}-01")).unwrap();
        assert!(parent.is_sampled);
        assert_eq!(
            (parent.context.trace.to_string(), parent.context.span.to_string()),
            (TRACE.into(), SPAN.into())
        );
        assert!(!TraceParent::parse(&format!("00-{TRACE}-{SPAN}-02")).unwrap().is_sampled);
        assert!(
            TraceParent::parse(&format!("01-{TRACE}-{SPAN}-01-more")).is_some(),
            "a later version may have more parts"
        );
    }

    #[test]
    fn invalid_traceparent_is_ignored() {
        for bad in [
            String::new(),
            "00".to_owned(),
            format!("ff-{TRACE}-{SPAN}-01"),
            format!("00-{TRACE}-{SPAN}-01-more"),
            format!("00-{TRACE}-{SPAN}"),
            format!("00-{TRACE}-{SPAN}-1"),
            format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
            format!("00-{}-{SPAN}-01", "0".repeat(32)),
            format!("00-{TRACE}-{}-01", "0".repeat(16)),
            format!("00-{TRACE}é-{SPAN}-01"),
        ] {
            assert_eq!(TraceParent::parse(&bad), None, "{bad}");
        }
    }
}
