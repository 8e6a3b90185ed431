//! Threat protection of jobs: URLs on a team's lists are rejected when the job is created.

use serde_json::json;

use crate::threat::ThreatTest;

#[tokio::test(flavor = "multi_thread")]
async fn job_with_blocked_url_is_rejected_or_starts_without_it() {
    let test = ThreatTest::with_scanner().await;
    let key = test.protected_team();
    // A plain domain covers its subdomains.
    let protection = json!({ "blacklist": ["listed.test"] });
    let crawl =
        json!({ "url": "http://www.listed.test/", "scrapeOptions": { "threatProtection": protection } });
    let response = test.post(&key, "/v2/crawl", crawl).await;
    assert_eq!((response.status.as_u16(), &response.body["code"]), (403, &json!("unsafe_domain_blocked")));
    let error = response.body["error"].as_str().unwrap();
    assert!(error.contains("www.listed.test: it is on the blacklist"), "{error}");

    let batch = async |urls: &[&str], ignore_invalid: bool| {
        let body =
            json!({ "urls": urls, "ignoreInvalidURLs": ignore_invalid, "threatProtection": protection });
        test.post(&key, "/v2/batch/scrape", body).await
    };
    let (fine, listed) = ("http://fine.test/", "http://listed.test/");
    let started = batch(&[fine, listed, "mailto:x"], true).await;
    assert_eq!(started.status, 200, "{}", started.body);
    assert_eq!(started.body["invalidURLs"], json!(["mailto:x", listed]));
    assert_eq!(
        batch(&[fine, listed], false).await.status,
        403,
        "without ignoreInvalidURLs, one blocked URL rejects the batch"
    );
    assert_eq!(batch(&[listed], true).await.status, 403, "no URL remains");
}
