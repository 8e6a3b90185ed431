//! Threat protection values of a team, set by commands while the server runs.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_store::{ThreatOverride, ThreatPolicy};

use crate::threat::{Stage, protection, urls};

#[tokio::test(flavor = "multi_thread")]
async fn the_values_of_a_team_are_set_while_the_server_runs() {
    let stage = Stage::scanning().await;
    let key = stage.team("red", &protection(ThreatPolicy::Enforced, ThreatOverride::Denied));
    assert_eq!(urls(&stage.search(&key, json!({ "query": "oolong" })).await).len(), 3);
    let set: Value = serde_json::from_str(&stage.site.succeed(&[
        "threat",
        "set",
        "red",
        "--blacklist",
        "LISTED.test,*.evil.test",
        "--blocked-tlds",
        "zip",
        "--risk-score-threshold",
        "95",
        "--failure-policy",
        "open",
    ]))
    .unwrap();
    let expected = json!({
        "riskScoreThreshold": 95, "blacklist": ["listed.test", "*.evil.test"], "blockedTlds": ["zip"],
        "failurePolicy": "open",
    });
    assert_eq!(set, expected);
    search_until(&stage, &key, &["http://fine.test/", "http://risky.test/"]).await;
    // What is not given stays; an empty list is emptied.
    stage.site.succeed(&["threat", "set", "red", "--blacklist", ""]);
    let shown: Value = serde_json::from_str(&stage.site.succeed(&["threat", "show", "red"])).unwrap();
    assert_eq!((&shown["blacklist"], &shown["blockedTlds"]), (&json!([]), &json!(["zip"])));
    search_until(&stage, &key, &["http://fine.test/", "http://listed.test/", "http://risky.test/"]).await;
    stage.site.succeed(&["threat", "set", "red", "--reset"]);
    assert_eq!(stage.site.succeed(&["threat", "show", "red"]).trim(), "{}");
    let refused = stage.site.run(&["threat", "set", "red", "--blacklist", "https://a.test/"]);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("https://a.test/"), "{refused:?}");
}

/// Asks until the results are these: a running service learns within a second what a command has set.
async fn search_until(stage: &Stage, key: &str, expected: &[&str]) {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let answer = stage.search(key, json!({ "query": "oolong" })).await;
        if urls(&answer) == expected {
            return;
        }
        assert!(Instant::now() < deadline, "{expected:?}: {}", answer.body);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
