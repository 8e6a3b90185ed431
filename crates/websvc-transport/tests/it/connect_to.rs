//! The rules that connect hosts to other addresses.

use websvc_testkit::{Page, TestWeb};
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchError, GuardError};

use crate::support::get;

async fn world(name: &str) -> TestWeb {
    TestWeb::builder()
        .page_with("http://any.test/", {
            let name = name.to_owned();
            move |_| Page::text(name.clone())
        })
        .start()
        .await
}

#[tokio::test]
async fn most_specific_rule_wins_in_any_order() {
    let hosts = ["any.test", "a.example.test", "b.a.example.test", "exact.example.test"];
    let mut worlds = Vec::new();
    for name in ["every", "suffix", "longer suffix", "exact"] {
        let builder = hosts.iter().fold(TestWeb::builder(), |builder, host| {
            builder.page(&format!("http://{host}/"), Page::text(name))
        });
        worlds.push(builder.start().await);
    }
    let patterns = ["*:80", "*.example.test:80", "*.a.example.test:80", "EXACT.example.test:80"];
    for order in [[0, 1, 2, 3], [3, 2, 1, 0]] {
        let guard = order.into_iter().fold(AddressGuard::public(), |guard, i| {
            guard.connect_to(patterns[i], &worlds[i].http_addr().to_string()).unwrap()
        });
        let client = Client::new(ClientConfig::new(guard)).unwrap();
        for (host, expected) in hosts.into_iter().zip(["every", "suffix", "longer suffix", "exact"]) {
            let fetched = client.fetch(get(&format!("http://{host}/"))).await.unwrap();
            assert_eq!(fetched.body, expected, "{host}");
        }
    }
}

#[tokio::test]
async fn mapped_host_stays_in_the_request() {
    let world = world("here").await;
    let guard = AddressGuard::public().connect_to("any.test:8080", &world.http_addr().to_string()).unwrap();
    let client = Client::new(ClientConfig::new(guard)).unwrap();
    let fetched = client.fetch(get("http://any.test:8080/")).await.unwrap();
    assert_eq!(world.requests()[0].header("host"), Some("any.test:8080"));
    assert_eq!(fetched.remote_addr, world.http_addr());
    assert_eq!(fetched.url.as_str(), "http://any.test:8080/");
}

#[tokio::test]
async fn rule_can_map_to_a_name() {
    let world = world("here").await;
    let to = format!("localhost:{}", world.http_addr().port());
    let guard = AddressGuard::public().connect_to("any.test:80", &to).unwrap();
    let client = Client::new(ClientConfig::new(guard)).unwrap();
    assert_eq!(client.fetch(get("http://any.test/")).await.unwrap().body, "here");
}

#[tokio::test]
async fn patterns_match_names_but_not_address_literals() {
    let world = world("here").await;
    let client = Client::new(ClientConfig::new(world.guard())).unwrap();
    for text in ["http://169.254.169.254/", "http://127.0.0.1/", "http://[::1]/", "http://2130706433/"] {
        let error = client.fetch(get(text)).await.unwrap_err();
        assert!(matches!(error, FetchError::Forbidden), "{text}: {error}");
    }
    let exact = world.guard().connect_to("127.0.0.1:80", &world.http_addr().to_string()).unwrap();
    let client = Client::new(ClientConfig::new(exact)).unwrap();
    assert_eq!(client.fetch(get("http://0x7f.1/")).await.unwrap().status, 404);
}

#[tokio::test]
async fn suffix_pattern_matches_neither_itself_nor_another_port() {
    let world = world("here").await;
    let guard = AddressGuard::public().connect_to("*.any.test:80", &world.http_addr().to_string()).unwrap();
    let client = Client::new(ClientConfig::new(guard)).unwrap();
    assert_eq!(client.fetch(get("http://www.any.test/")).await.unwrap().status, 404);
    for text in ["http://any.test/", "http://notany.test/", "http://www.any.test:81/"] {
        assert!(client.fetch(get(text)).await.is_err(), "{text}");
    }
}

#[test]
fn invalid_rule_is_rejected() {
    let to = "127.0.0.1:1";
    for from in
        ["", "a.test", ":80", "a.test:", "a.test:0", "a.test:http", "*a.test:80", "a.*:80", "*.:80", "a b:80"]
    {
        let error = AddressGuard::public().connect_to(from, to).unwrap_err();
        assert_eq!(error, GuardError::Pattern { text: from.to_owned() }, "{from}");
    }
    for to in ["", "127.0.0.1", "a.test:0", "*:80", "::1:80"] {
        let error = AddressGuard::public().connect_to("a.test:80", to).unwrap_err();
        assert_eq!(error, GuardError::Target { text: to.to_owned() }, "{to}");
    }
    let once = AddressGuard::public().connect_to("a.test:80", to).unwrap();
    let error = once.connect_to("A.TEST.:80", to).unwrap_err();
    assert_eq!(error, GuardError::Duplicate { text: "A.TEST.:80".to_owned() });
}
