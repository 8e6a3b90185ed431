//! Certificates: verified, not verified with a warning, and reloaded while the server runs.

use std::path::Path;
use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use websvc_testkit::{Authority, Page, TestWeb};
use websvc_transport::{
    AddressGuard, Client, ClientBuildError, ClientConfig, FetchError, FetchRequest, Server, ServerConfig,
    ServerError, TlsFiles, TlsPolicy,
};

use crate::support::{Running, client_of, get, hello, loopback, serve};

fn get_unverified(text: &str) -> FetchRequest {
    FetchRequest { tls: TlsPolicy::SkipVerification, ..get(text) }
}

async fn world() -> TestWeb {
    TestWeb::builder().page("https://a.test/", Page::text("secret")).start().await
}

#[tokio::test]
async fn trusted_certificate_is_accepted() {
    let world = world().await;
    let fetched = client_of(&world).fetch(get("https://a.test/")).await.unwrap();
    assert_eq!(fetched.body, "secret");
    assert!(fetched.warnings.is_empty());
    let fetched = client_of(&world).fetch(get_unverified("https://a.test/")).await.unwrap();
    assert!(fetched.warnings.is_empty(), "only a real problem is reported: {:?}", fetched.warnings);
}

#[tokio::test]
async fn unknown_issuer_is_an_error_or_a_warning() {
    let world = world().await;
    let client = Client::new(ClientConfig::new(world.guard())).unwrap();
    for _ in 0..2 {
        // An unverified connection must not stay in the pool for a fetch that verifies.
        let fetched = client.fetch(get_unverified("https://a.test/")).await.unwrap();
        let warning = "the certificate of a.test was not verified: the certificate's issuer is not trusted";
        assert_eq!(fetched.warnings, [warning]);
        let error = client.fetch(get("https://a.test/")).await.unwrap_err();
        assert!(matches!(error, FetchError::Tls { .. }), "{error:?}");
        let text = "no secure connection to a.test: the certificate's issuer is not trusted";
        assert_eq!(error.to_string(), text);
    }
    assert_eq!(world.requests().len(), 2);
}

#[tokio::test]
async fn certificate_of_another_host_is_an_error_or_a_warning() {
    let world = world().await;
    let error = client_of(&world).fetch(get("https://b.test/")).await.unwrap_err();
    assert_eq!(error.to_string(), "no secure connection to b.test: the certificate is for another host");
    let fetched = client_of(&world).fetch(get_unverified("https://b.test/")).await.unwrap();
    assert_eq!(fetched.warnings.len(), 1);
}

#[tokio::test]
async fn server_without_tls_is_a_tls_error() {
    let server = serve(loopback(), hello).await;
    let guard = AddressGuard::public().connect_to("a.test:443", &server.addr.to_string()).unwrap();
    let client = Client::new(ClientConfig::new(guard)).unwrap();
    let error = client.fetch(get("https://a.test/")).await.unwrap_err();
    assert!(matches!(error, FetchError::Tls { .. }), "{error:?}");
}

#[test]
fn ca_file_without_certificates_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let empty = dir.path().join("empty.pem");
    std::fs::write(&empty, "nothing here").unwrap();
    for path in [empty, dir.path().join("missing.pem")] {
        let config =
            ClientConfig { ca_file: Some(path.clone()), ..ClientConfig::new(AddressGuard::public()) };
        let error = Client::new(config).unwrap_err();
        let ClientBuildError::CaFile { path: named, .. } = error else { panic!("{error}") };
        assert_eq!(named, path);
    }
}

#[tokio::test]
async fn key_of_another_certificate_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    authority.issue_into(dir.path(), &["a.test".to_owned()]);
    std::fs::write(dir.path().join("key.pem"), authority.issue(&["a.test".to_owned()]).1).unwrap();
    let tls = TlsFiles { cert: dir.path().join("cert.pem"), key: dir.path().join("key.pem") };
    let error = Server::bind(ServerConfig { tls: Some(tls), ..loopback() }).await.unwrap_err();
    assert!(matches!(error, ServerError::Tls { .. }), "{error:?}");
}

#[test]
fn validity_has_the_end_of_the_certificate() {
    let dir = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let (cert, key) = authority.issue_until(&["a.test".to_owned()], (2031, 3, 1));
    std::fs::write(dir.path().join("cert.pem"), cert + authority.pem()).unwrap();
    std::fs::write(dir.path().join("key.pem"), key).unwrap();
    let tls = TlsFiles { cert: dir.path().join("cert.pem"), key: dir.path().join("key.pem") };
    assert_eq!(*tls.validity().unwrap().end(), 1_930_089_600);

    std::fs::write(dir.path().join("key.pem"), authority.issue(&["a.test".to_owned()]).1).unwrap();
    let error = tls.validity().unwrap_err();
    assert!(matches!(error, ServerError::Tls { .. }), "{error:?}");
}

#[tokio::test]
async fn endless_handshake_is_closed() {
    let (dir, _authority, server) = tls_server(Duration::from_millis(150)).await;
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    let mut end = Vec::new();
    tokio::time::timeout(Duration::from_secs(3), stream.read_to_end(&mut end)).await.unwrap().unwrap();
    drop(dir);
}

async fn tls_server(tls_handshake_timeout: Duration) -> (tempfile::TempDir, Authority, Running) {
    let dir = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    authority.issue_into(dir.path(), &["old.test".to_owned()]);
    std::fs::write(dir.path().join("ca.pem"), authority.pem()).unwrap();
    let tls = TlsFiles { cert: dir.path().join("cert.pem"), key: dir.path().join("key.pem") };
    let server = serve(ServerConfig { tls: Some(tls), tls_handshake_timeout, ..loopback() }, hello).await;
    (dir, authority, server)
}

/// Fetches on a new connection.
async fn fetch(dir: &Path, server: &Running, host: &str) -> Result<(), FetchError> {
    let guard = AddressGuard::public().connect_to(&format!("{host}:443"), &server.addr.to_string()).unwrap();
    let config = ClientConfig { ca_file: Some(dir.join("ca.pem")), ..ClientConfig::new(guard) };
    Client::new(config).unwrap().fetch(get(&format!("https://{host}/"))).await.map(drop)
}

#[tokio::test]
async fn changed_certificate_is_reloaded_if_valid() {
    let (dir, authority, server) = tls_server(Duration::from_secs(5)).await;
    let dir = dir.path();
    fetch(dir, &server, "old.test").await.unwrap();

    std::fs::write(dir.join("cert.pem"), "not a certificate").unwrap();
    tokio::time::sleep(Duration::from_millis(1100)).await;
    fetch(dir, &server, "old.test").await.expect("the old certificate stays");

    authority.issue_into(dir, &["new.test".to_owned()]);
    let started = Instant::now();
    while let Err(error) = fetch(dir, &server, "new.test").await {
        assert!(started.elapsed() < Duration::from_secs(5), "{error}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    fetch(dir, &server, "old.test").await.expect_err("the old certificate is gone");
}
