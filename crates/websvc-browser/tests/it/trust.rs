//! Whose certificates pages may have: the system's authorities, those of the operator's file, and no others.

use std::path::PathBuf;

use websvc_browser::{Browser, BrowserConfig, BrowserError, RenderRequest, RenderedPage};
use websvc_testkit::{Authority, Page, TestWeb, TestWebBuilder};
use websvc_transport::{AddressGuard, Body, Client, ClientConfig, Server, ServerConfig, TlsFiles, TlsPolicy};

use crate::support::{Stage, config, request, stage_with};

fn world() -> TestWebBuilder {
    TestWeb::builder().page("https://a.test/", Page::html("<p>words of a secure page</p>"))
}

/// Starts a world whose authority is the one of `ca_file`, or of its own file.
async fn trusting(ca_file: impl FnOnce(&TestWeb) -> PathBuf) -> Option<Stage> {
    let config = config()?;
    // Where the program looks for it.
    let folders = std::env::var_os("PATH").unwrap_or_default();
    if !std::env::split_paths(&folders).any(|folder| folder.join("certutil").is_file()) {
        websvc_testkit::skip("there is no certutil (libnss3-tools)");
        return None;
    }
    let world = world().start().await;
    let config = BrowserConfig { ca_file: Some(ca_file(&world)), ..config };
    Some(Stage::of(world, config))
}

fn is_mistrusted(outcome: &Result<RenderedPage, BrowserError>) -> bool {
    matches!(outcome, Err(BrowserError::Navigation { reason, .. }) if reason.contains("certificate"))
}

#[tokio::test]
async fn the_authority_of_the_operators_file_is_trusted() {
    let Some(stage) = trusting(TestWeb::ca_file).await else { return };
    let rendered = stage.render("https://a.test/").await;
    assert!(rendered.html.contains("words of a secure page") && !rendered.unverified, "{rendered:?}");
    assert_eq!(stage.browser.health().failure, None);
    stage.browser.stop().await;
}

#[tokio::test]
async fn another_authority_is_not_trusted_with_a_file_and_without() {
    let other = world().start().await;
    if let Some(stage) = trusting(|_| other.ca_file()).await {
        let refused = stage.open(&request("https://a.test/")).await;
        assert!(is_mistrusted(&refused), "{refused:?}");
        stage.browser.stop().await;
    }
    let Some(config) = config() else { return };
    let stage = stage_with(world(), config).await.unwrap();
    let refused = stage.open(&request("https://a.test/")).await;
    assert!(is_mistrusted(&refused), "{refused:?}");
    stage.browser.stop().await;
}

#[tokio::test]
async fn a_chain_that_only_shows_the_trusted_authority_is_not_trusted() {
    let Some(stage) = trusting(TestWeb::ca_file).await else { return };
    // A certificate of somebody else's, followed by that of the authority which is trusted.
    let (certificate, key) = Authority::new().issue(&["a.test".to_owned()]);
    let files = tempfile::tempdir().unwrap();
    let tls = TlsFiles { cert: files.path().join("chain.pem"), key: files.path().join("key.pem") };
    std::fs::write(&tls.cert, certificate + stage.world.authority().pem()).unwrap();
    std::fs::write(&tls.key, key).unwrap();
    let server = ServerConfig { tls: Some(tls), ..ServerConfig::new("127.0.0.1:0") };
    let server = Server::bind(server).await.unwrap();
    let guard = AddressGuard::public().connect_to("a.test:443", &server.local_addr().to_string()).unwrap();
    let answer = |_| async { http::Response::new(Body::from("<p>words of an impostor</p>")) };
    let serving = tokio::spawn(server.run(answer, std::future::pending()));
    let config = BrowserConfig { ca_file: Some(stage.world.ca_file()), ..config().unwrap() };
    let browser = Browser::new(config, Client::new(ClientConfig::new(guard)).unwrap());
    let refused = browser.render(&request("https://a.test/")).await;
    assert!(is_mistrusted(&refused), "{refused:?}");
    let unchecked = RenderRequest { tls: TlsPolicy::SkipVerification, ..request("https://a.test/") };
    assert!(browser.render(&unchecked).await.unwrap().html.contains("an impostor"), "the server does answer");
    browser.stop().await;
    serving.abort();
}
