//! Screenshots that are captured in slices and stitched row by row, so that only two slices and the resulting file are in
//! memory.

use std::cell::RefCell;
use std::io::{self, Cursor, Write};

use bytes::Bytes;
use jpeg_encoder::{ImageBuffer, JpegColorType, rgb_to_ycbcr};
use tokio::sync::mpsc;
use tokio::task::{JoinError, spawn_blocking};

use super::area::ClipRect;
use super::capture::{CaptureOutcome, capture_slice};
use crate::error::BrowserError;
use crate::page::Page;

/// The number of pixels above which a screenshot is captured in slices. Captured at once, each pixel would take four to
/// eight bytes in Chromium and in the message.
pub(super) const SLICE_PIXELS: u64 = 8_000_000;

/// The bytes of a pixel: red, green, blue.
const BYTES_PER_PIXEL: usize = 3;

/// Captures an area in slices.
pub(super) async fn capture_in_slices(
    page: &Page<'_>,
    area: &ClipRect,
    quality: Option<u8>,
) -> Result<CaptureOutcome, BrowserError> {
    let rows_per_slice = u32::try_from(SLICE_PIXELS / u64::from(area.columns())).unwrap_or(u32::MAX).max(1);
    let (slices, receiver) = mpsc::channel(1);
    let image = StitchedImage {
        columns: area.columns(),
        rows: area.rows(),
        quality,
        limit: page.config.max_file_bytes,
    };
    let stitching = spawn_blocking(move || image.stitch(receiver));
    let mut from = 0;
    while from < area.rows() {
        let rows = rows_per_slice.min(area.rows() - from);
        let png = capture_slice(page, area, from, rows).await?;
        if slices.send(Slice { png, rows }).await.is_err() {
            // The stitching task has ended, with an error or because the file is too large.
            break;
        }
        from += rows;
    }
    drop(slices);
    stitching.await.unwrap_or_else(|error: JoinError| Err(stitch_error(&error.to_string())))
}

/// A part of the image with its full width.
struct Slice {
    png: Bytes,
    /// The number of rows that it contributes. Its image may differ by rounding.
    rows: u32,
}

/// The parameters of the resulting image.
#[derive(Clone, Copy)]
struct StitchedImage {
    columns: u32,
    rows: u32,
    quality: Option<u8>,
    limit: usize,
}

impl StitchedImage {
    fn stitch(&self, slices: mpsc::Receiver<Slice>) -> Result<CaptureOutcome, BrowserError> {
        let reader = RowReader::new(slices, self.columns);
        let mut file = File { bytes: Vec::new(), limit: self.limit, is_full: false };
        let (outcome, rows) = match self.quality {
            Some(quality) => self.write_jpeg(reader, quality, &mut file),
            None => self.write_png(reader, &mut file),
        };
        // An encoder may ignore the error of its last write.
        if file.is_full {
            return Ok(CaptureOutcome::TooLarge { rows: Some(rows) });
        }
        outcome?;
        Ok(CaptureOutcome::taken(file.bytes.into(), self.quality))
    }

    /// Encodes the rows, and returns the number of rows that were read.
    fn write_png(&self, mut reader: RowReader, file: &mut File) -> (Result<(), BrowserError>, u32) {
        let mut encode = || {
            let mut encoder = png::Encoder::new(&mut *file, self.columns, self.rows);
            encoder.set_color(png::ColorType::Rgb);
            encoder.set_depth(png::BitDepth::Eight);
            encoder.set_compression(png::Compression::Fast);
            let mut header = encoder.write_header().map_err(codec_error)?;
            let mut writer = header.stream_writer().map_err(codec_error)?;
            for _ in 0..self.rows {
                writer.write_all(reader.next()?).map_err(codec_error)?;
            }
            writer.finish().map_err(codec_error)?;
            header.finish().map_err(codec_error)
        };
        (encode(), reader.count)
    }

