//! Limits of the server, with clients that are slow, large, many or malformed.

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
/// Longer than the short limits, shorter than the default ones.
const SOON: Duration = Duration::from_secs(3);

#[tokio::test]
async fn slow_head_gets_408_and_close() {
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
    let mut response = String::new();
    tokio::select! {
        read = reader.read_to_string(&mut response) => { read.unwrap(); }
        () = drip => panic!("the server kept reading"),
    }
    assert!(response.starts_with("HTTP/1.1 408 "), "{response}");
    assert!(response.ends_with("\r\n\r\nslow 408"), "{response}");
}

#[tokio::test]
async fn slow_head_of_second_request_gets_408() {
    let config = ServerConfig { header_timeout: SHORT, idle_timeout: Duration::from_secs(60), ..loopback() };
    let server = serve(config, hello).await;
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a.test\r\n\r\n").await.unwrap();
    read_until(&mut stream, "hello").await;
    stream.write_all(b"GET / HT").await.unwrap();
    let response = timeout(SOON, read_until(&mut stream, "\r\n\r\n")).await.unwrap();
    assert!(response.starts_with("HTTP/1.1 408 "), "{response}");
}

#[tokio::test]
async fn silent_connection_is_closed() {
    let server = serve(ServerConfig { header_timeout: SHORT, ..loopback() }, hello).await;
    let response = timeout(SOON, converse(server.addr, b"")).await.unwrap();
    assert_eq!(response, "");
}

#[tokio::test]
async fn idle_connection_is_closed() {
    let server = serve(ServerConfig { idle_timeout: SHORT, ..loopback() }, hello).await;
    let response =
        timeout(SOON, converse(server.addr, b"GET / HTTP/1.1\r\nhost: a.test\r\n\r\n")).await.unwrap();
    assert!(response.ends_with("hello"), "{response}");
}

