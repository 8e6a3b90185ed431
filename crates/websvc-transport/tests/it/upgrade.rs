//! Upgrades of the client: the request, the resulting stream, and the address guard.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderValue, StatusCode};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use websvc_testkit::{Authority, Canary, Page, TestWeb};
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchError, Tunnel, Upgrade, UpgradeRequest};

use crate::support::url;

fn request(address: &str) -> UpgradeRequest {
    let mut headers = HeaderMap::new();
    headers.insert("x-key", HeaderValue::from_static("1"));
    UpgradeRequest { url: url(address), protocol: "echo", headers, timeout: Duration::from_secs(10) }
}

fn client(guard: AddressGuard) -> Client {
    Client::new(ClientConfig::new(guard)).unwrap()
}

/// Responds to one request with 101 and an echo of four bytes. Returns the head of the request in lower case.
async fn respond(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    // The first bytes of the new protocol may arrive with the response.
    let response =
        "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\nx-said: 2\r\n\r\nhello ";
    stream.write_all(response.as_bytes()).await.unwrap();
    let mut four = [0; 4];
    stream.read_exact(&mut four).await.unwrap();
    stream.write_all(&four).await.unwrap();
    stream.shutdown().await.unwrap();
    String::from_utf8(head).unwrap().to_ascii_lowercase()
}

async fn echo(mut tunnel: Tunnel) -> String {
    tunnel.write_all(b"echo").await.unwrap();
    let mut received = String::new();
    tunnel.read_to_string(&mut received).await.unwrap();
    received
}

#[tokio::test]
async fn upgrade_returns_a_stream_in_both_directions() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let server = tokio::spawn(async move { respond(listener.accept().await.unwrap().0).await });
    let request = request(&format!("http://me:secret@{addr}/a?b=c#d"));
    let upgrade = client(AddressGuard::open()).upgrade(request).await.unwrap();
    let Upgrade::Switched { headers, tunnel, local_addr, remote_addr } = upgrade else {
        panic!("{upgrade:?}")
    };
    assert_eq!(headers["x-said"], "2");
    assert_eq!((remote_addr, local_addr.ip()), (addr, addr.ip()));
    assert_eq!(echo(tunnel).await, "hello echo");
    let head = server.await.unwrap();
    for line in
        ["get /a?b=c http/1.1", "upgrade: echo", "connection: upgrade", "x-key: 1", "authorization: basic "]
    {
        assert!(head.contains(line), "{line}: {head}");
    }
    assert!(head.contains(&format!("host: {addr}\r\n")) && !head.contains("secret"), "{head}");
}

#[tokio::test]
async fn upgrade_works_over_tls() {
    let authority = Authority::new();
    let (certificate, key) = authority.issue(&["localhost".to_owned()]);
    let chain = CertificateDer::pem_slice_iter(certificate.as_bytes()).map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = tokio::spawn(async move {
        let stream = acceptor.accept(listener.accept().await.unwrap().0).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]), "HTTP/2 has no upgrades");
        respond(stream).await
    });
    let folder = tempfile::tempdir().unwrap();
    let ca_file = folder.path().join("ca.pem");
    std::fs::write(&ca_file, authority.pem()).unwrap();
    let mut trusting = ClientConfig::new(AddressGuard::open());
    trusting.ca_file = Some(ca_file);
    let request = request(&format!("https://localhost:{port}/"));
    let upgrade = Client::new(trusting).unwrap().upgrade(request).await.unwrap();
    let Upgrade::Switched { tunnel, .. } = upgrade else { panic!("{upgrade:?}") };
    assert_eq!(echo(tunnel).await, "hello echo");
    server.await.unwrap();
}

#[tokio::test]
async fn response_other_than_101_is_refused_with_its_status() {
    let world = TestWeb::builder().page("http://a.test/x", Page::text("plain")).start().await;
    for (path, expected) in [("x", StatusCode::OK), ("y", StatusCode::NOT_FOUND)] {
        let upgrade = world.client().upgrade(request(&format!("http://a.test/{path}"))).await.unwrap();
        let Upgrade::Refused { status, remote_addr } = upgrade else { panic!("{upgrade:?}") };
        assert_eq!((status, remote_addr), (expected, world.http_addr()));
    }
    let unknown = world.client().upgrade(request("https://a.test/x")).await;
    assert!(matches!(unknown, Err(FetchError::Tls { .. })), "{unknown:?}");
}

#[tokio::test]
async fn upgrade_to_a_forbidden_address_makes_no_connection() {
    let canary = Canary::start().await;
    let refused =
        client(AddressGuard::public()).upgrade(request(&format!("http://{}/", canary.addr()))).await;
    assert!(matches!(refused, Err(FetchError::Forbidden)), "{refused:?}");
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn silent_server_times_out_the_upgrade() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let impatient = UpgradeRequest { timeout: Duration::from_millis(50), ..request(&address) };
    let late = client(AddressGuard::open()).upgrade(impatient).await;
    assert!(matches!(late, Err(FetchError::Timeout { .. })), "{late:?}");
}
