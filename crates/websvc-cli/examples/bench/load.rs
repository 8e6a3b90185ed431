//! A load over keep-alive connections that uses as little CPU time as possible.

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
    /// Sorted response times.
    times: Vec<Duration>,
    elapsed: Duration,
    /// Responses with a status other than 200.
    pub(crate) failures: usize,
    /// CPU time of the process under test during the load.
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

impl Request {
    /// Replaces the method of a request without a body.
    pub(crate) fn with_method(self, method: &str) -> Self {
        let rest = self.0.strip_prefix(b"GET").expect("the request has no body");
        Self([method.as_bytes(), rest].concat())
    }
}

impl Load {
    /// Sends the requests in turn over `connections` connections for `duration`, after a short warm-up. The connections
    /// start at different requests, so that they do not send the same request at the same time.
    pub(crate) async fn run(
        process: &Process,
        connections: usize,
        duration: Duration,
        requests: &[Request],
    ) -> Self {
        Self::measure(&process.address, connections, duration / 10, requests).await;
        Self::run_cold(process, connections, duration, requests).await
    }

    /// Does the same without the warm-up, for requests that must not be repeated.
    pub(crate) async fn run_cold(
        process: &Process,
        connections: usize,
        duration: Duration,
        requests: &[Request],
    ) -> Self {
        let before = process.cpu_seconds();
        let mut load = Self::measure(&process.address, connections, duration, requests).await;
        load.cpu_seconds = process.cpu_seconds() - before;
        load
    }

    /// Sends each request once.
    pub(crate) async fn each_once(process: &Process, connections: usize, requests: &[Request]) -> Self {
        let before = process.cpu_seconds();
        let share = requests.len().div_ceil(connections);
        let mut running = JoinSet::new();
        for requests in requests.chunks(share) {
            let (address, requests) = (process.address.clone(), requests.to_vec());
            running.spawn(async move { send_requests(&address, None, requests.iter()).await });
        }
        let mut load = Self::gather(Instant::now(), running).await;
        load.cpu_seconds = process.cpu_seconds() - before;
        load
    }

    async fn measure(address: &str, connections: usize, duration: Duration, requests: &[Request]) -> Self {
        let started = Instant::now();
        let mut running = JoinSet::new();
        for offset in 0..connections {
            let (address, requests) = (address.to_owned(), requests.to_vec());
            let offset = offset * requests.len() / connections;
            running.spawn(async move {
                send_requests(&address, Some(started + duration), requests.iter().cycle().skip(offset)).await
            });
        }
        Self::gather(started, running).await
    }

    /// Collects the results of all connections.
    async fn gather(started: Instant, mut running: JoinSet<(Vec<Duration>, usize)>) -> Self {
        let mut load = Self { times: Vec::new(), elapsed: Duration::ZERO, failures: 0, cpu_seconds: 0.0 };
        while let Some(result) = running.join_next().await {
            let (times, failures) = result.unwrap();
            load.times.extend(times);
            load.failures += failures;
        }
        load.elapsed = started.elapsed();
        load.times.sort_unstable();
        load
    }

    /// Returns the number of responses.
    pub(crate) fn responses(&self) -> usize {
        self.times.len()
    }

    /// Returns the responses per second.
    #[expect(clippy::cast_precision_loss, reason = "only printed")]
    pub(crate) fn rate(&self) -> f64 {
        self.times.len() as f64 / self.elapsed.as_secs_f64()
    }

    /// Returns the CPU time of the process under test per response, in milliseconds.
    #[expect(clippy::cast_precision_loss, reason = "only printed")]
    pub(crate) fn cpu_ms(&self) -> f64 {
        self.cpu_seconds * 1e3 / self.times.len().max(1) as f64
    }

    /// Returns a percentile of the response times.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let index = (self.times.len() * percent / 100).min(self.times.len().saturating_sub(1));
        self.times.get(index).copied().unwrap_or_default()
    }
}

/// Sends the requests one after the other until `end`. Returns the response times, and the number of failures.
async fn send_requests<'a>(
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
        if !response_is_ok(&mut stream, &mut buffer).await {
            failures += 1;
        }
        times.push(started.elapsed());
    }
    (times, failures)
}

/// Reads a response and returns whether its status is 200.
async fn response_is_ok(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> bool {
    let mut filled = 0;
    loop {
        if filled == buffer.len() {
            buffer.resize(buffer.len() * 2, 0);
        }
        let read = stream.read(&mut buffer[filled..]).await.unwrap();
        assert!(read > 0, "the server closed a keep-alive connection");
        filled += read;
        let Some(head) = find(&buffer[..filled], b"\r\n\r\n") else { continue };
        if filled >= head + 4 + content_length(&buffer[..head]) {
            return buffer.starts_with(b"HTTP/1.1 200");
        }
    }
}

pub(crate) fn content_length(head: &[u8]) -> usize {
    let name = b"content-length: ";
    let Some(start) = find(head, name) else { return 0 };
    let digits = head[start + name.len()..].iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0, |length, digit| length * 10 + usize::from(digit - b'0'))
}

pub(crate) fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}
