//! Decodes content codings while the body arrives, with limits against decompression bombs.

use std::io;

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use bytes::Bytes;
use flate2::{Decompress, FlushDecompress, Status};
use http::header::{CONTENT_ENCODING, HeaderMap};
use zstd::stream::raw::{DParameter, Operation};

use crate::error::FetchError;

/// Value of `Accept-Encoding`.
pub(super) const ACCEPTED: &str = "gzip, deflate, br, zstd";

/// Maximum number of codings of one body.
const MAX_CODINGS: usize = 3;
/// Maximum ratio of decoded to encoded size. Text that a browser would show stays far below it.
const MAX_RATIO: u64 = 400;
/// Decoded size up to which the ratio is not checked.
const RATIO_FLOOR: u64 = 8 * 1024 * 1024;
/// RFC 9659: the window of zstd as a content coding is at most 8 MiB, which bounds the decoder's memory.
const ZSTD_WINDOW_LOG: u32 = 23;
/// Maximum output of one decoding step.
const STEP_BYTES: usize = 32 * 1024;
/// The first byte of every gzip member.
const GZIP_MAGIC: u8 = 0x1f;

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

enum Coding {
    Gzip(Decompress),
    /// Zlib or, against the standard, raw deflate: the first byte decides.
    DeflateStart,
    Deflate(Decompress),
    Brotli(Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>),
    Zstd(Box<zstd::stream::raw::Decoder<'static>>),
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
            match stage.coding.restart(input)? {
                Restart::Continues => stage.is_ended = false,
                // Browsers ignore data after the end, too.
                Restart::Ended => return Ok(()),
            }
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

enum Restart {
    Continues,
    Ended,
}

impl Coding {
    fn named(name: &str) -> Result<Option<Self>, FetchError> {
        Ok(Some(match name {
            "gzip" | "x-gzip" => Self::Gzip(Decompress::new_gzip(15)),
            "deflate" => Self::DeflateStart,
            "br" => Self::Brotli(Box::new(BrotliState::new_strict(
                StandardAlloc::default(),
                StandardAlloc::default(),
                StandardAlloc::default(),
            ))),
            "zstd" => Self::Zstd(Box::new(zstd_decoder().map_err(|error| decode_error(&error.to_string()))?)),
            _ => return Ok(None),
        }))
    }

    /// Decides whether input after the end belongs to the body: gzip members and zstd frames may be concatenated.
    fn restart(&mut self, input: &[u8]) -> Result<Restart, FetchError> {
        Ok(match (&*self, input.first()) {
            (Self::Gzip(_), Some(&GZIP_MAGIC)) => {
                *self = Self::Gzip(Decompress::new_gzip(15));
                Restart::Continues
            }
            (Self::Zstd(_), Some(_)) => Restart::Continues,
            _ => Restart::Ended,
        })
    }

    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, FetchError> {
        match self {
            Self::Gzip(inflate) => step_inflate(inflate, input, output, "gzip"),
            Self::DeflateStart => {
                let Some(first) = input.first() else {
                    return Ok(Step { consumed: 0, produced: 0, is_end: false });
                };
                // The first byte of zlib has the method 8. As raw deflate it would be a stored block with invalid
                // padding.
                let has_zlib_header = first & 0x0f == 8;
                *self = Self::Deflate(Decompress::new(has_zlib_header));
                self.step(input, output)
            }
            Self::Deflate(inflate) => step_inflate(inflate, input, output, "deflate"),
            Self::Brotli(state) => step_brotli(state, input, output),
            Self::Zstd(decoder) => {
                let status =
                    decoder.run_on_buffers(input, output).map_err(|_| decode_error("invalid zstd data"))?;
                let is_end = status.remaining == 0 && status.bytes_read + status.bytes_written > 0;
                Ok(Step { consumed: status.bytes_read, produced: status.bytes_written, is_end })
            }
        }
    }
}

fn zstd_decoder() -> io::Result<zstd::stream::raw::Decoder<'static>> {
    let mut decoder = zstd::stream::raw::Decoder::new()?;
    decoder.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG))?;
    Ok(decoder)
}

fn step_inflate(
    inflate: &mut Decompress,
    input: &[u8],
    output: &mut [u8],
    name: &str,
) -> Result<Step, FetchError> {
    let (before_in, before_out) = (inflate.total_in(), inflate.total_out());
    let status = inflate
        .decompress(input, output, FlushDecompress::None)
        .map_err(|_| decode_error(&format!("invalid {name} data")))?;
    let count =
        |now: u64, before: u64| usize::try_from(now - before).expect("a step is no larger than its slices");
    Ok(Step {
        consumed: count(inflate.total_in(), before_in),
        produced: count(inflate.total_out(), before_out),
        is_end: status == Status::StreamEnd,
    })
}

fn step_brotli(
    state: &mut BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>,
    input: &[u8],
    output: &mut [u8],
) -> Result<Step, FetchError> {
    let (mut available_in, mut consumed) = (input.len(), 0);
    let (mut available_out, mut produced, mut total) = (output.len(), 0, 0);
    let result = BrotliDecompressStream(
        &mut available_in,
        &mut consumed,
        input,
        &mut available_out,
        &mut produced,
        output,
        &mut total,
        state,
    );
    match result {
        BrotliResult::ResultFailure => Err(decode_error("invalid brotli data")),
        BrotliResult::ResultSuccess => Ok(Step { consumed, produced, is_end: true }),
        BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {
            Ok(Step { consumed, produced, is_end: false })
        }
    }
}

fn decode_error(reason: &str) -> FetchError {
    FetchError::Decode { reason: reason.to_owned() }
}
