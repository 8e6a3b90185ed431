//! Reads the body of a response within its limits.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};

use super::decode::Decoder;
use super::limits::Limits;
use super::request::OversizePolicy;
use crate::error::FetchError;

/// Number of bytes that are decoded before the task checks whether it has to yield.
const DECODE_SLICE: usize = 4 * 1024;
/// Number of decoded bytes after which the task yields.
const YIELD_EVERY: usize = 256 * 1024;
/// Maximum size of a discarded body that is read in order to reuse the connection.
const MAX_DISCARD_BYTES: usize = 64 * 1024;
/// Maximum time for that.
const MAX_DISCARD_TIME: Duration = Duration::from_millis(500);

/// A body and its end state.
pub(super) struct ReceivedBody {
    pub(super) bytes: Bytes,
    pub(super) wire_bytes: u64,
    /// The body broke off, or was truncated: the connection cannot be reused.
    pub(super) is_cut: bool,
    /// The body arrived whole, but the end of a content coding is missing.
    pub(super) is_unfinished: bool,
}

/// Reads and decodes a body. A body that breaks off, or is truncated, is returned as far as it was received.
pub(super) async fn receive(
    mut incoming: Incoming,
    mut decoder: Decoder,
    limits: &Limits,
) -> Result<ReceivedBody, FetchError> {
    let too_large = || FetchError::TooLarge { limit: limits.max_body_bytes };
    if let Some(length) = incoming.size_hint().exact() {
        if length > limits.max_body_bytes && limits.oversize == OversizePolicy::Fail {
            return Err(too_large());
        }
        decoder.expect(length.min(limits.max_body_bytes));
    }
    let mut wire_bytes = 0;
    let mut is_cut = false;
    while let Some(frame) = incoming.frame().await {
        let Ok(frame) = frame else {
            is_cut = true;
            break;
        };
        let Ok(mut data) = frame.into_data() else { continue };
        let remaining = limits.max_body_bytes - wire_bytes;
        if data.len() as u64 > remaining {
            match limits.oversize {
                OversizePolicy::Fail => return Err(too_large()),
                OversizePolicy::Truncate => is_cut = true,
            }
            data.truncate(usize::try_from(remaining).unwrap_or(usize::MAX));
        }
        wire_bytes += data.len() as u64;
        decode(&mut decoder, &data).await?;
        if is_cut {
            break;
        }
    }
    let decoded = decoder.finish();
    Ok(ReceivedBody { bytes: decoded.bytes, wire_bytes, is_cut, is_unfinished: !decoded.is_complete })
}

async fn decode(decoder: &mut Decoder, data: &[u8]) -> Result<(), FetchError> {
    let mut yielded_at = decoder.len();
    for slice in data.chunks(DECODE_SLICE) {
        decoder.push(slice)?;
        if decoder.len() - yielded_at >= YIELD_EVERY {
            yielded_at = decoder.len();
            tokio::task::yield_now().await;
        }
    }
    Ok(())
}

/// Reads a body that the caller does not need, if it is small. Returns whether the end was reached.
pub(super) async fn discard(mut incoming: Incoming) -> bool {
    let rest = async {
        let mut read = 0;
        while let Some(frame) = incoming.frame().await {
            let Ok(frame) = frame else { return false };
            read += frame.data_ref().map_or(0, Bytes::len);
            if read > MAX_DISCARD_BYTES {
                return false;
            }
        }
        true
    };
    tokio::time::timeout(MAX_DISCARD_TIME, rest).await.unwrap_or(false)
}
