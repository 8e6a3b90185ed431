//! The messages between the service and a worker: a byte for the kind, the length, and the content.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

use crate::program::{PageTarget, Program};

/// The maximum content of a frame to a worker, in bytes. A screenshot of a long page is one message.
pub(crate) const MAX_TO_WORKER: usize = 32 * 1024 * 1024;
/// The maximum content of a frame from a worker, in bytes.
pub(crate) const MAX_FROM_WORKER: usize = 4 * 1024 * 1024;
/// The bytes before the content.
pub(crate) const HEADER: usize = 5;

/// The kind of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// To the worker: the program, a [`Start`].
    Start,
    /// In both directions: a message of the DevTools protocol.
    Message,
    /// To the worker: the session has ended.
    Closed,
    /// From the worker: text for standard output.
    Stdout,
    /// From the worker: text for standard error.
    Stderr,
    /// From the worker: the end of the program, a [`Finish`].
    Finish,
}

impl Kind {
    const ALL: [(u8, Self); 6] = [
        (b'S', Self::Start),
        (b'M', Self::Message),
        (b'C', Self::Closed),
        (b'O', Self::Stdout),
        (b'E', Self::Stderr),
        (b'F', Self::Finish),
    ];

    fn byte(self) -> u8 {
        match self {
            Self::Start => b'S',
            Self::Message => b'M',
            Self::Closed => b'C',
            Self::Stdout => b'O',
            Self::Stderr => b'E',
            Self::Finish => b'F',
        }
    }
}

/// A message between the service and a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) kind: Kind,
    pub(crate) content: String,
}

/// The program, as a worker gets it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Start {
    /// `node`, `python` or `bash`.
    pub(crate) language: String,
    pub(crate) code: String,
    pub(crate) timeout_ms: u64,
    pub(crate) target_id: String,
    pub(crate) session_id: String,
    pub(crate) memory_bytes: u64,
}

impl Start {
    pub(crate) fn new(program: &Program, page: &PageTarget, memory_bytes: u64) -> Self {
        let Program { language, code, timeout } = program;
        let PageTarget { target_id, session_id } = page;
        Self {
            language: language.name().to_owned(),
            code: code.clone(),
            timeout_ms: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
            target_id: target_id.clone(),
            session_id: session_id.clone(),
            memory_bytes,
        }
    }
}

/// The end of a program, as a worker reports it.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Finish {
    pub(crate) result: Option<String>,
    pub(crate) exit_code: i32,
    pub(crate) error: Option<String>,
    /// The target of `page`.
    pub(crate) target_id: Option<String>,
    /// An output was cut by the worker.
    #[serde(default)]
    pub(crate) truncated: bool,
}

/// Returns the bytes of a frame.
pub(crate) fn encode(kind: Kind, content: &str) -> Vec<u8> {
    let length = u32::try_from(content.len())
        .expect("frames are shorter than 4 GiB, because their content is bounded");
    let mut bytes = Vec::with_capacity(HEADER + content.len());
    bytes.push(kind.byte());
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(content.as_bytes());
    bytes
}

/// Returns the kind and the length of the content from the bytes before it.
pub(crate) fn decode_header(header: [u8; HEADER], max: usize) -> io::Result<(Kind, usize)> {
    let [kind, length @ ..] = header;
    let known = Kind::ALL.iter().find(|(byte, _)| *byte == kind);
    let (_, kind) = known.ok_or_else(|| invalid(format!("frame of the unknown kind {kind}")))?;
    let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
    if length > max {
        return Err(invalid(format!("frame of {length} bytes, more than {max}")));
    }
    Ok((*kind, length))
}

/// Returns the frame of this kind with these bytes.
pub(crate) fn decode_content(kind: Kind, content: Vec<u8>) -> io::Result<Frame> {
    let content = String::from_utf8(content).map_err(|_| invalid("frame that is not UTF-8".to_owned()))?;
    Ok(Frame { kind, content })
}

/// Reads a frame, or `None` at the end of the stream.
pub(crate) fn read(input: &mut impl Read) -> io::Result<Option<Frame>> {
    let mut header = [0; HEADER];
    match input.read_exact(&mut header) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let (kind, length) = decode_header(header, MAX_TO_WORKER)?;
    let mut content = vec![0; length];
    input.read_exact(&mut content)?;
    decode_content(kind, content).map(Some)
}

/// Writes a frame.
pub(crate) fn write(output: &mut impl Write, kind: Kind, content: &str) -> io::Result<()> {
    output.write_all(&encode(kind, content))?;
    output.flush()
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_written() {
        let mut bytes = Vec::new();
        for (_, kind) in Kind::ALL {
            write(&mut bytes, kind, "content é").unwrap();
        }
        let mut input = bytes.as_slice();
        for (_, kind) in Kind::ALL {
            let expected = Frame { kind, content: "content é".to_owned() };
            assert_eq!(read(&mut input).unwrap(), Some(expected));
        }
        assert_eq!(read(&mut input).unwrap(), None);
    }

    #[test]
    fn header_of_another_program_is_rejected() {
        assert!(decode_header(*b"?\0\0\0\0", 10).unwrap_err().to_string().contains("63"));
        assert!(decode_header(*b"M\x0b\0\0\0", 10).unwrap_err().to_string().contains("11 bytes"));
    }
}
