//! Messages of syslog, by every way.

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

/// Reads a message as RFC 5424 has it, and returns the number of its event.
#[track_caller]
fn read(message: &str) -> u32 {
    let fields: Vec<&str> = message.splitn(8, ' ').collect();
    let process = std::process::id().to_string();
    let event: Value = serde_json::from_str(fields[7]).unwrap();
    let time = event["time"].as_str().unwrap();
    assert_eq!(fields[..7], ["<110>1", time, "machine.example", "websvc", &process, "search", "-"]);
    number(&event)
}

fn numbers(stand_in: &FakeSyslog) -> Vec<u32> {
    stand_in.messages().iter().map(|message| read(message)).collect()
}

async fn check(stand_in: FakeSyslog, sink: Sink) {
    let delivering = Delivering::start(vec![sink]);
    record(&delivering.audit, 0..20);
    stand_in.wait_for_messages(20).await;
    record(&delivering.audit, 20..25);
    delivering.end().await;
    stand_in.wait_for_messages(25).await;
    assert_eq!(numbers(&stand_in), Vec::from_iter(0..25));
}

#[tokio::test(flavor = "multi_thread")]
async fn events_go_over_tcp_with_their_length_before_them() {
    let stand_in = FakeSyslog::tcp(0).await;
    let sink = sink(&format!("tcp://127.0.0.1:{}", stand_in.port()));
    check(stand_in, sink).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_go_as_datagrams() {
    let stand_in = FakeSyslog::udp().await;
    let sink = sink(&format!("udp://127.0.0.1:{}", stand_in.port()));
    check(stand_in, sink).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_go_to_a_socket_of_this_machine() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    let stand_in = FakeSyslog::unix(&path);
    check(stand_in, sink(path.to_str().unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_go_over_tls_to_whom_the_certificate_is_for() {
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
    let refused = sink("tls://other.test").check().await.unwrap_err();
    assert_eq!(refused.to_string(), "there is no secure connection to it");
    check(FakeSyslog::from_streams(streams), sink("tls://siem.test")).await;
    accepting.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_goes_and_comes_back_gets_everything_in_order() {
    let stand_in = FakeSyslog::tcp(0).await;
    let port = stand_in.port();
    let delivering = Delivering::start(vec![sink(&format!("tcp://127.0.0.1:{port}"))]);
    record(&delivering.audit, 0..10);
    stand_in.wait_for_messages(10).await;
    let first = numbers(&stand_in);
    stand_in.stop().await;
    record(&delivering.audit, 10..200);
    until("that was noticed", || delivering.audit.report().sinks[0].failure.is_some()).await;
    let stand_in = FakeSyslog::tcp(port).await;
    until("everything was delivered", || delivering.audit.report().sinks[0].backlog == 0).await;
    let all = distinct(first.into_iter().chain(numbers(&stand_in)).collect());
    assert_eq!(all, Vec::from_iter(0..200));
    delivering.end().await;
}
