//! A picture that comes in slices and is put together row by row, so that no more of it is held than two slices and
//! the file that becomes of it.

use std::cell::RefCell;
use std::io::{self, Cursor, Write};

use bytes::Bytes;
use jpeg_encoder::{ImageBuffer, JpegColorType, rgb_to_ycbcr};
use tokio::sync::mpsc;
use tokio::task::{JoinError, spawn_blocking};

use super::area::ClipRect;
use super::capture::{CaptureOutcome, slice};
use crate::error::BrowserError;
use crate::page::Page;

/// A picture of more pixels comes in slices: with all of it at once Chromium and the message would take four to eight
/// bytes for each.
pub(super) const SLICE_PIXELS: u64 = 8_000_000;

/// The bytes of a pixel: red, green, blue.
const SAMPLES: usize = 3;

/// Takes an area in slices.
pub(super) async fn in_slices(
    page: &Page<'_>,
    area: &ClipRect,
    quality: Option<u8>,
) -> Result<CaptureOutcome, BrowserError> {
    let rows_of_one = u32::try_from(SLICE_PIXELS / u64::from(area.columns())).unwrap_or(u32::MAX).max(1);
    let (slices, arriving) = mpsc::channel(1);
    let joint =
        StitchedImage { columns: area.columns(), rows: area.rows(), quality, limit: page.config.file_bytes };
    let joining = spawn_blocking(move || joint.join(arriving));
    let mut from = 0;
    while from < area.rows() {
        let rows = rows_of_one.min(area.rows() - from);
        let png = slice(page, area, from, rows).await?;
        if slices.send(Slice { png, rows }).await.is_err() {
            // There is no use in more of it, and the joint knows why.
            break;
        }
        from += rows;
    }
    drop(slices);
    joining.await.unwrap_or_else(|error: JoinError| Err(torn(&error.to_string())))
}

/// A part of a picture, as wide as the whole.
struct Slice {
    png: Bytes,
    /// How many rows it is to give, whatever the rounding made of it.
    rows: u32,
}

/// The picture that slices become.
#[derive(Clone, Copy)]
struct StitchedImage {
    columns: u32,
    rows: u32,
    quality: Option<u8>,
    limit: usize,
}

impl StitchedImage {
    fn join(&self, slices: mpsc::Receiver<Slice>) -> Result<CaptureOutcome, BrowserError> {
        let lines = RowReader::new(slices, self.columns);
        let mut file = File { bytes: Vec::new(), limit: self.limit, is_over: false };
        let (outcome, rows) = match self.quality {
            Some(quality) => self.write_jpeg(lines, quality, &mut file),
            None => self.write_png(lines, &mut file),
        };
        // A writer may keep to itself what the last bytes met.
        if file.is_over {
            return Ok(CaptureOutcome::TooLarge { rows: Some(rows) });
        }
        outcome?;
        Ok(CaptureOutcome::taken(file.bytes.into(), self.quality))
    }

    /// Writes the lines, and returns how many there were when that ended.
    fn write_png(&self, mut lines: RowReader, file: &mut File) -> (Result<(), BrowserError>, u32) {
        let mut writing = || {
            let mut encoder = png::Encoder::new(&mut *file, self.columns, self.rows);
            encoder.set_color(png::ColorType::Rgb);
            encoder.set_depth(png::BitDepth::Eight);
            encoder.set_compression(png::Compression::Fast);
            let mut header = encoder.write_header().map_err(failed)?;
            let mut writer = header.stream_writer().map_err(failed)?;
            for _ in 0..self.rows {
                writer.write_all(lines.next()?).map_err(failed)?;
            }
            writer.finish().map_err(failed)?;
            header.finish().map_err(failed)
        };
        (writing(), lines.count)
    }

    fn write_jpeg(&self, lines: RowReader, quality: u8, file: &mut File) -> (Result<(), BrowserError>, u32) {
        let side = |side: u32| u16::try_from(side).unwrap_or(u16::MAX);
        let source =
            Source { columns: side(self.columns), rows: side(self.rows), state: RefCell::new(Ok(lines)) };
        let encoder = jpeg_encoder::Encoder::new(FailFastWriter { file, source: &source }, quality);
        let encoded = encoder.encode_image(&source).map_err(failed);
        match source.state.into_inner() {
            Ok(lines) => (encoded, lines.count),
            Err(error) => (Err(error), 0),
        }
    }
}

/// The rows of the slices, one after the other.
struct RowReader {
    slices: mpsc::Receiver<Slice>,
    reader: Option<png::Reader<Cursor<Bytes>>>,
    /// How many the current slice is still to give.
    left: u32,
    /// The current row, in red, green and blue.
    line: Vec<u8>,
    /// How many there were.
    count: u32,
}

impl RowReader {
    fn new(slices: mpsc::Receiver<Slice>, columns: u32) -> Self {
        Self { slices, reader: None, left: 0, line: vec![0; columns as usize * SAMPLES], count: 0 }
    }