#[tokio::test]
async fn large_head_gets_431() {
    let server = serve(ServerConfig { max_header_bytes: 8192, max_headers: 20, ..loopback() }, hello).await;
    let long = format!("GET / HTTP/1.1\r\nhost: a.test\r\nx: {}\r\n\r\n", "x".repeat(100_000));
    let many = format!("GET / HTTP/1.1\r\nhost: a.test\r\n{}\r\n", "x: y\r\n".repeat(21));
    for request in [long, many] {
        let response = timeout(SOON, converse(server.addr, request.as_bytes())).await.unwrap();
        assert!(response.starts_with("HTTP/1.1 431 "), "{response}");
    }
    let fits =
        format!("GET / HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\nx: {}\r\n\r\n", "x".repeat(7000));
    assert!(converse(server.addr, fits.as_bytes()).await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn malformed_request_gets_400() {
    let server = serve(loopback(), hello).await;
    for request in ["\0\0\0\0\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nhost a.test\r\n\r\n"] {
        let mut stream = TcpStream::connect(server.addr).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let response = timeout(SOON, read_until(&mut stream, "\r\n\r\n")).await.unwrap();
        assert!(response.starts_with("HTTP/1.1 400 "), "{request:?}: {response}");
    }
}

#[tokio::test]
async fn ambiguous_framing_gets_400() {
    let server = serve(loopback(), echo).await;
    let both = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd";
    let odd = "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: xchunked\r\n\r\n0\r\n\r\n";
    for request in [both, odd] {
        let response = timeout(SOON, converse(server.addr, request.as_bytes())).await.unwrap();
        assert!(response.starts_with("HTTP/1.1 400 "), "{response}");
        assert_eq!(response.matches("HTTP/1.1").count(), 1, "{response}");
    }
}

#[tokio::test]
async fn client_that_writes_15_mb_first_gets_413() {
    let server = serve(loopback(), echo).await;
    let head = "POST / HTTP/1.1\r\nhost: a.test\r\ncontent-length: 15728640\r\n\r\n";
    let request = [head.as_bytes(), &vec![b'x'; 15 * 1024 * 1024]].concat();
    let response = timeout(SOON, converse(server.addr, &request)).await.unwrap();
    assert!(response.starts_with("HTTP/1.1 413 "), "{response}");
    assert!(response.contains("connection: close"), "{response}");
    assert!(response.ends_with("status 413"), "{response}");
}

#[tokio::test]
async fn chunked_body_above_the_limit_gets_413() {
    let server = serve(loopback(), echo).await;
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    let request = format!(
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n{}0\r\n\r\n",
        chunk.repeat(40)
    );
    let response = timeout(SOON, converse(server.addr, request.as_bytes())).await.unwrap();
    assert!(response.starts_with("HTTP/1.1 413 "), "{response}");
}

#[tokio::test]
async fn expect_continue_with_too_large_body_gets_413() {
    let server = serve(loopback(), echo).await;
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    let head = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 15728640\r\nexpect: 100-continue\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let response = timeout(SOON, read_until(&mut stream, "\r\n\r\n")).await.unwrap();
    assert!(response.starts_with("HTTP/1.1 413 "), "{response}");
}

#[tokio::test]
async fn body_at_the_limit_is_read() {
    let server = serve(loopback(), echo).await;
    let body = vec![b'x'; 1024 * 1024];
    let fetched = open_client().fetch(FetchRequest::post(server.url("/"), body.clone())).await.unwrap();
    assert_eq!((fetched.status.as_u16(), fetched.body), (200, body.into()));
}

#[tokio::test]
async fn slow_request_body_gets_408() {
    let server = serve(loopback(), echo).await;
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    stream.write_all(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nab").await.unwrap();
    let response = timeout(SOON, read_until(&mut stream, "\r\n\r\n")).await.unwrap();
    assert!(response.starts_with("HTTP/1.1 408 "), "{response}");
}

#[tokio::test]
async fn small_unread_body_keeps_the_connection_open() {
    let server = serve(loopback(), hello).await;
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    for _ in 0..3 {
        stream.write_all(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nab").await.unwrap();
        tokio::task::yield_now().await;
        stream.write_all(b"cde").await.unwrap();
        let response = timeout(SOON, read_until(&mut stream, "hello")).await.unwrap();
        assert!(!response.contains("connection: close"), "{response}");
    }
}

#[tokio::test]
async fn pipelined_requests_get_responses_in_order() {
    let count = Arc::new(AtomicUsize::new(0));
    let server = serve(loopback(), move |_| {
        let number = count.fetch_add(1, Ordering::SeqCst);
        async move { Response::new(Body::from(format!("<{number}>"))) }
    })
    .await;
    let request = "GET / HTTP/1.1\r\nhost: a\r\n\r\n".repeat(2)
        + "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    let response = converse(server.addr, request.as_bytes()).await;
    let order: Vec<_> = ["<0>", "<1>", "<2>"].iter().map(|text| response.find(text).unwrap()).collect();
    assert!(order.is_sorted(), "{response}");
}

#[tokio::test]
async fn connections_above_the_limit_wait_until_one_closes() {
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
    timeout(SHORT, read_until(&mut third, "hello")).await.expect_err("the connection limit was reached");
    drop(first);
    timeout(SOON, read_until(&mut third, "hello")).await.unwrap();
}

#[tokio::test]
async fn client_that_stops_reading_is_disconnected() {
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
    timeout(SOON, gone.notified()).await.expect("the body is dropped");
}

#[tokio::test]
async fn slow_but_steady_reader_gets_the_whole_body() {
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
async fn handler_gets_the_client_address() {
    let server = serve(loopback(), |request: Request<ServerBody>| async move {
        let peer = request.body().peer_addr();
        Response::new(Body::from(peer.to_string()))
    })
    .await;
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    let local = stream.local_addr().unwrap().to_string();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    timeout(SOON, read_until(&mut stream, &local)).await.unwrap();
    assert_eq!(open_client().fetch(get(server.url("/").as_str())).await.unwrap().status, 200);
}