    fn write_jpeg(&self, reader: RowReader, quality: u8, file: &mut File) -> (Result<(), BrowserError>, u32) {
        let side = |side: u32| u16::try_from(side).unwrap_or(u16::MAX);
        let source = JpegSource {
            columns: side(self.columns),
            rows: side(self.rows),
            state: RefCell::new(Ok(reader)),
        };
        let encoder = jpeg_encoder::Encoder::new(FailFastWriter { file, source: &source }, quality);
        let encoded = encoder.encode_image(&source).map_err(codec_error);
        match source.state.into_inner() {
            Ok(reader) => (encoded, reader.count),
            Err(error) => (Err(error), 0),
        }
    }
}

/// The rows of the slices, one after the other.
struct RowReader {
    slices: mpsc::Receiver<Slice>,
    reader: Option<png::Reader<Cursor<Bytes>>>,
    /// The rows that the current slice has yet to contribute.
    remaining: u32,
    /// The current row, in red, green and blue.
    row: Vec<u8>,
    /// The number of rows that were read.
    count: u32,
}

impl RowReader {
    fn new(slices: mpsc::Receiver<Slice>, columns: u32) -> Self {
        Self {
            slices,
            reader: None,
            remaining: 0,
            row: vec![0; columns as usize * BYTES_PER_PIXEL],
            count: 0,
        }
    }

    fn next(&mut self) -> Result<&[u8], BrowserError> {
        if self.remaining == 0 {
            let Slice { png, rows } =
                self.slices.blocking_recv().ok_or_else(|| stitch_error("a slice is missing"))?;
            let mut decoder = png::Decoder::new(Cursor::new(png));
            decoder.set_transformations(png::Transformations::normalize_to_color8());
            self.reader = Some(decoder.read_info().map_err(codec_error)?);
            self.remaining = rows;
        }
        let Some(reader) = &mut self.reader else { return Err(stitch_error("there is no slice")) };
        let samples = reader.output_color_type().0.samples();
        // A slice that is shorter because of rounding repeats its last row.
        if let Some(row) = reader.next_row().map_err(codec_error)? {
            let pixels = row.data().chunks_exact(samples);
            for (target, pixel) in self.row.chunks_exact_mut(BYTES_PER_PIXEL).zip(pixels) {
                match pixel {
                    [red, green, blue, ..] => target.copy_from_slice(&[*red, *green, *blue]),
                    [gray, ..] => target.fill(*gray),
                    [] => {}
                }
            }
        }
        self.remaining -= 1;
        self.count += 1;
        Ok(&self.row)
    }
}

/// The rows for the JPEG encoder, which reads them in order and repeats the last one to fill its blocks.
struct JpegSource {
    columns: u16,
    rows: u16,
    state: RefCell<Result<RowReader, BrowserError>>,
}

impl ImageBuffer for &JpegSource {
    fn get_jpeg_color_type(&self) -> JpegColorType {
        JpegColorType::Ycbcr
    }

    fn width(&self) -> u16 {
        self.columns
    }

    fn height(&self) -> u16 {
        self.rows
    }

    fn fill_buffers(&self, y: u16, buffers: &mut [Vec<u8>; 4]) {
        let mut state = self.state.borrow_mut();
        let mut error = None;
        if let Ok(reader) = &mut *state {
            if reader.count <= u32::from(y) {
                error = reader.next().err();
            }
            for pixel in reader.row.chunks_exact(BYTES_PER_PIXEL) {
                let (luma, blue, red) = rgb_to_ycbcr(pixel[0], pixel[1], pixel[2]);
                buffers[0].push(luma);
                buffers[1].push(blue);
                buffers[2].push(red);
            }
        } else {
            let columns = usize::from(self.columns);
            buffers
                .iter_mut()
                .take(BYTES_PER_PIXEL)
                .for_each(|buffer| buffer.resize(buffer.len() + columns, 0));
        }
        if let Some(error) = error {
            *state = Err(error);
        }
    }
}

