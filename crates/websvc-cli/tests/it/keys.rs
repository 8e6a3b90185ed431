//! Tests of API keys that change while the server runs.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Site, tea_world};

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_created_listed_and_revoked_while_the_server_runs() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let mut service = site.serve();
    let key = site.succeed(&["keys", "create", "--team", "readers", "--name", "laptop"]);
    assert_eq!(key.lines().count(), 1, "only the key is printed");
    service.key = key.trim().to_owned();
    assert!(service.key.starts_with("fc-"));
    let accepted =
        async |service: &crate::harness::Service| service.search(json!({"query": "tea"})).await.status == 200;
    let deadline = Instant::now() + Duration::from_secs(10);
    while !accepted(&service).await {
        assert!(Instant::now() < deadline, "the new key is not accepted");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let listed = site.succeed(&["keys", "list", "--json"]);
    assert!(!listed.contains(&service.key), "the list contains the key");
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let row = listed.as_array().unwrap().iter().find(|row| row["team"] == json!("readers")).unwrap();
    assert_eq!(row["name"], json!("laptop"));
    site.succeed(&["keys", "revoke", row["id"].as_str().unwrap()]);
    while accepted(&service).await {
        assert!(Instant::now() < deadline, "the revoked key is still accepted");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let unknown = site.run(&["keys", "revoke", "nothing"]);
    assert!(!unknown.status.success());
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("\"nothing\""));
}

#[tokio::test(flavor = "multi_thread")]
async fn first_start_prints_a_key_once() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let start = || {
        let log = site.data_dir().join("stderr.log");
        let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
        let service = crate::harness::Service::start_logging(&mut command, &log);
        (service, log)
    };
    let (mut service, log) = start();
    let text = std::fs::read_to_string(&log).unwrap();
    let key =
        text.split_whitespace().find(|word| word.starts_with("fc-")).expect("the key is printed").to_owned();
    service.key.clone_from(&key);
    assert_eq!(service.search(json!({"query": "tea"})).await.status, 200);
    assert!(service.stop().success());
    let (service, log) = start();
    assert!(!std::fs::read_to_string(log).unwrap().contains("fc-"), "the key is printed again");
    assert!(service.stop().success());
    let database = std::fs::read(site.data_dir().join("websvc.db")).unwrap();
    assert!(
        !database.windows(key.len()).any(|window| window == key.as_bytes()),
        "the database contains the key"
    );
}
