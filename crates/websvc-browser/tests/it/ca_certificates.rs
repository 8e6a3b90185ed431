//! Trusted certificates: those of the system, those of the configured file, and no others.

use std::path::PathBuf;

use websvc_browser::{Browser, BrowserConfig, BrowserError, RenderRequest, RenderedPage};
use websvc_testkit::{Authority, Page, TestWeb, TestWebBuilder};
use websvc_transport::{AddressGuard, Body, Client, ClientConfig, Server, ServerConfig, TlsFiles, TlsPolicy};

use crate::support::{Setup, config, request, setup_with};

fn web() -> TestWebBuilder {
    TestWeb::builder().page("https://a.test/", Page::html("<p>words of a secure page</p>"))
}

/// Starts an HTTPS web and a browser that trusts the file returned by `ca_file`.
async fn trusting(ca_file: impl FnOnce(&TestWeb) -> PathBuf) -> Option<Setup> {
    let config = config()?;
    // The browser searches the same directories.
    let directories = std::env::var_os("PATH").unwrap_or_default();
    if !std::env::split_paths(&directories).any(|directory| directory.join("certutil").is_file()) {
        websvc_testkit::skip("certutil is not installed (libnss3-tools)");
        return None;
    }
    let web = web().start().await;
    let config = BrowserConfig { ca_file: Some(ca_file(&web)), ..config };
    Some(Setup::new(web, config))
}

fn is_untrusted(outcome: &Result<RenderedPage, BrowserError>) -> bool {
    matches!(outcome, Err(BrowserError::Navigation { reason, .. }) if reason.contains("certificate"))
}

#[tokio::test]
async fn certificate_of_the_configured_authority_is_trusted() {
    let Some(setup) = trusting(TestWeb::ca_file).await else { return };
    let rendered = setup.render("https://a.test/").await;
    assert!(rendered.html.contains("words of a secure page") && !rendered.unverified, "{rendered:?}");
    assert_eq!(setup.browser.health().failure, None);
    setup.browser.stop().await;
}

#[tokio::test]
async fn certificate_of_another_authority_is_not_trusted() {
    let other = web().start().await;
    if let Some(setup) = trusting(|_| other.ca_file()).await {
        let refused = setup.open(&request("https://a.test/")).await;
        assert!(is_untrusted(&refused), "{refused:?}");
        setup.browser.stop().await;
    }
    let Some(config) = config() else { return };
    let setup = setup_with(web(), config).await.unwrap();
    let refused = setup.open(&request("https://a.test/")).await;
    assert!(is_untrusted(&refused), "{refused:?}");
    setup.browser.stop().await;
}

#[tokio::test]
async fn chain_not_signed_by_the_authority_that_it_contains_is_not_trusted() {
    let Some(setup) = trusting(TestWeb::ca_file).await else { return };
    // A certificate of another authority, followed by that of the trusted authority, which did not sign it.
    let (certificate, key) = Authority::new().issue(&["a.test".to_owned()]);
    let files = tempfile::tempdir().unwrap();
    let tls = TlsFiles { cert: files.path().join("chain.pem"), key: files.path().join("key.pem") };
    std::fs::write(&tls.cert, certificate + setup.web.authority().pem()).unwrap();
    std::fs::write(&tls.key, key).unwrap();
    let server = ServerConfig { tls: Some(tls), ..ServerConfig::new("127.0.0.1:0") };
    let server = Server::bind(server).await.unwrap();
    let guard = AddressGuard::public().connect_to("a.test:443", &server.local_addr().to_string()).unwrap();
    let handler = |_| async { http::Response::new(Body::from("<p>words of an impostor</p>")) };
    let serving = tokio::spawn(server.run(handler, std::future::pending()));
    let config = BrowserConfig { ca_file: Some(setup.web.ca_file()), ..config().unwrap() };
    let browser = Browser::new(config, Client::new(ClientConfig::new(guard)).unwrap());
    let refused = browser.render(&request("https://a.test/")).await;
    assert!(is_untrusted(&refused), "{refused:?}");
    let unchecked = RenderRequest { tls: TlsPolicy::SkipVerification, ..request("https://a.test/") };
    assert!(browser.render(&unchecked).await.unwrap().html.contains("an impostor"), "the server responds");
    browser.stop().await;
    serving.abort();
}
