//! The outbox of an index on a server: the pages of a replica that is killed are indexed by the others.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;
use websvc_testkit::{Page, TcpForwarder, TestWeb};

use super::{Cluster, Database, REPLICAS, Variables, start_job};
use crate::elastic::{server, settings};
use crate::harness::Service;
use crate::outbox::{completed, indexed, url, wait_for_pages, wait_until};

const PAGES: usize = 120;

/// Returns the variables of replicas whose only index is on the server.
fn with_index_server() -> Vec<Variables> {
    let variables: Variables =
        settings(r#"["es"]"#).into_iter().map(|(name, value)| (name, value.into())).collect();
    vec![variables; REPLICAS]
}

#[tokio::test(flavor = "multi_thread")]
async fn page_in_the_index_of_a_team_is_found_through_every_replica() {
    let es = server();
    let text = "<title>Oolong</title><main><h1>Oolong</h1><p>Oolong costs 9 euros.</p></main>";
    let world = es.serve(TestWeb::builder(), "http://es.test").page(&url(0), Page::html(text)).start().await;
    let Some(cluster) = Cluster::start_with(&world, with_index_server()).await else { return };
    cluster.succeed(&["teams", "set", "red", "--index", "team"]);
    let key = cluster.succeed(&["keys", "create", "--team", "red"]).trim().to_owned();
    let headers = [("authorization", &*format!("Bearer {key}")), ("content-type", "application/json")];
    let send = async |service: &Service, path: &str, body: serde_json::Value| {
        let response = service.send(http::Method::POST, path, &headers, body.to_string()).await;
        assert_eq!(response.status, 200, "{}", response.body);
        response.body
    };
    send(cluster.replica(0), "/v2/scrape", json!({ "url": url(0) })).await;
    for number in 0..REPLICAS {
        wait_until("the page is found", async || {
            let found = send(cluster.replica(number), "/v2/search", json!({"query": "oolong"})).await;
            found["data"]["web"][0]["url"] == url(0)
        })
        .await;
        let found = cluster.replica(number).search(json!({"query": "oolong"})).await;
        assert_eq!(found.body["data"]["web"], json!([]), "another team: {}", found.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_a_killed_replica_are_indexed() {
    let es = server();
    let mut world = es.serve(TestWeb::builder(), "http://es.test");
    for number in 0..PAGES {
        let text =
            format!("<title>Tea {number}</title><main><h1>Tea {number}</h1><p>Tea costs 5 euros.</p></main>");
        world = world.page(&url(number), Page::html(text).delay(Duration::from_millis(30)));
    }
    let world = world.start().await;
    let Some(mut cluster) = Cluster::start_with(&world, with_index_server()).await else { return };
    let urls: Vec<String> = (0..PAGES).map(url).collect();
    let body = json!({"urls": urls, "formats": ["markdown"], "ignoreRobotsTxt": true});
    let path = start_job(cluster.replica(0), "/v2/batch/scrape", body).await;
    let client = cluster.replica(1);
    wait_until("pages are completed", async || completed(client, &path).await >= 30).await;
    es.set_away(true);
    wait_until("more pages are completed", async || completed(client, &path).await >= 60).await;
    cluster.kill(0);
    es.set_away(false);
    let client = cluster.replica(1);
    wait_until("the batch is completed", async || completed(client, &path).await == PAGES as u64).await;
    wait_for_pages(&es, &urls.into_iter().collect::<BTreeSet<_>>()).await;
    wait_until("no page waits", async || {
        cluster.database.number("SELECT count(*) FROM index_outbox").await == 0
    })
    .await;
    assert_eq!(indexed(&es).len(), PAGES);
}

#[tokio::test(flavor = "multi_thread")]
async fn page_that_is_fetched_during_a_short_cut_of_the_database_is_indexed() {
    let es = server();
    let text = "<title>Tea</title><main><h1>Tea</h1><p>Tea costs 5 euros.</p></main>";
    let mut world = es.serve(TestWeb::builder(), "http://es.test");
    for number in 0..2 {
        world = world.page(&url(number), Page::html(text).delay(Duration::from_millis(500 * number as u64)));
    }
    let world = world.start().await;
    let Some((database, url_of_database)) = Database::create().await else { return };
    let address = database.address();
    let forwarder = TcpForwarder::to(&address);
    let mut settings = with_index_server();
    let forwarded = url_of_database.replace(&address, &format!("127.0.0.1:{}", forwarder.port()));
    settings[0].push(("WEBSVC__STORE__URL", forwarded.into()));
    let cluster = Cluster::start_all(&world, database, url_of_database, settings).await;
    let service = cluster.replica(0);
    // Leases the credits and caches the key, without which a request needs the database at once.
    let scrape = async |number| service.post("/v2/scrape", json!({ "url": url(number) }).to_string()).await;
    assert_eq!(scrape(0).await.status, 200);
    let log = cluster.data_dir(0).join("log.txt");
    let cut = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        forwarder.set_cut(true);
        wait_until("adding the page has failed", async || {
            std::fs::read_to_string(&log).unwrap().contains("added to the outbox; retrying")
        })
        .await;
        forwarder.set_cut(false);
    };
    let (response, ()) = tokio::join!(scrape(1), cut);
    assert_eq!(response.status, 200, "{}", response.body);
    wait_for_pages(&es, &(0..2).map(url).collect::<BTreeSet<_>>()).await;
}
