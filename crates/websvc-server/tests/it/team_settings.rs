//! Tests of the settings of a team over HTTP.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use websvc_store::{ThreatOverride, ThreatPolicy};
use websvc_transport::FetchResponse;

use crate::server::{TestServer, json_of};

const THREAT: &str = "/v2/team/threat-protection";
const SIEM: &str = "/v2/team/siem";

async fn get(server: &TestServer, path: &str, key: &str) -> FetchResponse {
    server.send_json(Method::GET, path, key, &Value::Null).await
}

async fn put(server: &TestServer, path: &str, key: &str, body: &Value) -> FetchResponse {
    server.send_json(Method::PUT, path, key, body).await
}

fn data(response: &FetchResponse) -> Value {
    assert_eq!(response.status, StatusCode::OK, "{:?}", response.body);
    json_of(response)["data"].take()
}

fn paths(response: &FetchResponse) -> Vec<String> {
    assert_eq!(response.status, StatusCode::BAD_REQUEST, "{:?}", response.body);
    let details = json_of(response)["details"].as_array().unwrap().clone();
    details.iter().map(|detail| detail["path"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn threat_protection_of_the_team_is_replaced_and_applies_to_the_next_request() {
    let server = TestServer::start().await;
    let (admin, key) = (server.create_admin_key("red"), server.create_key("red"));
    let off = json!({
        "mode": "off", "enforced": false, "allowRequestOverrides": true, "riskScoreThreshold": 75,
        "blacklist": [], "whitelist": [], "blockedTlds": [], "failurePolicy": null,
    });
    assert_eq!(data(&get(&server, THREAT, &admin).await), off);
    let scrape = json!({ "url": "http://www.evil.example/" });
    let scrape = async || json_of(&server.send_json(Method::POST, "/v2/scrape", &key, &scrape).await);
    assert_ne!(scrape().await["code"], json!("unsafe_domain_blocked"));
    let changed = json!({
        "mode": "normal", "enforced": true, "allowRequestOverrides": false, "riskScoreThreshold": 60,
        "blacklist": ["*.EVIL.example"], "blockedTlds": ["zip"], "failurePolicy": "open",
    });
    let stored = data(&put(&server, THREAT, &admin, &changed).await);
    let mut expected = changed;
    (expected["blacklist"], expected["whitelist"]) = (json!(["*.evil.example"]), json!([]));
    assert_eq!(stored, expected);
    assert_eq!(scrape().await["code"], json!("unsafe_domain_blocked"));
    let team = server.store().team("red").unwrap().unwrap();
    assert_eq!(
        (team.threat_protection, team.threat_override),
        (ThreatPolicy::Enforced, ThreatOverride::Denied)
    );
    // The response is a valid request that changes nothing.
    assert_eq!(data(&put(&server, THREAT, &admin, &stored).await), expected);
    assert_eq!(data(&put(&server, THREAT, &admin, &json!({ "mode": "off" })).await), off);
    assert_eq!(server.store().threat_values("red").unwrap(), None);
    server.shut_down().await;
}

#[tokio::test]
async fn invalid_threat_protection_is_rejected_with_all_violations_and_changes_nothing() {
    let server = TestServer::start().await;
    let admin = server.create_admin_key("red");
    let check = async |body: Value, expected: &[&str]| {
        assert_eq!(paths(&put(&server, THREAT, &admin, &body).await), expected, "{body}");
    };
    check(json!({}), &["/mode"]).await;
    check(json!({ "mode": "off", "enforced": true }), &["/enforced"]).await;
    check(json!({ "mode": "zscaler", "zscaler": {} }), &["/mode", "/zscaler"]).await;
    check(
        json!({ "mode": "normal", "riskScoreThreshold": 500, "blacklist": ["https://not-a-domain"] }),
        &["/blacklist/0", "/riskScoreThreshold"],
    )
    .await;
    assert_eq!(data(&get(&server, THREAT, &admin).await)["mode"], json!("off"));
    server.shut_down().await;
}

#[tokio::test]
async fn audit_events_of_the_team_are_turned_on_and_off() {
    let server = TestServer::start().await;
    let admin = server.create_admin_key("red");
    let state = |enabled: bool| json!({ "configured": false, "enabled": enabled, "receivers": [] });
    assert_eq!(data(&get(&server, SIEM, &admin).await), state(false));
    assert_eq!(data(&put(&server, SIEM, &admin, &json!({ "enabled": true })).await), state(true));
    assert!(server.store().team("red").unwrap().unwrap().audit);
    let destination = json!({ "destination": { "type": "azure_sentinel" } });
    assert_eq!(paths(&put(&server, SIEM, &admin, &destination).await), ["/destination", "/enabled"]);
    assert_eq!(data(&get(&server, SIEM, &admin).await), state(true));
    assert_eq!(data(&put(&server, SIEM, &admin, &json!({ "enabled": false })).await), state(false));
    server.shut_down().await;
}

#[tokio::test]
async fn settings_need_an_admin_key_and_are_those_of_its_team() {
    let server = TestServer::start().await;
    let (admin, key, other) =
        (server.create_admin_key("red"), server.create_key("red"), server.create_admin_key("blue"));
    for (path, body) in [(THREAT, json!({ "mode": "normal" })), (SIEM, json!({ "enabled": true }))] {
        for response in [get(&server, path, &key).await, put(&server, path, &key, &body).await] {
            assert_eq!(response.status, StatusCode::FORBIDDEN, "{path}");
            assert!(json_of(&response)["error"].as_str().unwrap().contains("admin key"), "{path}");
        }
        assert_eq!(put(&server, path, "fc-unknown", &body).await.status, StatusCode::UNAUTHORIZED);
        data(&put(&server, path, &other, &body).await);
    }
    assert_eq!(data(&get(&server, THREAT, &admin).await)["mode"], json!("off"));
    assert_eq!(data(&get(&server, THREAT, &other).await)["mode"], json!("normal"));
    let unknown = get(&server, "/v2/team/threat-protection/zscaler", &admin).await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
    server.shut_down().await;
}
