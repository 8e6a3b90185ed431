//! The syslog sink, with all transports.

use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use websvc_audit::{Sink, SyslogAddress};
use websvc_testkit::{Authority, FakeSyslog, until};
use websvc_transport::{AddressGuard, Client, ClientConfig};

use crate::support::{Delivering, client, distinct, number, record};

fn sink(address: &str) -> Sink {
    Sink::syslog(client(), address.parse().unwrap(), Some("machine.example"))
}

/// Parses a message (RFC 5424), and returns the number of its event.
#[track_caller]
fn read(message: &str) -> u32 {
    let fields: Vec<&str> = message.splitn(8, ' ').collect();
    let process = std::process::id().to_string();
    let event: Value = serde_json::from_str(fields[7]).unwrap();
    let time = event["time"].as_str().unwrap();
    assert_eq!(fields[..7], ["<110>1", time, "machine.example", "websvc", &process, "search", "-"]);
    number(&event)
}

fn numbers(receiver: &FakeSyslog) -> Vec<u32> {
    receiver.messages().iter().map(|message| read(message)).collect()
}

async fn check(receiver: FakeSyslog, sink: Sink) {
    let delivering = Delivering::start(vec![sink]);
    record(&delivering.audit, 0..20);
    receiver.wait_for_messages(20).await;
    record(&delivering.audit, 20..25);
    delivering.stop_and_wait().await;
    receiver.wait_for_messages(25).await;
    assert_eq!(numbers(&receiver), Vec::from_iter(0..25));
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_sent_over_tcp_with_octet_counting() {
    let receiver = FakeSyslog::tcp(0).await;
    let sink = sink(&format!("tcp://127.0.0.1:{}", receiver.port()));
    check(receiver, sink).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_sent_as_datagrams() {
    let receiver = FakeSyslog::udp().await;
    let sink = sink(&format!("udp://127.0.0.1:{}", receiver.port()));
    check(receiver, sink).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_sent_to_a_local_socket() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    let receiver = FakeSyslog::unix(&path);
    check(receiver, sink(path.to_str().unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_sent_over_tls_if_the_certificate_matches_the_host() {
    let dir = tempfile::tempdir().unwrap();
    let (authority, ca_file) = (Authority::new(), dir.path().join("ca.pem"));
    std::fs::write(&ca_file, authority.pem()).unwrap();
    let (certificate, key) = authority.issue(&["siem.test".to_owned()]);
    let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (accepted, streams) = mpsc::channel(4);
    let accepting = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            if let Ok(stream) = acceptor.accept(stream).await {
                accepted.send(stream).await.unwrap();
            }
        }
    });
    let guard = ["siem.test:6514", "other.test:6514"]
        .iter()
        .fold(AddressGuard::public(), |guard, from| guard.connect_to(from, &address).unwrap());
    let client = Client::new(ClientConfig { ca_file: Some(ca_file), ..ClientConfig::new(guard) }).unwrap();
    let sink = |address: &str| {
        let address: SyslogAddress = address.parse().unwrap();
        Sink::syslog(client.clone(), address, Some("machine.example"))
    };
    let error = sink("tls://other.test").check().await.unwrap_err();
    assert_eq!(error.to_string(), "TLS connection failed");
    check(FakeSyslog::from_streams(streams), sink("tls://siem.test")).await;
    accepting.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn restarted_receiver_gets_all_events_in_order() {
    let receiver = FakeSyslog::tcp(0).await;
    let port = receiver.port();
    let delivering = Delivering::start(vec![sink(&format!("tcp://127.0.0.1:{port}"))]);
    record(&delivering.audit, 0..10);
    receiver.wait_for_messages(10).await;
    let before = numbers(&receiver);
    receiver.stop().await;
    record(&delivering.audit, 10..200);
    until("the failure was noticed", || delivering.audit.metrics().sinks[0].failure.is_some()).await;
    let receiver = FakeSyslog::tcp(port).await;
    until("all events were delivered", || delivering.audit.metrics().sinks[0].backlog == 0).await;
    let all = distinct(before.into_iter().chain(numbers(&receiver)).collect());
    assert_eq!(all, Vec::from_iter(0..200));
    delivering.stop_and_wait().await;
}
