//! Plain, gzip or zstd files as one stream, which continues after damaged parts.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::bufread::GzDecoder;
use zstd::stream::read::Decoder as ZstdDecoder;

/// The first bytes of a gzip member: the magic number and the only compression method.
const MEMBER_MAGIC: [u8; 3] = [0x1f, 0x8b, 8];

/// Size of the read buffer.
const BUFFER_BYTES: usize = 256 * 1024;

/// The compression of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    /// No compression.
    Plain,
    /// One or more gzip members.
    Gzip,
    /// One or more zstd frames.
    Zstd,
}

/// A reader of a file that decompresses it.
///
/// After an error of [`ErrorKind::InvalidData`], reading can continue: with the next intact gzip member, or at the
/// end of the file. After any other error it cannot.
pub(super) enum CompressedReader {
    Plain(File),
    Gzip(GzipMembers),
    Zstd(Option<ZstdDecoder<'static, BufReader<File>>>),
}

impl CompressedReader {
    /// Opens a file.
    pub(super) fn open(path: &Path, compression: Compression) -> io::Result<Self> {
        let file = File::open(path)?;
        Ok(match compression {
            Compression::Plain => Self::Plain(file),
            Compression::Gzip => Self::Gzip(GzipMembers::new(BufReader::with_capacity(BUFFER_BYTES, file))),
            Compression::Zstd => Self::Zstd(Some(ZstdDecoder::new(file)?)),
        })
    }

    /// Opens a file with a read buffer.
    pub(super) fn buffered(path: &Path, compression: Compression) -> io::Result<BufReader<Self>> {
        Ok(BufReader::with_capacity(BUFFER_BYTES, Self::open(path, compression)?))
    }
}

impl Read for CompressedReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.read(out),
            Self::Gzip(members) => members.read(out),
            Self::Zstd(decoder) => {
                let Some(active) = decoder else { return Ok(0) };
                active.read(out).map_err(|error| {
                    *decoder = None;
                    damage_error(&format!("damaged zstd stream, the rest is lost: {error}"))
                })
            }
        }
    }
}

/// A reader of the members of a gzip file, one after the other.
pub(super) struct GzipMembers<R = File> {
    state: State<R>,
    /// Offset at which the current member begins.
    start: u64,
}

enum State<R> {
    /// Between two members, or before the first one.
    Between(BufReader<R>),
    Inside(Box<GzDecoder<BufReader<R>>>),
    Ended,
}

impl<R: Read + Seek> GzipMembers<R> {
    fn new(file: BufReader<R>) -> Self {
        Self { state: State::Between(file), start: 0 }
    }

    /// Starts the next member. Zeros between members and at the end are padding.
    fn enter(&mut self, mut file: BufReader<R>) -> io::Result<()> {
        let offset = file.stream_position()?;
        let (skipped, is_padding) = skip_to_member(&mut file)?;
        self.start = offset + skipped;
        let is_end = file.fill_buf()?.is_empty();
        self.state = if is_end { State::Ended } else { State::Inside(Box::new(GzDecoder::new(file))) };
        if is_padding {
            return Ok(());
        }
        Err(damage_error(&format!("{skipped} bytes at {offset} are not gzip data")))
    }
}

impl<R: Read + Seek> Read for GzipMembers<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(&mut self.state, State::Ended) {
                State::Ended => return Ok(0),
                State::Between(file) => self.enter(file)?,
                State::Inside(mut member) => match member.read(out) {
                    Ok(0) if !out.is_empty() => self.state = State::Between(member.into_inner()),
                    Ok(count) => {
                        self.state = State::Inside(member);
                        return Ok(count);
                    }
                    Err(error) if is_damage(&error) => {
                        // Intact members may start inside the presumed data of the damaged one.
                        let mut file = member.into_inner();
                        file.seek(SeekFrom::Start(self.start + 1))?;
                        let offset = self.start;
                        skip_to_member(&mut file)?;
                        self.state = State::Between(file);
                        return Err(damage_error(&format!("damaged gzip member at {offset}: {error}")));
                    }
                    Err(error) => return Err(error),
                },
            }
        }
    }
}

/// Moves to the start of the next member, or to the end. Returns the number of skipped bytes, and `true` if all
/// were zeros.
fn skip_to_member<R: Read + Seek>(file: &mut BufReader<R>) -> io::Result<(u64, bool)> {
    let (mut skipped, mut last, mut is_padding) = (0_u64, [0_u8; 2], true);
    loop {
        let buffer = file.fill_buf()?;
        if buffer.is_empty() || skipped == 0 && buffer.starts_with(&MEMBER_MAGIC) {
            return Ok((skipped, is_padding && last == [0; 2]));
        }
        for (&byte, read) in buffer.iter().zip(1_u64..) {
            if [last[0], last[1], byte] == MEMBER_MAGIC {
                let magic_len = MEMBER_MAGIC.len() as i64;
                let step = i64::try_from(read).expect("the length of a buffer fits into i64") - magic_len;
                file.seek_relative(step)?;
                skipped = skipped.saturating_add_signed(step);
                return Ok((skipped, is_padding));
            }
            is_padding &= last[0] == 0;
            last = [last[1], byte];
        }
        let step = buffer.len();
        skipped += step as u64;
        file.consume(step);
    }
}

fn is_damage(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::UnexpectedEof)
}

fn damage_error(reason: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, reason.to_owned())
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn member(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    /// Reads to the end through a small buffer. Returns the text and the errors.
    fn read_all(bytes: Vec<u8>) -> (String, Vec<String>) {
        let mut members = GzipMembers::new(BufReader::with_capacity(7, Cursor::new(bytes)));
        let (mut text, mut errors) = (Vec::new(), Vec::new());
        loop {
            match members.read_to_end(&mut text) {
                Ok(_) => return (String::from_utf8_lossy(&text).into_owned(), errors),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::InvalidData);
                    errors.push(error.to_string());
                }
            }
        }
    }

    #[test]
    fn gzip_members_are_read_as_one_stream() {
        let file = [member("one "), member(""), member("two "), vec![0; 700]].concat();
        assert_eq!(read_all(file), ("one two ".to_owned(), vec![]));
        assert_eq!(read_all(Vec::new()), (String::new(), vec![]));
    }

    #[test]
    fn truncated_member_does_not_affect_others() {
        let whole = member("words of the truncated member");
        let cut = whole[..whole.len() - 12].to_vec();
        let offset = member("one ").len();
        let (text, errors) = read_all([member("one "), cut, member("three "), member("four")].concat());
        assert!(text.starts_with("one ") && text.ends_with("three four"), "{text}");
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].starts_with(&format!("damaged gzip member at {offset}")), "{errors:?}");
    }

    #[test]
    fn data_other_than_gzip_is_reported_and_skipped() {
        let (text, errors) = read_all([member("one "), b"\x1f\x8bgarbage".to_vec(), member("two")].concat());
        assert_eq!(text, "one two");
        assert_eq!(errors, [format!("9 bytes at {} are not gzip data", member("one ").len())]);
        let (text, errors) = read_all(b"something else".to_vec());
        assert_eq!((text.as_str(), errors.len()), ("", 1));
    }

    #[test]
    fn truncated_file_yields_its_intact_members() {
        let whole = [member("one "), member("two")].concat();
        let (text, errors) = read_all(whole[..whole.len() - 3].to_vec());
        assert_eq!((text.as_str(), errors.len()), ("one two", 1));
    }
}
