//! A forwarder of TCP connections that can be cut, as a network can.

#![expect(clippy::unwrap_used, reason = "a test helper may panic, which fails the test")]

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// A loopback address whose connections are forwarded to a server. Its threads end with the test process.
#[derive(Debug)]
pub struct TcpForwarder {
    port: u16,
    is_cut: Arc<AtomicBool>,
}

impl TcpForwarder {
    /// Starts a forwarder to an address such as `127.0.0.1:5432`.
    ///
    /// # Panics
    /// If the system has no free port.
    #[must_use]
    pub fn to(address: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let is_cut = Arc::new(AtomicBool::new(false));
        let (cut, address) = (Arc::clone(&is_cut), address.to_owned());
        thread::spawn(move || {
            for client in listener.incoming().map(Result::unwrap) {
                if cut.load(Ordering::Acquire) {
                    continue;
                }
                // If the server rejects the connection, so does the forwarder.
                let Ok(server) = TcpStream::connect(&address) else { continue };
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let cut = Arc::clone(&cut);
                    thread::spawn(move || forward(&from, &to, &cut));
                }
            }
        });
        Self { port, is_cut }
    }

    /// Returns the port on which it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Ends all connections and rejects new ones, or admits them again.
    pub fn set_cut(&self, is_cut: bool) {
        self.is_cut.store(is_cut, Ordering::Release);
    }
}

/// Copies bytes until the connection ends or is cut.
fn forward(mut from: &TcpStream, mut to: &TcpStream, cut: &AtomicBool) {
    from.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
    let mut buffer = [0; 65_536];
    while !cut.load(Ordering::Acquire) {
        match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) if to.write_all(&buffer[..length]).is_ok() => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Ok(_) | Err(_) => break,
        }
    }
    // Either end may be closed already.
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}
