//! Fetches a URL repeatedly with plain hyper, one request at a time on one connection: the baseline of a live scrape.
//! Prints the median time and the CPU time of one GET, in milliseconds.

#![expect(clippy::print_stdout, reason = "the example prints its measurements")]

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Request;
use http::header::HOST;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use url::Url;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(server), Some(url), Some(seconds)) = (arguments.next(), arguments.next(), arguments.next())
    else {
        return Err("usage: plain_get SERVER URL SECONDS".into());
    };
    let (url, duration) = (Url::parse(&url)?, Duration::from_secs(seconds.parse()?));
    let stream = TcpStream::connect(server).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    let host = url.host_str().ok_or("a URL with a host")?;
    let (mut times, started, cpu) = (Vec::new(), Instant::now(), cpu_ms()?);
    while started.elapsed() < duration {
        let request = Request::get(url.path()).header(HOST, host).body(Empty::<Bytes>::new())?;
        let sent = Instant::now();
        sender.ready().await?;
        let response = sender.send_request(request).await?;
        if !response.status().is_success() {
            return Err(format!("{url} responded with {}", response.status()).into());
        }
        response.into_body().collect().await?;
        times.push(sent.elapsed());
    }
    let cpu = cpu_ms()? - cpu;
    drop(sender);
    connection.await??;
    times.sort_unstable();
    let median = times.get(times.len() / 2).ok_or("no GET was finished")?;
    #[expect(clippy::cast_precision_loss, reason = "a count of requests fits")]
    let count = times.len() as f64;
    println!("{:.4} {:.4}", median.as_secs_f64() * 1e3, cpu / count);
    Ok(())
}

/// Returns the CPU time of this thread, which does all the work.
fn cpu_ms() -> Result<f64, Box<dyn std::error::Error>> {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(schedstat.split(' ').next().unwrap_or_default().parse::<f64>()? / 1e6)
}
