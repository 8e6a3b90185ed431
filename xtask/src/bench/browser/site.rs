//! A loopback web server for the rendered pages. It serves files from memory without delay.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use crate::Result;

/// The server listens on 127.0.0.1 to 127.0.0.31, below this number. A browser treats each address as a separate host.
pub(super) const HOSTS: u8 = 32;

/// Files by their path.
pub(super) type Files = HashMap<String, File>;

/// A file and its media type.
pub(super) struct File {
    pub(super) media_type: &'static str,
    pub(super) bytes: Vec<u8>,
}

/// Serves the files until this program ends, and returns the address of the first host.
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

/// Accepts connections in a new thread.
fn accept(listener: TcpListener, files: &Arc<Files>) {
    let files = Arc::clone(files);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let files = Arc::clone(&files);
            // Errors are ignored: a browser may close a connection at any time.
            thread::spawn(move || serve_connection(&stream, &files));
        }
    });
}

/// Responds to the requests of a connection until the client closes it.
fn serve_connection(stream: &TcpStream, files: &Files) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while reader.read_line(&mut line)? > 0 {
        let path =
            line.split(' ').nth(1).unwrap_or_default().split('?').next().unwrap_or_default().to_owned();
        // The headers are ignored, and the requests have no bodies.
        while line.trim_end() != "" {
            line.clear();
            reader.read_line(&mut line)?;
        }
        let (status, media_type, bytes) = match files.get(&path) {
            Some(file) => ("200 OK", file.media_type, file.bytes.as_slice()),
            None => ("404 Not Found", "text/plain", b"".as_slice()),
        };
        let mut response = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\n\r\n",
            bytes.len()
        )
        .into_bytes();
        response.extend_from_slice(bytes);
        (&mut &*stream).write_all(&response)?;
        line.clear();
    }
    Ok(())
}
