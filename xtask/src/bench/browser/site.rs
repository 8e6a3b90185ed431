//! A web server on loopback for the pages that browsers draw: what it serves is in memory, and it answers at once.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use crate::Result;

/// The loopback addresses 127.0.0.1 to 127.0.0.31 are listened on: hosts of their own to a browser.
pub(super) const HOSTS: u8 = 32;

/// Files by their path.
pub(super) type Files = HashMap<String, File>;

/// File served at a path.
pub(super) struct File {
    pub(super) kind: &'static str,
    pub(super) bytes: Vec<u8>,
}

/// Serves the files for as long as this program runs, and returns where.
pub(super) fn serve(files: Files) -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let addr = listener.local_addr()?;
    let files = Arc::new(files);
    accept(listener, &files);
    for host in 2..HOSTS {
        accept(TcpListener::bind((Ipv4Addr::new(127, 0, 0, host), addr.port()))?, &files);
    }
    Ok(addr)
}

fn accept(listener: TcpListener, files: &Arc<Files>) {
    let files = Arc::clone(files);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let files = Arc::clone(&files);
            // A browser that goes away in the middle is nobody's failure.
            thread::spawn(move || answer(&stream, &files));
        }
    });
}

/// Answers the requests of a connection until it ends.
fn answer(stream: &TcpStream, files: &Files) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while reader.read_line(&mut line)? > 0 {
        let path =
            line.split(' ').nth(1).unwrap_or_default().split('?').next().unwrap_or_default().to_owned();
        // The headers say nothing that matters here, and there are no bodies.
        while line.trim_end() != "" {
            line.clear();
            reader.read_line(&mut line)?;
        }
        let (status, kind, bytes) = match files.get(&path) {
            Some(file) => ("200 OK", file.kind, file.bytes.as_slice()),
            None => ("404 Not Found", "text/plain", b"".as_slice()),
        };
        let mut message =
            format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n", bytes.len())
                .into_bytes();
        message.extend_from_slice(bytes);
        (&mut &*stream).write_all(&message)?;
        line.clear();
    }
    Ok(())
}
