//! The decisions on the URLs of one request.

use serde_json::json;
use websvc_testkit::Page;
use websvc_threat::{CheckSummary, Classifier, UrlChecker};

use crate::support::{asked, by_host, classifier, config, inspection, protection, scanner, why};

const SCORE_80: &str = "its risk score 80 is not below the threshold";

#[tokio::test]
async fn a_score_at_or_above_the_threshold_blocks() {
    let world = scanner(by_host).await;
    let classifier = classifier(&world, config());
    for (threshold, url, is_blocked) in [
        (json!(80), "http://s80.test/", true),
        (json!(81), "http://s80.test/", false),
        (json!(0), "http://clean.test/", true),
        (json!(100), "http://s99.test/", false),
        (json!(100), "http://s100.test/", true),
        (json!(null), "http://s75.test/", true),
        (json!(null), "http://s74.test/", false),
    ] {
        let inspection = inspection(&classifier, &json!({ "riskScoreThreshold": threshold }));
        assert_eq!(why(&inspection, url).await.is_some(), is_blocked, "{threshold} {url}");
    }
}

#[tokio::test]
async fn every_rule_has_its_place() {
    let world = scanner(by_host).await;
    let classifier = classifier(&world, config());
    let inspection = inspection(
        &classifier,
        &json!({
            "whitelist": ["s100.good.test", "good.zip", "s80.zip"],
            "blacklist": ["*.good.test", "clean.test", "good.zip"],
            "blockedTlds": ["zip"],
        }),
    );
    for (url, expected) in [
        // The whitelist wins over the score, the blacklist and the top-level domain.
        ("http://s100.good.test/", None),
        ("http://good.zip/", None),
        ("http://s80.zip/", None),
        ("http://other.good.test/", Some("it is on the blacklist")),
        ("http://clean.test/", Some("it is on the blacklist")),
        ("http://a.zip/", Some("its top-level domain zip is blocked")),
        ("http://s80.test/", Some(&format!("{SCORE_80} 75")[..])),
        ("http://s10.test/", None),
        ("data:text/plain,x", None),
    ] {
        assert_eq!(why(&inspection, url).await.as_deref(), expected, "{url}");
    }
    let scanned: Vec<_> = world.requests().iter().map(asked).collect();
    assert_eq!(scanned, ["http://s80.test/", "http://s10.test/"], "the lists need no scan");
    assert_eq!(inspection.tally(), CheckSummary { scanned: 2, unchecked: 0 });
    let blocked = classifier.figures().blocked;
    assert_eq!(blocked, [("blacklist", 2), ("tld", 1), ("score", 1), ("unchecked", 0)]);
}

#[tokio::test]
async fn a_url_is_scanned_once_for_a_request_however_often_it_is_asked_about() {
    let world = scanner(by_host).await;
    let classifier = classifier(&world, config());
    let first = inspection(&classifier, &json!({}));
    // Other rules of the same request share what was found out.
    let second = first.with_classifier(&protection(&json!({ "riskScoreThreshold": 10 }), json!({})));
    let asks = [
        "http://s50.test/x",
        "http://s50.test/x#part",
        "http://user:pass@s50.test/x",
        "http://S50.TEST:80/x",
    ];
    for url in asks {
        assert_eq!(why(&first, url).await, None);
        assert!(why(&second, url).await.is_some());
    }
    let url = "http://s50.test/y".parse().unwrap();
    let (a, b) = tokio::join!(first.check(&url), second.check(&url));
    assert!(a.is_ok() && b.is_err());
    let scanned: Vec<_> = world.requests().iter().map(asked).collect();
    assert_eq!(scanned, ["http://s50.test/x", "http://s50.test/y"], "without user and fragment");
    assert_eq!(second.tally(), CheckSummary { scanned: 2, unchecked: 0 });
}

#[tokio::test]
async fn the_failure_policy_decides_when_the_scanner_has_no_verdict() {
    let world = scanner(|_| Page::text("down").status(503)).await;
    let classifier = classifier(&world, config());
    for (own, is_blocked) in [
        (json!({}), true),
        (json!({ "failurePolicy": "closed" }), true),
        (json!({ "failurePolicy": "open" }), false),
    ] {
        let inspection = inspection(&classifier, &own);
        let why = why(&inspection, "http://a.test/").await;
        let expected = is_blocked.then_some("it could not be checked, and failurePolicy is closed");
        assert_eq!(why.as_deref(), expected, "{own}");
        assert_eq!(inspection.tally(), CheckSummary { scanned: 0, unchecked: 1 });
        assert_eq!(inspection.check(&"http://a.test/".parse().unwrap()).await.is_err(), is_blocked);
    }
    assert_eq!(world.requests().len(), 3, "a failure is not tried again for the same request");
}

#[tokio::test]
async fn without_a_scanner_the_lists_decide_unless_closed_is_asked_for() {
    let classifier = Classifier::none();
    for (failure_policy, is_blocked) in
        [(json!(null), false), (json!("open"), false), (json!("closed"), true)]
    {
        let own =
            json!({ "blacklist": ["bad.test"], "whitelist": ["good.test"], "failurePolicy": failure_policy });
        let inspection = inspection(&classifier, &own);
        assert!(why(&inspection, "http://bad.test/").await.is_some());
        assert!(why(&inspection, "http://good.test/").await.is_none());
        assert_eq!(why(&inspection, "http://a.test/").await.is_some(), is_blocked, "{failure_policy}");
        assert_eq!(inspection.tally().scanned, 0);
    }
}

#[tokio::test]
async fn the_rule_of_pages_says_which_host_is_blocked_and_why() {
    let world = scanner(by_host).await;
    let classifier = classifier(&world, config());
    let rule = inspection(&classifier, &json!({})).rule();
    assert_eq!(rule.check(&"http://s1.test/".parse().unwrap()).await, Ok(()));
    let refused = rule.check(&"http://s80.test/x".parse().unwrap()).await.unwrap_err();
    assert_eq!(refused, format!("threat protection blocks s80.test: {SCORE_80} 75"));
}

#[tokio::test]
async fn what_is_shown_alone_is_checked_by_the_lists_alone() {
    let world = scanner(by_host).await;
    let classifier = classifier(&world, config());
    let inspection: UrlChecker = inspection(&classifier, &json!({ "blacklist": ["bad.test"] }));
    assert!(inspection.check_lists(&"http://bad.test/a.png".parse().unwrap()).is_err());
    assert!(inspection.check_lists(&"http://s100.test/a.png".parse().unwrap()).is_ok());
    assert!(world.requests().is_empty());
}
