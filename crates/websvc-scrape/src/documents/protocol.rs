//! The protocol between the service and a document worker, over standard input and output.
//!
//! Request: the length of the header (4 bytes, big endian), the header as JSON, the document up to the end of the
//! input. Response: JSON up to the end of the output.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};
use websvc_documents::{DocumentError, DocumentKind, ParsedDocument};

/// The maximum length of a header.
const MAX_HEADER_BYTES: u32 = 64 * 1024;

/// The header of a request to a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WorkerRequest {
    pub(super) kind: DocumentKind,
    pub(super) max_pages: u32,
    /// Marks the starts of the pages of a PDF.
    pub(super) page_starts: bool,
    /// Returns the pages of a PDF on their own, too.
    pub(super) separate_pages: bool,
    /// Returns the layout of the pages of a PDF, too.
    pub(super) layout: bool,
    pub(super) max_output_bytes: usize,
    pub(super) max_inflated_bytes: u64,
    /// The time after which the worker returns the part that it has read.
    pub(super) soft_timeout_ms: u64,
}

/// The response of a worker.
pub(super) type WorkerResponse = Result<ParsedDocument, DocumentError>;

/// Returns the bytes before the document: the length of the header, and the header.
pub(super) fn encode_header(request: &WorkerRequest) -> io::Result<Vec<u8>> {
    let json = serde_json::to_vec(request)?;
    let length = u32::try_from(json.len()).map_err(io::Error::other)?;
    let mut header = length.to_be_bytes().to_vec();
    header.extend(json);
    Ok(header)
}

/// Reads a request and its document.
pub(super) fn read_request(input: &mut impl Read) -> io::Result<(WorkerRequest, Vec<u8>)> {
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

/// Writes a response.
pub(super) fn write_response(output: &mut impl Write, response: &WorkerResponse) -> io::Result<()> {
    serde_json::to_writer(&mut *output, response)?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_is_read_as_it_was_encoded() {
        let request = WorkerRequest {
            kind: DocumentKind::Pdf,
            max_pages: 3,
            page_starts: true,
            separate_pages: false,
            layout: true,
            max_output_bytes: 10,
            max_inflated_bytes: 20,
            soft_timeout_ms: 30,
        };
        let mut encoded = encode_header(&request).unwrap();
        encoded.extend(b"%PDF");
        assert_eq!(read_request(&mut encoded.as_slice()).unwrap(), (request, b"%PDF".to_vec()));
        assert!(read_request(&mut &b"\xff\xff\xff\xff"[..]).is_err());
    }
}
