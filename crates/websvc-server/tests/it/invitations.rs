//! Tests of invitations over HTTP: redeeming one, and the limit of wrong ones.

use http::Method;
use serde_json::{Value, json};
use websvc_store::{KeyRights, KeyScope};
use websvc_testkit::TestWeb;

use crate::api::ApiTest;

async fn redeem(service: &ApiTest, invitation: &str) -> (u16, Value) {
    service.post("", "/v2/keys/redeem", &json!({ "invitation": invitation })).await
}

#[tokio::test(flavor = "multi_thread")]
async fn administrator_invites_and_the_holder_redeems_once_without_a_key() {
    let service = ApiTest::start(TestWeb::builder().start().await).await;
    let admin = service.create_key("default", &KeyRights { admin: true, ..KeyRights::default() });
    let body = json!({
        "team": "red", "name": "agent", "scopes": ["search"], "formats": ["markdown"], "requestsPerMinute": 60,
        "concurrency": 2, "expiresInDays": 30, "inviteForDays": 7,
    });
    let (status, invited) = service.post(&admin, "/dashboard/keys", &body).await;
    assert_eq!(status, 200, "{invited}");
    let (text, link) = (invited["secret"].as_str().unwrap(), invited["link"].as_str().unwrap());
    assert_eq!(link, format!("{}/#/redeem/{text}", service.address));
    let (status, _) = service.post(text, "/v2/search", &json!({ "query": "tea" })).await;
    assert_eq!(status, 401, "an invitation is no key");
    let listed = service.get(&admin, "/dashboard/keys").await;
    let listed = listed["keys"].as_array().unwrap().iter().find(|key| key["id"] == invited["id"]).unwrap();
    assert!(listed["redeemUntil"].is_u64(), "{listed}");

    let (status, redeemed) = redeem(&service, link).await;
    assert_eq!(status, 200, "{redeemed}");
    let data = &redeemed["data"];
    assert_eq!(
        (&data["team"], &data["name"], &data["scopes"], &data["formats"], &data["requestsPerMinute"]),
        (&json!("red"), &json!("agent"), &json!(["search"]), &json!(["markdown"]), &json!(60))
    );
    assert_eq!((&data["concurrency"], data["expiresAt"].is_string()), (&json!(2), true));
    let key = data["key"].as_str().unwrap();
    let (status, found) = service.post(key, "/v2/search", &json!({ "query": "tea" })).await;
    assert_eq!(status, 200, "{found}");
    let (status, _) = service.post(key, "/v2/map", &json!({ "url": "http://a.test/" })).await;
    assert_eq!(status, 403, "the rights of the invitation apply");

    let (status, again) = redeem(&service, text).await;
    assert_eq!((status, &again["code"]), (404, &json!("NOT_FOUND")), "{again}");
    let (_, revoked) = service.post(&admin, "/dashboard/keys", &body).await;
    let path = format!("/dashboard/keys/{}", revoked["id"].as_str().unwrap());
    assert_eq!(service.send(&admin, Method::DELETE, &path, &Value::Null).await.0, 200);
    let (_, of_revoked) = redeem(&service, revoked["secret"].as_str().unwrap()).await;
    assert_eq!(of_revoked["error"], again["error"], "the response does not reveal the reason");
    let administering = json!({ "team": "red", "admin": true, "inviteForDays": 7 });
    let (status, refused) = service.post(&admin, "/dashboard/keys", &administering).await;
    assert!(status == 400 && refused["error"].as_str().unwrap().contains("administer"), "{refused}");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_invitations_are_limited_by_address() {
    let service = ApiTest::start(TestWeb::builder().start().await).await;
    for guess in 0..10 {
        assert_eq!(redeem(&service, &format!("fi-abc{guess:029}")).await.0, 404);
    }
    let (status, body) = redeem(&service, &format!("fi-abc{:029}", 11)).await;
    assert_eq!((status, &body["code"]), (429, &json!("RATE_LIMITED")), "{body}");
    let store = service.store();
    let until_ms = store.now_ms() + 60_000;
    let scopes = KeyRights { scopes: Some([KeyScope::Map].into()), ..KeyRights::default() };
    let valid = store.create_invitation("red", "", &scopes, until_ms).unwrap();
    let (status, body) = redeem(&service, valid.secret.expose()).await;
    let is_blocked = valid.secret.expose().starts_with("fi-abc");
    assert_eq!(status, if is_blocked { 429 } else { 200 }, "{body}");
    for (invitation, rule) in [("fi-1".to_owned(), "35"), ("f".repeat(2049), "2048")] {
        let (status, body) = redeem(&service, &invitation).await;
        assert!(status == 400 && body["error"].as_str().unwrap().contains(rule), "{body}");
    }
    service.stop().await;
}
