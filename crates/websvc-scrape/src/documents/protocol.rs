//! Protocol between the service and a worker: a line of JSON, then bytes.
//!
//! To the worker: the length of the header (4 bytes, big endian), the header, the document to the end of the input.
//! From the worker: the answer as JSON to the end of the output.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};
use websvc_documents::{DocumentError, DocumentKind, ParsedDocument};

/// A longer header is none.
const MAX_HEADER_BYTES: u32 = 64 * 1024;

/// Request to a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WorkerRequest {
    pub(super) kind: DocumentKind,
    pub(super) max_pages: u32,
    pub(super) max_output_bytes: usize,
    pub(super) max_inflated_bytes: u64,
    /// After so long the worker returns what it has.
    pub(super) soft_timeout_ms: u64,
}

/// Response of a worker.
pub(super) type WorkerResponse = Result<ParsedDocument, DocumentError>;

/// Returns what is sent before the document.
pub(super) fn header(question: &WorkerRequest) -> io::Result<Vec<u8>> {
    let json = serde_json::to_vec(question)?;
    let length = u32::try_from(json.len()).map_err(io::Error::other)?;
    let mut header = length.to_be_bytes().to_vec();
    header.extend(json);
    Ok(header)
}

/// Reads a question and its document.
pub(super) fn read_question(input: &mut impl Read) -> io::Result<(WorkerRequest, Vec<u8>)> {
    let mut length = [0; 4];
    input.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length);
    if length > MAX_HEADER_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the header is too long"));
    }
    let mut json = vec![0; length as usize];
    input.read_exact(&mut json)?;
    let mut document = Vec::new();
    input.read_to_end(&mut document)?;
    Ok((serde_json::from_slice(&json)?, document))
}

/// Writes an answer.
pub(super) fn write_answer(output: &mut impl Write, answer: &WorkerResponse) -> io::Result<()> {
    serde_json::to_writer(&mut *output, answer)?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_arrives_as_it_was_sent() {
        let question = WorkerRequest {
            kind: DocumentKind::Pdf,
            max_pages: 3,
            max_output_bytes: 10,
            max_inflated_bytes: 20,
            soft_timeout_ms: 30,
        };
        let mut sent = header(&question).unwrap();
        sent.extend(b"%PDF");
        assert_eq!(read_question(&mut sent.as_slice()).unwrap(), (question, b"%PDF".to_vec()));
        assert!(read_question(&mut &b"\xff\xff\xff\xff"[..]).is_err());
    }
}
