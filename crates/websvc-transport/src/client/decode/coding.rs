//! The content codings gzip, deflate, brotli and zstd.

use std::io;

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{DParameter, Operation};

use super::{Step, decode_error};
use crate::error::FetchError;

/// Value of `Accept-Encoding`.
pub(in crate::client) const ACCEPTED: &str = "gzip, deflate, br, zstd";

/// RFC 9659: the window of zstd as a content coding is at most 8 MiB, which bounds the decoder's memory.
const ZSTD_WINDOW_LOG: u32 = 23;
/// The first byte of every gzip member.
const GZIP_MAGIC: u8 = 0x1f;

/// The decoder of one coding.
pub(super) enum Coding {
    Gzip(Decompress),
    /// Zlib or, against the standard, raw deflate: the first byte decides.
    DeflateStart,
    Deflate(Decompress),
    Brotli(Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>),
    Zstd(Box<zstd::stream::raw::Decoder<'static>>),
}

impl Coding {
    pub(super) fn named(name: &str) -> Result<Option<Self>, FetchError> {
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

    /// Returns whether input after the end belongs to the body: gzip members and zstd frames may be concatenated.
    pub(super) fn restart(&mut self, input: &[u8]) -> Result<bool, FetchError> {
        Ok(match (&*self, input.first()) {
            (Self::Gzip(_), Some(&GZIP_MAGIC)) => {
                *self = Self::Gzip(Decompress::new_gzip(15));
                true
            }
            (Self::Zstd(_), Some(_)) => true,
            _ => false,
        })
    }

    pub(super) fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, FetchError> {
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
