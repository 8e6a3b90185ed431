//! The checks of the URLs of one request.

use serde_json::json;
use websvc_scrape::threat::{CheckSummary, Classifier, UrlChecker};
use websvc_testkit::Page;

use crate::threat::support::{
    blocked_reason, checker, classifier, config, rules, scanned_url, scanner, score_by_host,
};

const SCORE_80: &str = "its risk score 80 is not below the threshold";

#[tokio::test]
async fn score_at_or_above_the_threshold_blocks() {
    let web = scanner(score_by_host).await;
    let classifier = classifier(&web, config());
    for (threshold, url, is_blocked) in [
        (json!(80), "http://s80.test/", true),
        (json!(81), "http://s80.test/", false),
        (json!(0), "http://clean.test/", true),
        (json!(100), "http://s99.test/", false),
        (json!(100), "http://s100.test/", true),
        (json!(null), "http://s75.test/", true),
        (json!(null), "http://s74.test/", false),
    ] {
        let checker = checker(&classifier, &json!({ "riskScoreThreshold": threshold }));
        assert_eq!(blocked_reason(&checker, url).await.is_some(), is_blocked, "{threshold} {url}");
    }
}

#[tokio::test]
async fn whitelist_blacklist_tld_and_score_apply_in_this_order() {
    let web = scanner(score_by_host).await;
    let classifier = classifier(&web, config());
    let checker = checker(
        &classifier,
        &json!({
            "whitelist": ["s100.good.test", "good.zip", "s80.zip"],
            "blacklist": ["*.good.test", "clean.test", "good.zip"],
            "blockedTlds": ["zip"],
        }),
    );
    for (url, expected) in [
        // The whitelist takes precedence over the score, the blacklist and the top-level domain.
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
        assert_eq!(blocked_reason(&checker, url).await.as_deref(), expected, "{url}");
    }
    let scanned: Vec<_> = web.requests().iter().map(scanned_url).collect();
    assert_eq!(scanned, ["http://s80.test/", "http://s10.test/"], "the lists need no scan");
    assert_eq!(checker.summary(), CheckSummary { scanned: 2, unchecked: 0 });
    let blocked = classifier.metrics().blocked.counts();
    assert_eq!(blocked, [("blacklist", 2), ("tld", 1), ("score", 1), ("unchecked", 0)]);
}

#[tokio::test]
async fn url_is_scanned_once_per_request() {
    let web = scanner(score_by_host).await;
    let classifier = classifier(&web, config());
    let first = checker(&classifier, &json!({}));
    // Other rules of the same request share the scores.
    let second = first.with_rules(&rules(&json!({ "riskScoreThreshold": 10 }), json!({})));
    let spellings = [
        "http://s50.test/x",
        "http://s50.test/x#part",
        "http://user:pass@s50.test/x",
        "http://S50.TEST:80/x",
    ];
    for url in spellings {
        assert_eq!(blocked_reason(&first, url).await, None);
        assert!(blocked_reason(&second, url).await.is_some());
    }
    let url = "http://s50.test/y".parse().unwrap();
    let (a, b) = tokio::join!(first.check(&url), second.check(&url));
    assert!(a.is_ok() && b.is_err());
    let scanned: Vec<_> = web.requests().iter().map(scanned_url).collect();
    assert_eq!(scanned, ["http://s50.test/x", "http://s50.test/y"], "without user and fragment");
    assert_eq!(second.summary(), CheckSummary { scanned: 2, unchecked: 0 });
}

#[tokio::test]
async fn failure_policy_decides_without_a_verdict() {
    let web = scanner(|_| Page::text("down").status(503)).await;
    let classifier = classifier(&web, config());
    for (threat_protection, is_blocked) in [
        (json!({}), true),
        (json!({ "failurePolicy": "closed" }), true),
        (json!({ "failurePolicy": "open" }), false),
    ] {
        let checker = checker(&classifier, &threat_protection);
        let reason = blocked_reason(&checker, "http://a.test/").await;
        let expected = is_blocked.then_some("it could not be checked, and failurePolicy is closed");
        assert_eq!(reason.as_deref(), expected, "{threat_protection}");
        assert_eq!(checker.summary(), CheckSummary { scanned: 0, unchecked: 1 });
        assert_eq!(checker.check(&"http://a.test/".parse().unwrap()).await.is_err(), is_blocked);
    }
    assert_eq!(web.requests().len(), 3, "a failed scan is not repeated for the same request");
}

#[tokio::test]
async fn without_a_scanner_the_lists_decide_unless_policy_is_closed() {
    let classifier = Classifier::none();
    for (failure_policy, is_blocked) in
        [(json!(null), false), (json!("open"), false), (json!("closed"), true)]
    {
        let threat_protection =
            json!({ "blacklist": ["bad.test"], "whitelist": ["good.test"], "failurePolicy": failure_policy });
        let checker = checker(&classifier, &threat_protection);
        assert!(blocked_reason(&checker, "http://bad.test/").await.is_some());
        assert!(blocked_reason(&checker, "http://good.test/").await.is_none());
        assert_eq!(
            blocked_reason(&checker, "http://a.test/").await.is_some(),
            is_blocked,
            "{failure_policy}"
        );
        assert_eq!(checker.summary().scanned, 0);
    }
}

#[tokio::test]
async fn url_policy_reports_host_and_rule() {
    let web = scanner(score_by_host).await;
    let classifier = classifier(&web, config());
    let policy = checker(&classifier, &json!({})).url_policy();
    assert_eq!(policy.check(&"http://s1.test/".parse().unwrap()).await, Ok(()));
    let refused = policy.check(&"http://s80.test/x".parse().unwrap()).await.unwrap_err();
    assert_eq!(refused, format!("threat protection blocks s80.test: {SCORE_80} 75"));
}

#[tokio::test]
async fn check_lists_does_not_use_the_scanner() {
    let web = scanner(score_by_host).await;
    let classifier = classifier(&web, config());
    let checker: UrlChecker = checker(&classifier, &json!({ "blacklist": ["bad.test"] }));
    assert!(checker.check_lists(&"http://bad.test/a.png".parse().unwrap()).is_err());
    assert!(checker.check_lists(&"http://s100.test/a.png".parse().unwrap()).is_ok());
    assert!(web.requests().is_empty());
}
