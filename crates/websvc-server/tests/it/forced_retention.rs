//! Teams whose data retention is forced: nothing that they send is stored where others find it.

use serde_json::json;
use websvc_store::{KeyRights, Retention, TeamChange};
use websvc_testkit::{Page, TestWeb};

use crate::api::ApiTest;

#[tokio::test(flavor = "multi_thread")]
async fn documents_of_teams_with_forced_retention_are_refused_and_not_found() {
    let web = TestWeb::builder().page("http://tea.test/", Page::html("<p>Tea")).start().await;
    let test = ApiTest::start(web).await;
    let other = test.create_key("other", &KeyRights::default());
    for (team, change, option) in [
        ("zero", TeamChange { zdr: Some(Retention::Forced), ..TeamChange::default() }, "--zdr"),
        ("nobody", TeamChange { anon: Some(Retention::Forced), ..TeamChange::default() }, "--anon"),
    ] {
        test.set_team(team, &change);
        let key = test.create_key(team, &KeyRights::default());
        let document = json!({ "url": "http://secret.test/", "title": "Secret", "body": "codename" });
        let upload = json!({ "documents": [document] });
        let (status, refused) = test.post(&key, "/v2/index/documents", &upload).await;
        assert_eq!((status, &refused["code"]), (403, &json!("FORBIDDEN")), "{team}: {refused}");
        assert!(refused["error"].as_str().unwrap().contains(option), "{team}: {refused}");
        // What would be stored otherwise is refused with the reason, too.
        let webhook = "http://tea.test/";
        for (path, body) in [
            ("/v2/batch/scrape", json!({ "urls": [webhook] })),
            ("/v2/crawl", json!({ "url": webhook })),
            ("/v1/batch/scrape", json!({ "urls": [webhook] })),
            ("/v1/crawl", json!({ "url": webhook })),
            ("/v1/llmstxt", json!({ "url": webhook })),
            ("/v2/agent", json!({ "prompt": "tea" })),
            ("/v2/extract", json!({ "urls": [webhook], "prompt": "x" })),
            (
                "/v2/monitor",
                json!({
                    "name": "tea",
                    "schedule": { "text": "daily" },
                    "targets": [{ "type": "scrape", "urls": [webhook] }],
                }),
            ),
        ] {
            let (status, refused) = test.post(&key, path, &body).await;
            assert!(matches!(status, 400 | 403), "{team} {path}: {refused}");
            assert!(refused["error"].as_str().unwrap().contains("retention"), "{team} {path}: {refused}");
        }
        let (status, scraped) =
            test.post(&key, "/v2/scrape", &json!({ "url": "http://tea.test/", "storeInCache": true })).await;
        assert_eq!(status, 200, "{team}: {scraped}");
        let id = &scraped["data"]["metadata"]["scrapeId"];
        let feedback = json!({ "endpoint": "scrape", "jobId": id, "rating": "bad", "issues": ["other"], "note": "codename" });
        let (status, refused) = test.post(&key, "/v2/feedback", &feedback).await;
        assert_eq!(status, 404, "{team}: {refused}");
        for query in ["codename", "tea"] {
            let (status, found) = test.post(&other, "/v2/search", &json!({ "query": query })).await;
            assert_eq!((status, &found["data"]["web"]), (200, &json!([])), "{team}: {found}");
        }
        let (status, lookup) =
            test.post(&other, "/v2/scrape", &json!({ "url": "http://tea.test/", "minAge": 0 })).await;
        assert_eq!((status, &lookup["code"]), (404, &json!("SCRAPE_NO_CACHED_DATA")), "{team}: {lookup}");
    }
    test.stop().await;
}
