//! Threat protection of jobs: URLs that the lists block are refused when the job is asked for.

use serde_json::json;

use crate::threat::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn job_of_a_blocked_url_is_refused_or_starts_without_it() {
    let stage = Stage::scanning().await;
    let key = stage.protected();
    // A plain domain covers its subdomains.
    let protection = json!({ "blacklist": ["listed.test"] });
    let crawl =
        json!({ "url": "http://www.listed.test/", "scrapeOptions": { "threatProtection": protection } });
    let answer = stage.post(&key, "/v2/crawl", crawl).await;
    assert_eq!((answer.status.as_u16(), &answer.body["code"]), (403, &json!("unsafe_domain_blocked")));
    let error = answer.body["error"].as_str().unwrap();
    assert!(error.contains("www.listed.test: it is on the blacklist"), "{error}");

    let batch = async |urls: &[&str], ignores: bool| {
        let body = json!({ "urls": urls, "ignoreInvalidURLs": ignores, "threatProtection": protection });
        stage.post(&key, "/v2/batch/scrape", body).await
    };
    let (fine, listed) = ("http://fine.test/", "http://listed.test/");
    let started = batch(&[fine, listed, "mailto:x"], true).await;
    assert_eq!(started.status, 200, "{}", started.body);
    assert_eq!(started.body["invalidURLs"], json!(["mailto:x", listed]));
    assert_eq!(batch(&[fine, listed], false).await.status, 403, "all of them were wanted");
    assert_eq!(batch(&[listed], true).await.status, 403, "nothing is left");
}