/// A writer that fails as soon as the source of the image has failed.
struct FailFastWriter<'a> {
    file: &'a mut File,
    source: &'a JpegSource,
}

impl Write for FailFastWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.source.state.borrow().is_err() {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file in memory with a size limit.
struct File {
    bytes: Vec<u8>,
    limit: usize,
    is_full: bool,
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_full || self.bytes.len() + bytes.len() > self.limit {
            self.is_full = true;
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn codec_error(error: impl std::error::Error) -> BrowserError {
    stitch_error(&error.to_string())
}

fn stitch_error(reason: &str) -> BrowserError {
    BrowserError::Protocol { detail: format!("a screenshot could not be stitched: {reason}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: u32 = 5;

    /// Returns a slice whose rows have these green values.
    fn slice_of(greens: &[u8], rows: u32) -> Slice {
        let mut png = Vec::new();
        let height = u32::try_from(greens.len()).unwrap();
        let mut encoder = png::Encoder::new(&mut png, COLUMNS, height);
        encoder.set_color(png::ColorType::Rgba);
        let mut writer = encoder.write_header().unwrap();
        let pixels: Vec<u8> = greens.iter().flat_map(|green| [9, *green, 7, 255].repeat(5)).collect();
        writer.write_image_data(&pixels).unwrap();
        writer.finish().unwrap();
        Slice { png: png.into(), rows }
    }

    fn stitch(image: StitchedImage, slices: Vec<Slice>) -> Result<CaptureOutcome, BrowserError> {
        let (sender, receiver) = mpsc::channel(slices.len().max(1));
        for slice in slices {
            assert!(sender.try_send(slice).is_ok());
        }
        drop(sender);
        image.stitch(receiver)
    }

    fn greens(outcome: CaptureOutcome) -> Vec<u8> {
        let CaptureOutcome::Taken(image) = outcome else { panic!("{outcome:?}") };
        let mut reader = png::Decoder::new(Cursor::new(image.bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        assert_eq!(reader.next_frame(&mut pixels).unwrap().width, COLUMNS);
        pixels.chunks_exact(15).map(|row| row[13]).collect()
    }

    const PNG: StitchedImage = StitchedImage { columns: COLUMNS, rows: 6, quality: None, limit: 10_000 };

    #[test]
    fn stitch_joins_slices() {
        let outcome = stitch(PNG, vec![slice_of(&[1, 2, 3, 4], 4), slice_of(&[5, 6], 2)]).unwrap();
        assert_eq!(greens(outcome), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn stitch_slice_with_rounded_height_contributes_its_rows() {
        let outcome = stitch(PNG, vec![slice_of(&[1, 2, 3], 4), slice_of(&[5, 6, 7], 2)]).unwrap();
        assert_eq!(greens(outcome), [1, 2, 3, 3, 5, 6]);
    }

    #[test]
    fn stitch_missing_or_invalid_slice_is_an_error() {
        for quality in [None, Some(80)] {
            let error = stitch(StitchedImage { quality, ..PNG }, vec![slice_of(&[1, 2], 2)]).unwrap_err();
            assert!(error.to_string().contains("unexpected response"), "{error}");
            let invalid = Slice { png: Bytes::from_static(b"not an image"), rows: 6 };
            stitch(StitchedImage { quality, ..PNG }, vec![invalid]).unwrap_err();
        }
    }

    #[test]
    fn stitch_beyond_the_size_limit_returns_rows_written() {
        for quality in [None, Some(80)] {
            let image = StitchedImage { quality, limit: 60, ..PNG };
            let outcome = stitch(image, vec![slice_of(&[1, 2, 3, 4, 5, 6], 6)]).unwrap();
            assert!(matches!(outcome, CaptureOutcome::TooLarge { rows: Some(0..=6) }), "{outcome:?}");
        }
    }
}
