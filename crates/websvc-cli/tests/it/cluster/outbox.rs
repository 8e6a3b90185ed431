//! The outbox of an index on a server: the pages of a replica that is killed are indexed by the others.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;
use websvc_testkit::{Page, TestWeb};

use super::{Cluster, REPLICAS, Variables, start_job};
use crate::elastic::{server, settings};
use crate::outbox::{completed, indexed, url, wait_for_pages, wait_until};

const PAGES: usize = 120;

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
    let variables: Variables =
        settings(r#"["es"]"#).into_iter().map(|(name, value)| (name, value.into())).collect();
    let Some(mut cluster) = Cluster::start_with(&world, vec![variables; REPLICAS]).await else { return };
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
