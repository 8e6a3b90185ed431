//! Uploads whose requests reach different replicas.

use http::header::CONTENT_TYPE;
use http::{Method, StatusCode};
use serde_json::json;

use super::replica::Replica;
use super::{Replicas, json_of};
use crate::server::send;

const PAGE: &[u8] = b"<main><h1>Tea</h1><p>Of leaves.</p></main>";

/// Requests an upload URL from a replica, and returns its path and query, and its reference.
async fn open(replica: &Replica, key: &str) -> (String, String) {
    let headers =
        [("authorization", format!("Bearer {key}")), ("content-type", "application/json".to_owned())];
    let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
    let body = json!({ "filename": "tea.html", "contentType": "text/html" });
    let response = replica.send(Method::POST, "/v2/parse/upload-url", &headers, Some(body)).await;
    assert_eq!(response.status, StatusCode::OK, "{:?}", response.body);
    let data = json_of(&response)["data"].take();
    let path = data["uploadUrl"].as_str().unwrap().strip_prefix(&replica.url).unwrap().to_owned();
    (path, data["uploadRef"].as_str().unwrap().to_owned())
}

async fn put(replica: &Replica, path: &str) -> (StatusCode, serde_json::Value) {
    let url = format!("{}{path}", replica.url);
    let response = send(Method::PUT, &url, &[(CONTENT_TYPE, "text/html")], Some(PAGE.into())).await;
    (response.status, json_of(&response))
}

async fn parse(replica: &Replica, key: &str, reference: &str) -> (StatusCode, serde_json::Value) {
    let bearer = format!("Bearer {key}");
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let body = json!({ "uploadRef": reference });
    let response = replica.send(Method::POST, "/v2/parse", &headers, Some(body)).await;
    (response.status, json_of(&response))
}

#[tokio::test(flavor = "multi_thread")]
async fn file_is_sent_and_converted_on_any_replica_once() {
    let Some(replicas) = Replicas::start().await else { return };
    let (owner, edge) = (&replicas.first, &replicas.second);
    for replica in [owner, edge] {
        replica.store.join_replicas(websvc_store::ReplicaRole::Worker).unwrap();
    }
    let key = replicas.create_key("tea", false);
    for (sender, reader) in [(edge, edge), (edge, owner), (owner, edge)] {
        let (path, reference) = open(owner, &key).await;
        assert_eq!(put(sender, &path).await, (StatusCode::OK, json!({ "success": true })));
        for again in [owner, edge] {
            assert_eq!(
                put(again, &path).await.0,
                StatusCode::GONE,
                "a URL takes one file, wherever it is sent"
            );
        }
        let (status, body) = parse(reader, &key, &reference).await;
        assert_eq!(status, StatusCode::OK, "{body}");
        assert_eq!(body["data"]["markdown"], json!("# Tea\n\nOf leaves.\n"));
        for again in [owner, edge] {
            let (status, body) = parse(again, &key, &reference).await;
            assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
        }
    }
    let (path, reference) = open(owner, &key).await;
    assert_eq!(put(edge, &path).await.0, StatusCode::OK);
    let Replicas { first, second, .. } = replicas;
    first.shut_down().await;
    let (status, body) = parse(&second, &key, &reference).await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
    assert!(body["error"].as_str().unwrap().contains("not available"), "{body}");
    second.shut_down().await;
}