    fn next(&mut self) -> Result<&[u8], BrowserError> {
        if self.left == 0 {
            let Slice { png, rows } = self.slices.blocking_recv().ok_or_else(|| torn("it ended early"))?;
            let mut decoder = png::Decoder::new(Cursor::new(png));
            decoder.set_transformations(png::Transformations::normalize_to_color8());
            self.reader = Some(decoder.read_info().map_err(failed)?);
            self.left = rows;
        }
        let Some(reader) = &mut self.reader else { return Err(torn("there is no slice")) };
        let samples = reader.output_color_type().0.samples();
        // A slice that the rounding made shorter repeats its last row.
        if let Some(row) = reader.next_row().map_err(failed)? {
            let pixels = row.data().chunks_exact(samples);
            for (to, from) in self.line.chunks_exact_mut(SAMPLES).zip(pixels) {
                match from {
                    [red, green, blue, ..] => to.copy_from_slice(&[*red, *green, *blue]),
                    [grey, ..] => to.fill(*grey),
                    [] => {}
                }
            }
        }
        self.left -= 1;
        self.count += 1;
        Ok(&self.line)
    }
}

/// The lines as the writer of JPEG asks for them: in their order, the last one until its blocks are full.
struct Source {
    columns: u16,
    rows: u16,
    state: RefCell<Result<RowReader, BrowserError>>,
}

impl ImageBuffer for &Source {
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
        let mut failure = None;
        if let Ok(lines) = &mut *state {
            if lines.count <= u32::from(y) {
                failure = lines.next().err();
            }
            for pixel in lines.line.chunks_exact(SAMPLES) {
                let (luma, blue, red) = rgb_to_ycbcr(pixel[0], pixel[1], pixel[2]);
                buffers[0].push(luma);
                buffers[1].push(blue);
                buffers[2].push(red);
            }
        } else {
            let columns = usize::from(self.columns);
            buffers.iter_mut().take(SAMPLES).for_each(|buffer| buffer.resize(buffer.len() + columns, 0));
        }
        if let Some(failure) = failure {
            *state = Err(failure);
        }
    }
}

/// A file that takes nothing more once the source of its picture has failed.
struct FailFastWriter<'a> {
    file: &'a mut File,
    source: &'a Source,
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

/// A file in memory, of at most so many bytes.
struct File {
    bytes: Vec<u8>,
    limit: usize,
    is_over: bool,
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_over || self.bytes.len() + bytes.len() > self.limit {
            self.is_over = true;
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn failed(error: impl std::error::Error) -> BrowserError {
    torn(&error.to_string())
}

fn torn(reason: &str) -> BrowserError {
    BrowserError::Protocol { detail: format!("a picture could not be put together: {reason}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: u32 = 5;

    /// Returns a slice whose rows have these greens.
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

    fn join(joint: StitchedImage, slices: Vec<Slice>) -> Result<CaptureOutcome, BrowserError> {
        let (sender, arriving) = mpsc::channel(slices.len().max(1));
        for slice in slices {
            assert!(sender.try_send(slice).is_ok());
        }
        drop(sender);
        joint.join(arriving)
    }

    fn greens(shot: CaptureOutcome) -> Vec<u8> {
        let CaptureOutcome::Taken(picture) = shot else { panic!("{shot:?}") };
        let mut reader = png::Decoder::new(Cursor::new(picture.bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        assert_eq!(reader.next_frame(&mut pixels).unwrap().width, COLUMNS);
        pixels.chunks_exact(15).map(|row| row[13]).collect()
    }

    const PNG: StitchedImage = StitchedImage { columns: COLUMNS, rows: 6, quality: None, limit: 10_000 };

    #[test]
    fn slices_become_one_picture() {
        let shot = join(PNG, vec![slice_of(&[1, 2, 3, 4], 4), slice_of(&[5, 6], 2)]).unwrap();
        assert_eq!(greens(shot), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn a_slice_gives_the_rows_it_is_to_give() {
        let shot = join(PNG, vec![slice_of(&[1, 2, 3], 4), slice_of(&[5, 6, 7], 2)]).unwrap();
        assert_eq!(greens(shot), [1, 2, 3, 3, 5, 6]);
    }

    #[test]
    fn a_slice_that_is_missing_is_an_error_and_no_half_picture() {
        for quality in [None, Some(80)] {
            let error = join(StitchedImage { quality, ..PNG }, vec![slice_of(&[1, 2], 2)]).unwrap_err();
            assert!(error.to_string().contains("unexpected answer"), "{error}");
            let torn = Slice { png: Bytes::from_static(b"no picture"), rows: 6 };
            join(StitchedImage { quality, ..PNG }, vec![torn]).unwrap_err();
        }
    }

    #[test]
    fn a_picture_of_too_many_bytes_tells_how_much_of_it_was_written() {
        for quality in [None, Some(80)] {
            let joint = StitchedImage { quality, limit: 60, ..PNG };
            let shot = join(joint, vec![slice_of(&[1, 2, 3, 4, 5, 6], 6)]).unwrap();
            assert!(matches!(shot, CaptureOutcome::TooLarge { rows: Some(0..=6) }), "{shot:?}");
        }
    }
}
