//! Tests of the server with clients that are slow, large, many or malformed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use http::{Request, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::timeout;
use websvc_transport::{Body, FetchRequest, ServerBody, ServerConfig};

use crate::support::{converse, echo, get, hello, loopback, open_client, read_until, serve};

const SHORT: Duration = Duration::from_millis(200);
/// More than any of the short limits, less than a default.
const SOON: Duration = Duration::from_secs(3);

#[tokio::test]
async fn a_slow_head_is_answered_408_and_closed() {
    let config = ServerConfig { header_timeout: SHORT, ..loopback() };
    let config =
        config.with_error_reply(|status| Response::new(Body::from(format!("slow {}", status.as_u16()))));
    let server = serve(config, hello).await;
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    let (mut reader, mut writer) = stream.split();
    let drip = async {
        let started = Instant::now();
        for byte in b"GET / HTTP/1.1\r\nhost: a.test\r\nx-slow: ".iter().chain(std::iter::repeat(&b'x')) {
            if writer.write_all(&[*byte]).await.is_err() || started.elapsed() > SOON {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let mut answer = String::new();
    tokio::select! {
        read = reader.read_to_string(&mut answer) => { read.unwrap(); }
        () = drip => panic!("the server went on listening"),
    }
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(answer.ends_with("\r\n\r\nslow 408"), "{answer}");
}

#[tokio::test]
async fn a_slow_second_head_is_closed_too() {
    let config = ServerConfig { header_timeout: SHORT, idle_timeout: Duration::from_secs(60), ..loopback() };
    let server = serve(config, hello).await;
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a.test\r\n\r\n").await.unwrap();
    read_until(&mut stream, "hello").await;
    stream.write_all(b"GET / HT").await.unwrap();
    let answer = timeout(SOON, read_until(&mut stream, "\r\n\r\n")).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
}

#[tokio::test]
async fn a_silent_connection_is_closed() {
    let server = serve(ServerConfig { header_timeout: SHORT, ..loopback() }, hello).await;
    let answer = timeout(SOON, converse(server.addr, b"")).await.unwrap();
    assert_eq!(answer, "");
}

#[tokio::test]
async fn an_idle_connection_is_closed() {
    let server = serve(ServerConfig { idle_timeout: SHORT, ..loopback() }, hello).await;
    let answer =
        timeout(SOON, converse(server.addr, b"GET / HTTP/1.1\r\nhost: a.test\r\n\r\n")).await.unwrap();
    assert!(answer.ends_with("hello"), "{answer}");
}

#[tokio::test]
async fn large_heads_are_answered_431() {
    let server = serve(ServerConfig { max_header_bytes: 8192, max_headers: 20, ..loopback() }, hello).await;
    let long = format!("GET / HTTP/1.1\r\nhost: a.test\r\nx: {}\r\n\r\n", "x".repeat(100_000));
    let many = format!("GET / HTTP/1.1\r\nhost: a.test\r\n{}\r\n", "x: y\r\n".repeat(21));
    for request in [long, many] {
        let answer = timeout(SOON, converse(server.addr, request.as_bytes())).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    }
    let fits =
        format!("GET / HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\nx: {}\r\n\r\n", "x".repeat(7000));
    assert!(converse(server.addr, fits.as_bytes()).await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn nonsense_is_answered_400() {
    let server = serve(loopback(), hello).await;
    for request in ["\0\0\0\0\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nhost a.test\r\n\r\n"] {
        let mut stream = TcpStream::connect(server.addr).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let answer = timeout(SOON, read_until(&mut stream, "\r\n\r\n")).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 400 "), "{request:?}: {answer}");
    }
}

#[tokio::test]
async fn ambiguous_framing_is_refused() {
    let server = serve(loopback(), echo).await;
    let both = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd";
    let odd = "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: xchunked\r\n\r\n0\r\n\r\n";
    for request in [both, odd] {
        let answer = timeout(SOON, converse(server.addr, request.as_bytes())).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
        assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{answer}");
    }
}

#[tokio::test]
async fn a_client_that_writes_15_mb_first_gets_its_413() {
    let server = serve(loopback(), echo).await;
    let head = "POST / HTTP/1.1\r\nhost: a.test\r\ncontent-length: 15728640\r\n\r\n";
    let request = [head.as_bytes(), &vec![b'x'; 15 * 1024 * 1024]].concat();
    let answer = timeout(SOON, converse(server.addr, &request)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains("connection: close"), "{answer}");
    assert!(answer.ends_with("status 413"), "{answer}");
}

#[tokio::test]
async fn a_chunked_body_is_cut_at_the_limit() {
    let server = serve(loopback(), echo).await;
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    let request = format!(
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n{}0\r\n\r\n",
        chunk.repeat(40)
    );
    let answer = timeout(SOON, converse(server.addr, request.as_bytes())).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
}

#[tokio::test]
async fn a_body_that_was_announced_too_large_is_not_asked_for() {
    let server = serve(loopback(), echo).await;
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    let head = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 15728640\r\nexpect: 100-continue\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let answer = timeout(SOON, read_until(&mut stream, "\r\n\r\n")).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
}

#[tokio::test]
async fn a_body_up_to_the_limit_is_read() {
    let server = serve(loopback(), echo).await;
    let body = vec![b'x'; 1024 * 1024];
    let fetched = open_client().fetch(FetchRequest::post(server.url("/"), body.clone())).await.unwrap();
    assert_eq!((fetched.status.as_u16(), fetched.body), (200, body.into()));
}

#[tokio::test]
async fn a_slow_body_times_out() {
    let server = serve(loopback(), echo).await;
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    stream.write_all(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nab").await.unwrap();
    let answer = timeout(SOON, read_until(&mut stream, "\r\n\r\n")).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
}

#[tokio::test]
async fn a_small_body_nobody_reads_does_not_cost_the_connection() {
    let server = serve(loopback(), hello).await;
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    for _ in 0..3 {
        stream.write_all(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nab").await.unwrap();
        tokio::task::yield_now().await;
        stream.write_all(b"cde").await.unwrap();
        let answer = timeout(SOON, read_until(&mut stream, "hello")).await.unwrap();
        assert!(!answer.contains("connection: close"), "{answer}");
    }
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let count = Arc::new(AtomicUsize::new(0));
    let server = serve(loopback(), move |_| {
        let number = count.fetch_add(1, Ordering::SeqCst);
        async move { Response::new(Body::from(format!("<{number}>"))) }
    })
    .await;
    let request = "GET / HTTP/1.1\r\nhost: a\r\n\r\n".repeat(2)
        + "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    let answer = converse(server.addr, request.as_bytes()).await;
    let order: Vec<_> = ["<0>", "<1>", "<2>"].iter().map(|text| answer.find(text).unwrap()).collect();
    assert!(order.is_sorted(), "{answer}");
}

#[tokio::test]
async fn connections_above_the_limit_wait_for_a_place() {
    let server = serve(ServerConfig { max_connections: 2, ..loopback() }, hello).await;
    let request = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n";
    let mut first = TcpStream::connect(server.addr).await.unwrap();
    let mut second = TcpStream::connect(server.addr).await.unwrap();
    for stream in [&mut first, &mut second] {
        stream.write_all(request).await.unwrap();
        read_until(stream, "hello").await;
    }
    let mut third = TcpStream::connect(server.addr).await.unwrap();
    third.write_all(request).await.unwrap();
    timeout(SHORT, read_until(&mut third, "hello")).await.expect_err("there was no place");
    drop(first);
    timeout(SOON, read_until(&mut third, "hello")).await.unwrap();
}

#[tokio::test]
async fn a_client_that_takes_no_answer_is_dropped() {
    let gone = Arc::new(Notify::new());
    let notice = Arc::clone(&gone);
    let server = serve(ServerConfig { write_stall_timeout: SHORT, ..loopback() }, move |_| {
        let notice = Arc::clone(&notice);
        async move {
            let (sender, body) = Body::channel(1);
            tokio::spawn(async move {
                while sender.send(vec![0; 64 * 1024]).await.is_ok() {}
                notice.notify_one();
            });
            Response::new(body)
        }
    })
    .await;
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    timeout(SOON, gone.notified()).await.expect("the body is given up");
}

#[tokio::test]
async fn a_slow_but_steady_reader_gets_everything() {
    let config = ServerConfig { write_stall_timeout: SHORT, idle_timeout: SHORT, ..loopback() };
    let server = serve(config, |_| async { Response::new(Body::from(vec![b'x'; 20_000_000])) }).await;
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await.unwrap();
    let (mut total, mut buffer) = (0, vec![0; 1_000_000]);
    loop {
        let n = stream.read(&mut buffer).await.unwrap();
        if n == 0 {
            break;
        }
        total += n;
        tokio::time::sleep(Duration::from_millis(15)).await;
    }
    assert!(total > 20_000_000, "{total}");
}

#[tokio::test]
async fn the_handler_knows_the_client() {
    let server = serve(loopback(), |request: Request<ServerBody>| async move {
        let peer = request.body().peer_addr();
        Response::new(Body::from(peer.to_string()))
    })
    .await;
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    let own = stream.local_addr().unwrap().to_string();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    timeout(SOON, read_until(&mut stream, &own)).await.unwrap();
    assert_eq!(open_client().fetch(get(server.url("/").as_str())).await.unwrap().status, 200);
}
