//! Load over keep-alive connections: as little work as possible beside the process under test.

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::process::{KEY, Process};

/// A request, ready to be sent.
#[derive(Debug, Clone)]
pub(crate) struct Request(pub(crate) Vec<u8>);

/// Result of a load.
#[derive(Debug)]
pub(crate) struct Load {
    /// The time of every answer, sorted.
    times: Vec<Duration>,
    elapsed: Duration,
    /// Answers that were not 200.
    pub(crate) failures: usize,
    /// CPU time that the process under test used meanwhile.
    cpu_seconds: f64,
}

impl Request {
    pub(crate) fn get(path: &str) -> Self {
        Self(
            format!("GET {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {KEY}\r\n\r\n").into_bytes(),
        )
    }

    pub(crate) fn post(path: &str, body: &str) -> Self {
        Self::post_with(KEY, path, body)
    }

    pub(crate) fn post_with(key: &str, path: &str, body: &str) -> Self {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        Self([head.as_bytes(), body.as_bytes()].concat())
    }
}

impl Load {
    /// Sends the requests in turn over so many connections for `span`, after a short warm-up. The connections start at
    /// different requests, so that they do not all ask the same at the same time.
    pub(crate) async fn run(
        process: &Process,
        connections: usize,
        span: Duration,
        requests: &[Request],
    ) -> Self {
        Self::measure(&process.address, connections, span / 10, requests).await;
        Self::once(process, connections, span, requests).await
    }

    /// The same without the warm-up, for requests that are not to be sent twice.
    pub(crate) async fn once(
        process: &Process,
        connections: usize,
        span: Duration,
        requests: &[Request],
    ) -> Self {
        let before = process.cpu_seconds();
        let mut load = Self::measure(&process.address, connections, span, requests).await;
        load.cpu_seconds = process.cpu_seconds() - before;
        load
    }

    /// Sends each request once, however long it takes.
    pub(crate) async fn each_once(process: &Process, connections: usize, requests: &[Request]) -> Self {
        let before = process.cpu_seconds();
        let share = requests.len().div_ceil(connections);
        let mut running = JoinSet::new();
        for requests in requests.chunks(share) {
            let (address, requests) = (process.address.clone(), requests.to_vec());
            running.spawn(async move { drive(&address, None, requests.iter()).await });
        }
        let mut load = Self::gather(Instant::now(), running).await;
        load.cpu_seconds = process.cpu_seconds() - before;
        load
    }

    async fn measure(address: &str, connections: usize, span: Duration, requests: &[Request]) -> Self {
        let started = Instant::now();
        let mut running = JoinSet::new();
        for offset in 0..connections {
            let (address, requests) = (address.to_owned(), requests.to_vec());
            let offset = offset * requests.len() / connections;
            running.spawn(async move {
                drive(&address, Some(started + span), requests.iter().cycle().skip(offset)).await
            });
        }
        Self::gather(started, running).await
    }

    /// Waits for the connections of a load.
    async fn gather(started: Instant, mut running: JoinSet<(Vec<Duration>, usize)>) -> Self {
        let mut load = Self { times: Vec::new(), elapsed: Duration::ZERO, failures: 0, cpu_seconds: 0.0 };
        while let Some(done) = running.join_next().await {
            let (times, failures) = done.unwrap();
            load.times.extend(times);
            load.failures += failures;
        }
        load.elapsed = started.elapsed();
        load.times.sort_unstable();
        load
    }

    /// Returns the answers per second.
    #[expect(clippy::cast_precision_loss, reason = "a figure to be read")]
    pub(crate) fn rate(&self) -> f64 {
        self.times.len() as f64 / self.elapsed.as_secs_f64()
    }

    /// Returns the CPU time per answer of the process under test, in milliseconds.
    #[expect(clippy::cast_precision_loss, reason = "a figure to be read")]
    pub(crate) fn cpu_ms(&self) -> f64 {
        self.cpu_seconds * 1e3 / self.times.len().max(1) as f64
    }

    /// Returns the time within which so many of a hundred answers came.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let at = (self.times.len() * percent / 100).min(self.times.len().saturating_sub(1));
        self.times.get(at).copied().unwrap_or_default()
    }
}

/// Sends the requests one after the other until `end`, and returns the time of each answer, and how many were not 200.
async fn drive<'a>(
    address: &str,
    end: Option<Instant>,
    requests: impl Iterator<Item = &'a Request>,
) -> (Vec<Duration>, usize) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let mut buffer = vec![0; 1 << 20];
    let (mut times, mut failures) = (Vec::new(), 0);
    for request in requests {
        let started = Instant::now();
        if end.is_some_and(|end| started >= end) {
            break;
        }
        stream.write_all(&request.0).await.unwrap();
        if !answer_is_ok(&mut stream, &mut buffer).await {
            failures += 1;
        }
        times.push(started.elapsed());
    }
    (times, failures)
}

/// Reads one answer and returns whether its status is 200.
async fn answer_is_ok(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> bool {
    let mut filled = 0;
    loop {
        if filled == buffer.len() {
            buffer.resize(buffer.len() * 2, 0);
        }
        let read = stream.read(&mut buffer[filled..]).await.unwrap();
        assert!(read > 0, "the server closed a connection that it should keep");
        filled += read;
        let Some(head) = find(&buffer[..filled], b"\r\n\r\n") else { continue };
        if filled >= head + 4 + content_length(&buffer[..head]) {
            return buffer.starts_with(b"HTTP/1.1 200");
        }
    }
}

pub(crate) fn content_length(head: &[u8]) -> usize {
    let name = b"content-length: ";
    let Some(at) = find(head, name) else { return 0 };
    let digits = head[at + name.len()..].iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0, |length, digit| length * 10 + usize::from(digit - b'0'))
}

pub(crate) fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}
