//! Threat protection values of a team, set by commands while the server runs.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_store::{ThreatOverride, ThreatPolicy};

use crate::threat::{ThreatTest, protection, urls};

#[tokio::test(flavor = "multi_thread")]
async fn threat_values_of_a_team_change_while_the_server_runs() {
    let test = ThreatTest::with_scanner().await;
    let key = test.team("red", &protection(ThreatPolicy::Enforced, ThreatOverride::Denied));
    assert_eq!(urls(&test.search(&key, json!({ "query": "oolong" })).await).len(), 3);
    let set: Value = serde_json::from_str(&test.site.succeed(&[
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
    search_until(&test, &key, &["http://fine.test/", "http://risky.test/"]).await;
    // Values without an option stay. An empty value clears a list.
    test.site.succeed(&["threat", "set", "red", "--blacklist", ""]);
    let shown: Value = serde_json::from_str(&test.site.succeed(&["threat", "show", "red"])).unwrap();
    assert_eq!((&shown["blacklist"], &shown["blockedTlds"]), (&json!([]), &json!(["zip"])));
    search_until(&test, &key, &["http://fine.test/", "http://listed.test/", "http://risky.test/"]).await;
    test.site.succeed(&["threat", "set", "red", "--reset"]);
    assert_eq!(test.site.succeed(&["threat", "show", "red"]).trim(), "{}");
    let rejected = test.site.run(&["threat", "set", "red", "--blacklist", "https://a.test/"]);
    assert!(!rejected.status.success());
    assert!(String::from_utf8_lossy(&rejected.stderr).contains("https://a.test/"), "{rejected:?}");
}

/// Repeats a search until its results are `expected`: a running service reads changed values within a second.
async fn search_until(test: &ThreatTest, key: &str, expected: &[&str]) {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let response = test.search(key, json!({ "query": "oolong" })).await;
        if urls(&response) == expected {
            return;
        }
        assert!(Instant::now() < deadline, "{expected:?}: {}", response.body);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
