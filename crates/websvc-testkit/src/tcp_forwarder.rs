//! A forwarder of TCP connections that can be cut, as a network can, and that can be slow. It counts round trips.

#![expect(clippy::unwrap_used, reason = "a test helper may panic, which fails the test")]

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Chunks of one direction of a connection that are on their way.
const CHUNKS: usize = 256;

/// A loopback address whose connections are forwarded to a server. Its threads end with the test process.
#[derive(Debug)]
pub struct TcpForwarder {
    port: u16,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    is_cut: AtomicBool,
    is_frozen: AtomicBool,
    round_trips: AtomicU64,
}

/// Bytes, and the time at which they arrive.
type Chunk = (Instant, Vec<u8>);

impl TcpForwarder {
    /// Starts a forwarder to an address such as `127.0.0.1:5432`.
    ///
    /// # Panics
    /// If the system has no free port.
    #[must_use]
    pub fn to(address: &str) -> Self {
        Self::delayed(address, Duration::ZERO)
    }

    /// Starts a forwarder whose bytes arrive after `delay`, in each direction.
    ///
    /// # Panics
    /// If the system has no free port.
    #[must_use]
    pub fn delayed(address: &str, delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State::default());
        let (shared, address) = (Arc::clone(&state), address.to_owned());
        thread::spawn(move || {
            for client in listener.incoming().map(Result::unwrap) {
                if shared.is_cut.load(Ordering::Acquire) {
                    continue;
                }
                // If the server rejects the connection, so does the forwarder.
                let Ok(server) = TcpStream::connect(&address) else { continue };
                connect(&client, &server, delay, &shared);
            }
        });
        Self { port, state }
    }

    /// Returns the port on which it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Ends all connections and rejects new ones, or admits them again.
    pub fn set_cut(&self, is_cut: bool) {
        self.state.is_cut.store(is_cut, Ordering::Release);
    }

    /// Returns how often clients have sent something first or after a response, on all connections together.
    #[must_use]
    pub fn round_trips(&self) -> u64 {
        self.state.round_trips.load(Ordering::Acquire)
    }

    /// Keeps all connections open, also new ones, but forwards nothing, as a network without a route does. Afterwards
    /// everything that was sent arrives.
    pub fn set_frozen(&self, is_frozen: bool) {
        self.state.is_frozen.store(is_frozen, Ordering::Release);
    }
}

/// Starts the threads of a connection.
fn connect(client: &TcpStream, server: &TcpStream, delay: Duration, state: &Arc<State>) {
    let is_answered = Arc::new(AtomicBool::new(true));
    for (from, to, is_request) in [(client, server, true), (server, client, false)] {
        to.set_nodelay(true).unwrap();
        let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
        let (sender, receiver) = sync_channel(CHUNKS);
        let (state, is_answered) = (Arc::clone(state), Arc::clone(&is_answered));
        thread::spawn(move || {
            read(&from, &sender, delay, &state, || {
                if is_answered.swap(!is_request, Ordering::AcqRel) && is_request {
                    state.round_trips.fetch_add(1, Ordering::AcqRel);
                }
            });
        });
        thread::spawn(move || write(&to, &receiver));
    }
}

/// Reads chunks until the connection ends or is cut.
fn read(
    mut from: &TcpStream,
    sender: &SyncSender<Chunk>,
    delay: Duration,
    state: &State,
    on_chunk: impl Fn(),
) {
    from.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
    let mut buffer = [0; 65_536];
    let is_cut = || state.is_cut.load(Ordering::Acquire);
    while !is_cut() {
        let received = from.read(&mut buffer);
        while state.is_frozen.load(Ordering::Acquire) && !is_cut() {
            thread::sleep(Duration::from_millis(5));
        }
        match received {
            Ok(0) => break,
            Ok(length) => {
                on_chunk();
                if sender.send((Instant::now() + delay, buffer[..length].to_vec())).is_err() {
                    break;
                }
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => break,
        }
    }
    // It may be closed already.
    let _ = from.shutdown(Shutdown::Both);
}

/// Writes chunks when they arrive, until the reader or the connection ends.
fn write(mut to: &TcpStream, receiver: &Receiver<Chunk>) {
    while let Ok((due, bytes)) = receiver.recv() {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        if to.write_all(&bytes).is_err() {
            break;
        }
    }
    // It may be closed already.
    let _ = to.shutdown(Shutdown::Both);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_are_sent_together_are_one_round_trip_and_arrive_late() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let forwarder = TcpForwarder::delayed(&address, Duration::from_millis(20));
        let mut client = TcpStream::connect(("127.0.0.1", forwarder.port())).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        for expected in 1..=2 {
            let started = Instant::now();
            client.write_all(b"a").unwrap();
            client.write_all(b"b").unwrap();
            let mut buffer = [0; 2];
            server.read_exact(&mut buffer).unwrap();
            server.write_all(b"c").unwrap();
            client.read_exact(&mut buffer[..1]).unwrap();
            assert_eq!(forwarder.round_trips(), expected);
            assert!(started.elapsed() >= Duration::from_millis(40), "{:?}", started.elapsed());
        }
        drop(client);
        assert_eq!(server.read(&mut [0]).unwrap(), 0, "the end is forwarded");
    }
}
