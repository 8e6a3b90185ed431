//! Files as they are or packed by gzip or zstd, read as one stream that survives damage.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::bufread::GzDecoder;
use zstd::stream::read::Decoder as ZstdDecoder;

/// How a member of a gzip file begins: the magic and the only method there is.
const MEMBER: [u8; 3] = [0x1f, 0x8b, 8];

/// How much is read from the disk at one time.
const BUFFER_BYTES: usize = 256 * 1024;

/// How a file is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    /// Not at all.
    Plain,
    /// One or many members of gzip.
    Gzip,
    /// One or many frames of zstd.
    Zstd,
}

/// A file that is being unpacked.
///
/// An error of [`ErrorKind::InvalidData`] tells of damage that lies behind: reading goes on with the next member of
/// gzip that is whole, else at the end. After any other error there is nothing to go on with.
pub(super) enum CompressedReader {
    Plain(File),
    Gzip(GzipMembers),
    Zstd(Option<ZstdDecoder<'static, BufReader<File>>>),
}

impl CompressedReader {
    /// Opens a file.
    pub(super) fn open(path: &Path, packing: Compression) -> io::Result<Self> {
        let file = File::open(path)?;
        Ok(match packing {
            Compression::Plain => Self::Plain(file),
            Compression::Gzip => Self::Gzip(GzipMembers::new(BufReader::with_capacity(BUFFER_BYTES, file))),
            Compression::Zstd => Self::Zstd(Some(ZstdDecoder::new(file)?)),
        })
    }

    /// Opens a file with a buffer in front.
    pub(super) fn buffered(path: &Path, packing: Compression) -> io::Result<BufReader<Self>> {
        Ok(BufReader::with_capacity(BUFFER_BYTES, Self::open(path, packing)?))
    }
}

impl Read for CompressedReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.read(out),
            Self::Gzip(members) => members.read(out),
            Self::Zstd(decoder) => {
                let Some(unpacking) = decoder else { return Ok(0) };
                unpacking.read(out).map_err(|error| {
                    *decoder = None;
                    damage(&format!("the zstd stream is damaged, the rest is lost: {error}"))
                })
            }
        }
    }
}

/// The members of a gzip file, one after the other.
pub(super) struct GzipMembers<R = File> {
    state: State<R>,
    /// Offset at which the current member begins.
    began: u64,
}

enum State<R> {
    /// Between two members, or before the first one.
    Between(BufReader<R>),
    Inside(Box<GzDecoder<BufReader<R>>>),
    Ended,
}

impl<R: Read + Seek> GzipMembers<R> {
    fn new(file: BufReader<R>) -> Self {
        Self { state: State::Between(file), began: 0 }
    }

    /// Goes into the next member. Zeros between members and at the end are padding.
    fn enter(&mut self, mut file: BufReader<R>) -> io::Result<()> {
        let at = file.stream_position()?;
        let (passed, is_padding) = pass_to_member(&mut file)?;
        self.began = at + passed;
        let is_end = file.fill_buf()?.is_empty();
        self.state = if is_end { State::Ended } else { State::Inside(Box::new(GzDecoder::new(file))) };
        if is_padding {
            return Ok(());
        }
        Err(damage(&format!("{passed} bytes at {at} are no gzip")))
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
                        // Whole members may follow inside what the broken one was thought to be.
                        let mut file = member.into_inner();
                        file.seek(SeekFrom::Start(self.began + 1))?;
                        let at = self.began;
                        pass_to_member(&mut file)?;
                        self.state = State::Between(file);
                        return Err(damage(&format!("the gzip member at {at} is damaged: {error}")));
                    }
                    Err(error) => return Err(error),
                },
            }
        }
    }
}

/// Moves to the next beginning of a member, else to the end; returns the bytes passed and whether all were zeros.
fn pass_to_member<R: Read + Seek>(file: &mut BufReader<R>) -> io::Result<(u64, bool)> {
    let (mut passed, mut last, mut is_padding) = (0_u64, [0_u8; 2], true);
    loop {
        let buffer = file.fill_buf()?;
        if buffer.is_empty() || passed == 0 && buffer.starts_with(&MEMBER) {
            return Ok((passed, is_padding && last == [0; 2]));
        }
        for (&byte, read) in buffer.iter().zip(1_u64..) {
            if [last[0], last[1], byte] == MEMBER {
                let beginning = MEMBER.len() as i64;
                let step = i64::try_from(read).expect("a buffer is small") - beginning;
                file.seek_relative(step)?;
                passed = passed.saturating_add_signed(step);
                return Ok((passed, is_padding));
            }
            is_padding &= last[0] == 0;
            last = [last[1], byte];
        }
        let step = buffer.len();
        passed += step as u64;
        file.consume(step);
    }
}

fn is_damage(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::UnexpectedEof)
}

fn damage(reason: &str) -> io::Error {
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

    /// Reads to the end, through a small buffer; returns the text and the damages.
    fn read_all(bytes: Vec<u8>) -> (String, Vec<String>) {
        let mut members = GzipMembers::new(BufReader::with_capacity(7, Cursor::new(bytes)));
        let (mut text, mut damages) = (Vec::new(), Vec::new());
        loop {
            match members.read_to_end(&mut text) {
                Ok(_) => return (String::from_utf8_lossy(&text).into_owned(), damages),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::InvalidData);
                    damages.push(error.to_string());
                }
            }
        }
    }

    #[test]
    fn members_are_one_stream() {
        let file = [member("one "), member(""), member("two "), vec![0; 700]].concat();
        assert_eq!(read_all(file), ("one two ".to_owned(), vec![]));
        assert_eq!(read_all(Vec::new()), (String::new(), vec![]));
    }

    #[test]
    fn a_truncated_member_costs_no_other() {
        let whole = member("words that are lost with their member");
        let cut = whole[..whole.len() - 12].to_vec();
        let at = member("one ").len();
        let (text, damages) = read_all([member("one "), cut, member("three "), member("four")].concat());
        assert!(text.starts_with("one ") && text.ends_with("three four"), "{text}");
        assert_eq!(damages.len(), 1, "{damages:?}");
        assert!(damages[0].starts_with(&format!("the gzip member at {at} is damaged")), "{damages:?}");
    }

    #[test]
    fn what_is_no_gzip_is_told_and_passed_over() {
        let (text, damages) = read_all([member("one "), b"\x1f\x8bgarbage".to_vec(), member("two")].concat());
        assert_eq!(text, "one two");
        assert_eq!(damages, [format!("9 bytes at {} are no gzip", member("one ").len())]);
        let (text, damages) = read_all(b"nothing of the kind".to_vec());
        assert_eq!((text.as_str(), damages.len()), ("", 1));
    }

    #[test]
    fn a_file_that_ends_too_early_gives_what_is_whole() {
        let whole = [member("one "), member("two")].concat();
        let (text, damages) = read_all(whole[..whole.len() - 3].to_vec());
        assert_eq!((text.as_str(), damages.len()), ("one two", 1));
    }
}
