//! A connection that sends requests one after the other and returns their responses.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::load::{Request, content_length, find};
use crate::process::Process;

/// A keep-alive connection to the process under test.
pub(crate) struct Connection(TcpStream);

impl Connection {
    pub(crate) fn open(process: &Process) -> Self {
        Self::open_at(&process.address)
    }

    pub(crate) fn open_at(address: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        Self(stream)
    }

    /// Posts a body and returns the response, whose status must be 200.
    pub(crate) fn post(&mut self, path: &str, body: &Value) -> Value {
        self.send(&Request::post(path, &body.to_string()))
    }

    /// Adds documents to the index in batches.
    pub(crate) fn add(&mut self, documents: impl Iterator<Item = Value>) {
        /// Documents per request. Their size is far below the limit of 10 MiB.
        const BATCH: usize = 500;
        let mut batch = Vec::with_capacity(BATCH);
        for document in documents {
            batch.push(document);
            if batch.len() == BATCH {
                self.upload(&mut batch);
            }
        }
        self.upload(&mut batch);
    }

    /// Waits until the index has `count` documents.
    pub(crate) fn wait_for_documents(&mut self, count: u64) {
        let started = Instant::now();
        while self.stats()["documents"].as_u64() != Some(count) {
            assert!(started.elapsed() < Duration::from_secs(300), "{count} documents are not in the index");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns the statistics of the index.
    pub(crate) fn stats(&mut self) -> Value {
        self.send(&Request::get("/v2/index/stats"))
    }

    fn upload(&mut self, batch: &mut Vec<Value>) {
        if !batch.is_empty() {
            self.post("/v2/index/documents", &json!({ "documents": std::mem::take(batch) }));
        }
    }

    /// Sends a request and returns the response, whose status must be 200.
    pub(crate) fn send(&mut self, request: &Request) -> Value {
        self.try_send(request).expect("the status is 200")
    }

    /// Sends a request and returns the response; `None` if its status is not 200.
    pub(crate) fn try_send(&mut self, request: &Request) -> Option<Value> {
        self.0.write_all(&request.0).unwrap();
        let mut buffer = vec![0; 1 << 16];
        let mut filled = 0;
        let body = loop {
            if filled == buffer.len() {
                buffer.resize(buffer.len() * 2, 0);
            }
            let read = self.0.read(&mut buffer[filled..]).unwrap();
            assert!(read > 0, "the server closed a keep-alive connection");
            filled += read;
            let Some(head) = find(&buffer[..filled], b"\r\n\r\n") else { continue };
            let end = head + 4 + content_length(&buffer[..head]);
            if filled >= end {
                break head + 4..end;
            }
        };
        if !buffer.starts_with(b"HTTP/1.1 200") {
            println!("bench: {}", String::from_utf8_lossy(&buffer[..filled]));
            return None;
        }
        Some(serde_json::from_slice(&buffer[body]).unwrap())
    }
}
