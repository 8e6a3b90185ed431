//! Many connections on which requests are due at random moments, whether or not earlier ones were answered: what is
//! measured begins when a request was due, so that a slow answer does not hide those behind it (no coordinated omission).

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::load::{Request, content_length, find};
use crate::process::Process;

/// Open connections.
pub(crate) struct Crowd(Vec<Connection>);

/// Responses to a group of clients.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// The times of those answered with 200, sorted.
    pub(crate) times: Vec<Duration>,
    /// Those with 429 or 503 that say when to come again.
    pub(crate) refused: usize,
    /// Those that are neither.
    pub(crate) otherwise: usize,
    /// Requests on connections that were closed without a byte of an answer: they were not read, and may be sent again.
    pub(crate) closed: usize,
    /// Answers that were not sent to their end.
    pub(crate) broken_off: usize,
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

    /// Asks so many times a second, at random moments (a Poisson process, of a fixed seed), each connection in its turn.
    pub(crate) async fn ask(self, request: &Request, per_second: f64, span: Duration) -> (Self, Answers) {
        let mut running = JoinSet::new();
        let mut askers = Vec::new();
        for connection in self.0 {
            // Bounded by what is due in the span.
            let (asker, due) = mpsc::unbounded_channel();
            running.spawn(connection.drive(request.clone(), due));
            askers.push(asker);
        }
        // The timers of the runtime are a millisecond coarse, which would make bursts. A thread that sleeps is woken within
        // some 50 microseconds, and, other than one that spins, by a busy machine, too.
        let pacer = std::thread::spawn(move || pace(&askers, per_second, span));
        let (mut connections, mut all) = (Vec::new(), Answers::default());
        while let Some(done) = running.join_next().await {
            let (connection, mine) = done.unwrap();
            connections.push(connection);
            all.add(mine);
        }
        pacer.join().unwrap();
        all.elapsed = span;
        all.times.sort_unstable();
        (Self(connections), all)
    }
}

impl Answers {
    fn add(&mut self, other: Self) {
        let Self { times, refused, otherwise, closed, broken_off, elapsed: _ } = other;
        self.times.extend(times);
        self.refused += refused;
        self.otherwise += otherwise;
        self.closed += closed;
        self.broken_off += broken_off;
    }

    /// Returns the answers with 200 per second.
    pub(crate) fn rate(&self) -> f64 {
        self.per_second(self.times.len())
    }

    pub(crate) fn rate_refused(&self) -> f64 {
        self.per_second(self.refused)
    }

    /// Returns the time within which so many of a hundred answers with 200 came.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let at = (self.times.len() * percent / 100).min(self.times.len().saturating_sub(1));
        self.times.get(at).copied().unwrap_or_default()
    }

    #[expect(clippy::cast_precision_loss, reason = "a figure to be read")]
    fn per_second(&self, count: usize) -> f64 {
        count as f64 / self.elapsed.as_secs_f64()
    }
}

/// Says to one after the other when a request is due.
fn pace(askers: &[mpsc::UnboundedSender<Instant>], per_second: f64, span: Duration) {
    let begin = Instant::now();
    let (mut due, mut random) = (begin, Random(0x7765_6273_7663));
    for asker in askers.iter().cycle() {
        due += Duration::from_secs_f64(-random.next().ln() / per_second);
        if due >= begin + span {
            break;
        }
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        asker.send(due).unwrap();
    }
}

enum Answer {
    Whole { status: u16, says_when: bool },
    Closed,
    BrokenOff,
}

/// A connection that is kept.
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

    /// Asks at the moments that it is told.
    async fn drive(mut self, request: Request, mut due: mpsc::UnboundedReceiver<Instant>) -> (Self, Answers) {
        let mut mine = Answers::default();
        while let Some(due) = due.recv().await {
            match self.ask(&request).await {
                Answer::Whole { status: 200, .. } => mine.times.push(due.elapsed()),
                Answer::Whole { status: 429 | 503, says_when: true } => mine.refused += 1,
                Answer::Whole { .. } => mine.otherwise += 1,
                Answer::Closed => mine.closed += 1,
                Answer::BrokenOff => mine.broken_off += 1,
            }
        }
        (self, mine)
    }

    async fn ask(&mut self, request: &Request) -> Answer {
        self.buffer.clear();
        if self.stream.write_all(&request.0).await.is_err() {
            return Answer::Closed;
        }
        loop {
            match self.stream.read_buf(&mut self.buffer).await {
                Ok(0) | Err(_) if self.buffer.is_empty() => return Answer::Closed,
                Ok(0) | Err(_) => return Answer::BrokenOff,
                Ok(_) => {}
            }
            let Some(head) = find(&self.buffer, b"\r\n\r\n") else { continue };
            let (lines, body) = self.buffer.split_at(head);
            if body.len() >= 4 + content_length(lines) {
                let status = std::str::from_utf8(&lines[9..12]).unwrap().parse().unwrap();
                return Answer::Whole { status, says_when: find(lines, b"retry-after: ").is_some() };
            }
        }
    }
}

/// Numbers that look random (`SplitMix64`).
struct Random(u64);

impl Random {
    /// Returns a number above 0, up to 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits of it are kept, which is what there is room for")]
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((mixed ^ (mixed >> 31)) >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }
}
