//! How far a crawl is, told to the server that its pages go to.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use url::Url;
use websvc::types::index::CrawlProgress;
use websvc::types::limits::CRAWL_HOSTS_MAX;
use websvc::{Client, ClientError};
use websvc_engine::crawl::Event;

use crate::show;

/// The shortest time between two words, and the longest: who is silent for longer seems to be gone.
const PACE: Duration = Duration::from_secs(3);
const SIGN_OF_LIFE: Duration = Duration::from_secs(20);

/// How long the last word may take.
const FAREWELL: Duration = Duration::from_secs(5);

/// Tells a server.
#[derive(Debug)]
pub(super) struct Teller {
    client: Client,
    id: String,
    hosts: Vec<String>,
}

/// Counts an event.
pub(super) fn count(far: &mut CrawlProgress, event: &Event) {
    match event {
        Event::Page { .. } => far.pages += 1,
        Event::Failed { .. } => far.failed += 1,
        Event::Skipped { .. } => far.skipped += 1,
        Event::Queued { waiting } => far.waiting = u64::try_from(*waiting).unwrap_or(u64::MAX),
        _ => {}
    }
}

impl Teller {
    /// Makes one for a crawl with this name that begins there.
    pub(super) fn new(client: Client, id: String, seeds: &[Url]) -> Self {
        let mut hosts: Vec<String> = seeds.iter().filter_map(Url::host_str).map(str::to_owned).collect();
        hosts.dedup();
        hosts.truncate(CRAWL_HOSTS_MAX);
        Self { client, id, hosts }
    }

    /// Tells how far the crawl is until nobody counts any more. A server that does not listen is told nothing else: its
    /// index counts, not its dashboard.
    pub(super) async fn tell(self, mut heard: watch::Receiver<CrawlProgress>) {
        loop {
            // Whether something happened, nothing did, or all is over: the next lines look themselves.
            let changed = timeout(SIGN_OF_LIFE, heard.changed()).await;
            let far = heard.borrow_and_update().clone();
            if matches!(changed, Ok(Err(_))) {
                // The pages are there, whatever becomes of this word.
                let _ = timeout(FAREWELL, self.say(CrawlProgress { ended: true, ..far })).await;
                return;
            }
            if let Err(error) = self.say(far).await {
                show::note(&format!("warning: the server is not told how far the crawl is: {error}"));
                return;
            }
            tokio::select! {
                () = sleep(PACE) => {}
                () = ended(heard.clone()) => {}
            }
        }
    }

    async fn say(&self, far: CrawlProgress) -> Result<(), ClientError> {
        let progress = CrawlProgress { id: self.id.clone(), hosts: self.hosts.clone(), ..far };
        self.client.crawl_progress(&progress).await.map(drop)
    }
}

/// Waits until nobody counts any more.
async fn ended(mut heard: watch::Receiver<CrawlProgress>) {
    while heard.changed().await.is_ok() {}
}
