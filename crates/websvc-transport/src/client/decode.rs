//! Decodes content codings while the body arrives, with limits against decompression bombs.

#[cfg(feature = "compression")]
mod coding;
#[cfg(not(feature = "compression"))]
#[path = "decode/no_coding.rs"]
mod coding;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, HeaderMap};

use self::coding::Coding;
use crate::error::FetchError;

pub(super) use self::coding::ACCEPTED;

/// Maximum number of codings of one body.
const MAX_CODINGS: usize = 3;
/// Maximum ratio of decoded to encoded size. Text that a browser would show stays far below it.
const MAX_RATIO: u64 = 400;
/// Decoded size up to which the ratio is not checked.
const RATIO_FLOOR: u64 = 8 * 1024 * 1024;
/// Maximum output of one decoding step.
const STEP_BYTES: usize = 32 * 1024;

/// Decodes the codings of a body, the one applied last first.
pub(super) struct Decoder {
    stages: Vec<DecoderStage>,
    output: Output,
}

/// Decoded bytes and their limits.
struct Output {
    bytes: Vec<u8>,
    limit: u64,
    wire_bytes: u64,
}

struct DecoderStage {
    coding: Coding,
    buffer: Vec<u8>,
    is_ended: bool,
}

/// Result of one decoding step.
struct Step {
    consumed: usize,
    produced: usize,
    is_end: bool,
}

/// A decoded body.
pub(super) struct Decoded {
    pub(super) bytes: Bytes,
    /// True if every coding reached its end marker.
    pub(super) is_complete: bool,
}

impl Decoder {
    /// Returns the decoder for a response, and the name of an unsupported coding, if there is one. In that case the
    /// body is not decoded.
    pub(super) fn new(headers: &HeaderMap, limit: u64) -> Result<(Self, Option<String>), FetchError> {
        let mut stages = Vec::new();
        let mut unknown = None;
        for name in coding_names(headers).into_iter().rev() {
            match Coding::named(&name)? {
                Some(coding) => stages.push(DecoderStage { coding, buffer: Vec::new(), is_ended: false }),
                None => unknown = Some(name),
            }
            if stages.len() > MAX_CODINGS {
                return Err(FetchError::Decode {
                    reason: format!("more than {MAX_CODINGS} content codings"),
                });
            }
        }
        if unknown.is_some() {
            stages.clear();
        }
        Ok((Self { stages, output: Output { bytes: Vec::new(), limit, wire_bytes: 0 } }, unknown))
    }

    /// Reserves memory for a body of a known size that needs no decoding.
    pub(super) fn expect(&mut self, length: u64) {
        if self.stages.is_empty() {
            // Trust the announced length only up to 1 MiB: a false one must not allocate more.
            let room = usize::try_from(length.min(1024 * 1024)).unwrap_or(0);
            self.output.bytes.reserve_exact(room);
        }
    }

    /// Decodes bytes from the wire.
    pub(super) fn push(&mut self, wire: &[u8]) -> Result<(), FetchError> {
        self.output.wire_bytes += wire.len() as u64;
        run_stages(&mut self.stages, &mut self.output, wire)
    }

    /// Returns the number of decoded bytes.
    pub(super) fn len(&self) -> usize {
        self.output.bytes.len()
    }

    pub(super) fn finish(self) -> Decoded {
        let is_empty = self.output.wire_bytes == 0;
        let is_complete = is_empty || self.stages.iter().all(|stage| stage.is_ended);
        Decoded { bytes: self.output.bytes.into(), is_complete }
    }
}

fn coding_names(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all(CONTENT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let names = values.flat_map(|value| value.split(',')).map(|name| name.trim().to_ascii_lowercase());
    names.filter(|name| !name.is_empty() && name != "identity").collect()
}

/// Passes `input` through the first of `stages`, and its output through the rest.
fn run_stages(stages: &mut [DecoderStage], output: &mut Output, mut input: &[u8]) -> Result<(), FetchError> {
    let Some((stage, rest)) = stages.split_first_mut() else { return output.append(input) };
    if stage.buffer.is_empty() {
        stage.buffer = vec![0; STEP_BYTES];
    }
    loop {
        if stage.is_ended {
            // Browsers ignore data after the end, too.
            if !stage.coding.restart(input)? {
                return Ok(());
            }
            stage.is_ended = false;
        }
        let step = stage.coding.step(input, &mut stage.buffer)?;
        stage.is_ended = step.is_end;
        input = &input[step.consumed..];
        if step.produced > 0 {
            run_stages(rest, output, &stage.buffer[..step.produced])?;
        }
        let needs_more = input.is_empty() && step.produced < stage.buffer.len();
        let is_stuck = step.consumed == 0 && step.produced == 0;
        if needs_more || is_stuck && !step.is_end {
            return Ok(());
        }
    }
}

impl Output {
    fn append(&mut self, bytes: &[u8]) -> Result<(), FetchError> {
        let size = (self.bytes.len() + bytes.len()) as u64;
        if size > self.limit {
            return Err(FetchError::TooLarge { limit: self.limit });
        }
        if size > RATIO_FLOOR && size / MAX_RATIO > self.wire_bytes {
            return Err(decode_error("its compression ratio is too high"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }
}

fn decode_error(reason: &str) -> FetchError {
    FetchError::Decode { reason: reason.to_owned() }
}
