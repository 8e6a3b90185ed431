//! Tests of `server.metrics_listen`: metrics on a separate address, without a key.

use std::path::Path;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use websvc_testkit::TestWeb;

use crate::harness::{KEY, Service, Site};

/// Returns the address of the metrics listener from the log.
async fn metrics_address(log: &Path) -> String {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let text = std::fs::read_to_string(log).unwrap();
        let line = text.lines().find(|line| line.contains("serving metrics without a key"));
        let address = line.and_then(|line| line.split("address").nth(1)).map(|rest| {
            let is_part = |byte: &char| byte.is_ascii_digit() || matches!(byte, '.' | ':');
            rest.chars().skip_while(|byte| !byte.is_ascii_digit()).take_while(is_part).collect::<String>()
        });
        if let Some(address) = address {
            return address;
        }
        assert!(Instant::now() < deadline, "the log does not contain the address: {text}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn get(address: &str, path: &str, headers: &str) -> String {
    let mut connection = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}\r\n");
    connection.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    connection.read_to_string(&mut response).await.unwrap();
    response
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_listener_serves_metrics_and_health_only() {
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    let log = site.data_dir().join("log");
    let mut command = site.command(&["serve", "--listen", "0.0.0.0:0"]);
    command.env("WEBSVC_API_KEY", KEY).env("WEBSVC_LOG_FORMAT", "json");
    command.env("WEBSVC__SERVER__METRICS_LISTEN", "127.0.0.1:0");
    let service = Service::start_logging(&mut command, &log);
    let public = service.address.strip_prefix("http://").unwrap().to_owned();
    let metrics = metrics_address(&log).await;
    let bearer = format!("authorization: Bearer {KEY}\r\n");
    for (address, path, headers, expected) in [
        (&public, "/metrics", "", "401"),
        (&public, "/metrics", &*bearer, "200"),
        (&metrics, "/metrics", "", "200"),
        (&metrics, "/health", "", "200"),
        (&metrics, "/v2/index/stats", &*bearer, "404"),
        (&metrics, "/", "", "404"),
    ] {
        let response = get(address, path, headers).await;
        assert_eq!(response.split(' ').nth(1), Some(expected), "{address} {path}: {response}");
    }
    assert!(service.stop().success());
}
