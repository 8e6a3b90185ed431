//! The body of an answer, read within its limits.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};

use super::decode::Decoder;
use super::fetch::Limits;
use super::request::OversizePolicy;
use crate::error::FetchError;

/// How much is decoded between two chances for other tasks.
const DECODE_SLICE: usize = 4 * 1024;
const YIELD_EVERY: usize = 256 * 1024;
/// As much of a body that nobody wants is read to keep the connection.
const SMALL_REST: usize = 64 * 1024;
const SMALL_REST_TIME: Duration = Duration::from_millis(500);

/// A body and how it ended.
pub(super) struct ReceivedBody {
    pub(super) bytes: Bytes,
    pub(super) wire_bytes: u64,
    /// Broke off: the connection is of no use any more.
    pub(super) is_cut: bool,
    /// Arrived whole, but a coding misses its end.
    pub(super) is_unfinished: bool,
}

/// Reads and decodes a body; one that breaks off, or is cut, is returned as far as it came.
pub(super) async fn receive(
    mut incoming: Incoming,
    mut decoder: Decoder,
    limits: &Limits,
) -> Result<ReceivedBody, FetchError> {
    let too_large = || FetchError::TooLarge { limit: limits.max_body_bytes };
    if let Some(length) = incoming.size_hint().exact() {
        if length > limits.max_body_bytes && limits.excess == OversizePolicy::Fail {
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
        let room = limits.max_body_bytes - wire_bytes;
        if data.len() as u64 > room {
            match limits.excess {
                OversizePolicy::Fail => return Err(too_large()),
                OversizePolicy::Cut => is_cut = true,
            }
            data.truncate(usize::try_from(room).unwrap_or(usize::MAX));
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

/// Reads a body that nobody wants, if it is small; returns whether its end was reached.
pub(super) async fn discard(mut incoming: Incoming) -> bool {
    let rest = async {
        let mut read = 0;
        while let Some(frame) = incoming.frame().await {
            let Ok(frame) = frame else { return false };
            read += frame.data_ref().map_or(0, Bytes::len);
            if read > SMALL_REST {
                return false;
            }
        }
        true
    };
    tokio::time::timeout(SMALL_REST_TIME, rest).await.unwrap_or(false)
}
