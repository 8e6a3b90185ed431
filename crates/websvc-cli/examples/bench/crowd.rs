//! A load of many connections with a fixed request rate. Requests are due at random times, also when earlier requests
//! have no response yet. Times are measured from the due time, which avoids coordinated omission.

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::load::{Request, content_length, find};
use crate::process::Process;

/// Open connections.
pub(crate) struct Crowd(Vec<Connection>);

/// Outcomes of the requests of a load.
#[derive(Debug, Default)]
pub(crate) struct Outcomes {
    /// Sorted times of the responses with status 200.
    pub(crate) times: Vec<Duration>,
    /// Responses with status 429 or 503 and a Retry-After header.
    pub(crate) rejected: usize,
    /// Other responses.
    pub(crate) unexpected: usize,
    /// Requests whose connection was closed before any byte of a response. They were not read and can be repeated.
    pub(crate) closed: usize,
    /// Incomplete responses.
    pub(crate) incomplete: usize,
    elapsed: Duration,
}

impl Crowd {
    pub(crate) async fn open(process: &Process, connections: usize) -> Self {
        let mut all = Vec::new();
        for _connection in 0..connections {
            all.push(Connection::open(&process.address).await);
        }
        Self(all)
    }

    /// Sends `per_second` requests per second at random times (a Poisson process with a fixed seed), over the connections
    /// in turn.
    pub(crate) async fn send(
        self,
        request: &Request,
        per_second: f64,
        duration: Duration,
    ) -> (Self, Outcomes) {
        let mut running = JoinSet::new();
        let mut senders = Vec::new();
        for connection in self.0 {
            // The number of queued requests is bounded by the rate and the duration.
            let (sender, due) = mpsc::unbounded_channel();
            running.spawn(connection.send_when_due(request.clone(), due));
            senders.push(sender);
        }
        // The timers of the runtime have a resolution of a millisecond, which would create bursts. A sleeping thread is
        // woken within about 50 microseconds, and needs no CPU time, unlike a spinning thread.
        let pacer = std::thread::spawn(move || pace(&senders, per_second, duration));
        let (mut connections, mut total) = (Vec::new(), Outcomes::default());
        while let Some(result) = running.join_next().await {
            let (connection, outcomes) = result.unwrap();
            connections.push(connection);
            total.add(outcomes);
        }
        pacer.join().unwrap();
        total.elapsed = duration;
        total.times.sort_unstable();
        (Self(connections), total)
    }
}

impl Outcomes {
    fn add(&mut self, other: Self) {
        let Self { times, rejected, unexpected, closed, incomplete, elapsed: _ } = other;
        self.times.extend(times);
        self.rejected += rejected;
        self.unexpected += unexpected;
        self.closed += closed;
        self.incomplete += incomplete;
    }

    /// Returns the responses with status 200 per second.
    pub(crate) fn rate(&self) -> f64 {
        self.per_second(self.times.len())
    }

    pub(crate) fn rate_rejected(&self) -> f64 {
        self.per_second(self.rejected)
    }

    /// Returns a percentile of the times of responses with status 200.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let index = (self.times.len() * percent / 100).min(self.times.len().saturating_sub(1));
        self.times.get(index).copied().unwrap_or_default()
    }

    #[expect(clippy::cast_precision_loss, reason = "only printed")]
    fn per_second(&self, count: usize) -> f64 {
        count as f64 / self.elapsed.as_secs_f64()
    }
}

/// Sends due times to the connections in turn.
fn pace(senders: &[mpsc::UnboundedSender<Instant>], per_second: f64, duration: Duration) {
    let start = Instant::now();
    let (mut due, mut random) = (start, Random(0x7765_6273_7663));
    for sender in senders.iter().cycle() {
        due += Duration::from_secs_f64(-random.next().ln() / per_second);
        if due >= start + duration {
            break;
        }
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        sender.send(due).unwrap();
    }
}

/// The outcome of a request.
enum Outcome {
    Response { status: u16, has_retry_after: bool },
    Closed,
    Incomplete,
}

/// A keep-alive connection.
struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    async fn open(address: &str) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, buffer: Vec::new() }
    }

    /// Sends a request at each due time.
    async fn send_when_due(
        mut self,
        request: Request,
        mut due: mpsc::UnboundedReceiver<Instant>,
    ) -> (Self, Outcomes) {
        let mut outcomes = Outcomes::default();
        while let Some(due) = due.recv().await {
            match self.send(&request).await {
                Outcome::Response { status: 200, .. } => outcomes.times.push(due.elapsed()),
                Outcome::Response { status: 429 | 503, has_retry_after: true } => outcomes.rejected += 1,
                Outcome::Response { .. } => outcomes.unexpected += 1,
                Outcome::Closed => outcomes.closed += 1,
                Outcome::Incomplete => outcomes.incomplete += 1,
            }
        }
        (self, outcomes)
    }

    async fn send(&mut self, request: &Request) -> Outcome {
        self.buffer.clear();
        if self.stream.write_all(&request.0).await.is_err() {
            return Outcome::Closed;
        }
        loop {
            match self.stream.read_buf(&mut self.buffer).await {
                Ok(0) | Err(_) if self.buffer.is_empty() => return Outcome::Closed,
                Ok(0) | Err(_) => return Outcome::Incomplete,
                Ok(_) => {}
            }
            let Some(head) = find(&self.buffer, b"\r\n\r\n") else { continue };
            let (lines, body) = self.buffer.split_at(head);
            if body.len() >= 4 + content_length(lines) {
                let status = std::str::from_utf8(&lines[9..12]).unwrap().parse().unwrap();
                return Outcome::Response {
                    status,
                    has_retry_after: find(lines, b"retry-after: ").is_some(),
                };
            }
        }
    }
}

/// A pseudo-random number generator (SplitMix64).
struct Random(u64);

impl Random {
    /// Returns a number above 0, up to 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit into an f64")]
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((mixed ^ (mixed >> 31)) >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }
}
