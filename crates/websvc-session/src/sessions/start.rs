//! The start of a session: its permits, its row in the store and its browser.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::OwnedSemaphorePermit;
use uuid::Uuid;
use websvc_store::{CreateBrowserSessionOutcome, NewBrowserSession};

use super::Inner;
use crate::active::ActiveSession;
use crate::error::{SessionError, open_error};
use crate::model::{NewSession, SessionView};
use crate::running::RunningSession;
use crate::urls::SessionUrls;

/// The maximum time for which a session waits for the start of the service.
const JOIN_TIMEOUT: Duration = Duration::from_secs(10);

impl Inner {
    /// Starts a session, and returns it with the task that runs it.
    ///
    /// # Errors
    /// As for [`Sessions::create`](super::Sessions::create).
    pub(super) async fn create(
        self: Arc<Self>,
        new: NewSession,
    ) -> Result<(SessionView, RunningSession), SessionError> {
        let NewSession {
            team,
            scrape,
            plan,
            boundary,
            ttl,
            activity_ttl,
            stream_web_view,
            concurrency,
            billing,
        } = new;
        let permit = self.acquire()?;
        self.wait_until_joined().await;
        let row = NewBrowserSession {
            id: Uuid::now_v7().to_string(),
            team: team.clone(),
            key: billing.key.clone(),
            scrape: scrape.as_ref().map(|(id, _)| id.to_string()),
            stream_web_view,
            ttl,
        };
        let max = self.config.max_sessions_per_team;
        let max = concurrency.map_or(max, |concurrency| max.min(concurrency.into()));
        let id = row.id.clone();
        // Before the row exists, so that requests that find the row find the session, too.
        let starting = self.registry.start(id.clone());
        let created =
            self.with_store(move |store| store.create_browser_session(&row, max, store.now_ms())).await?;
        let record = match created {
            CreateBrowserSessionOutcome::Created(record) => record,
            CreateBrowserSessionOutcome::TooMany => return Err(SessionError::TooManyOfTeam { max }),
            CreateBrowserSessionOutcome::ScrapeUsed => return Err(SessionError::Ended),
            CreateBrowserSessionOutcome::NotJoined => {
                return Err(SessionError::Unavailable { reason: "the service is starting".to_owned() });
            }
        };
        let deadline = Instant::now() + self.config.open_timeout;
        let url = scrape.as_ref().map(|(_, url)| url);
        let bounded =
            boundary.map(|boundary| self.engine.with_url_boundary("the URLs of a session", boundary));
        let engine = bounded.as_ref().unwrap_or(&self.engine);
        let opening = Box::pin(engine.open_interactive(url, &plan, &team, deadline));
        let opened = tokio::select! {
            opened = opening => opened.map_err(open_error),
            () = self.stopped() => Err(SessionError::Stopping),
        };
        let (page, urls) = match (opened, SessionUrls::random()) {
            (Ok(page), Ok(urls)) => (page, urls),
            (opened, urls) => {
                let error = match (opened, urls) {
                    (Err(error), _) => error,
                    (Ok(page), urls) => {
                        page.close().await;
                        urls.err().unwrap_or(SessionError::Random)
                    }
                };
                self.delete_row(id).await;
                return Err(error);
            }
        };
        let connector = page.browser().connector();
        let session =
            ActiveSession::new(record.clone(), urls.clone(), connector, billing.retention, ttl, activity_ttl);
        let session = Arc::new(session);
        starting.activate(Arc::clone(&session));
        tracing::info!(id = record.id, team, "browser session started");
        let running = RunningSession { inner: Arc::clone(&self), session, page, billing, _permit: permit };
        Ok((SessionView { record, urls: Some(urls) }, running))
    }

    /// Deletes the row of a session that did not start.
    async fn delete_row(&self, id: String) {
        if let Err(error) = self.with_store(move |store| store.delete_browser_session(&id)).await {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "the row of a browser session that did not start is not deleted"
            );
        }
    }

    /// Waits until this process has joined the replicas, which it does when it starts.
    async fn wait_until_joined(&self) {
        // A session can start nevertheless.
        let _ = tokio::time::timeout(JOIN_TIMEOUT, self.store.joined()).await;
    }

    fn acquire(&self) -> Result<OwnedSemaphorePermit, SessionError> {
        let max = self.config.max_sessions;
        if max == 0 {
            let reason =
                "they are switched off (interact.max_sessions or browser.concurrency is 0)".to_owned();
            return Err(SessionError::Unavailable { reason });
        }
        Arc::clone(&self.permits).try_acquire_owned().map_err(|error| match error {
            tokio::sync::TryAcquireError::NoPermits => SessionError::TooMany { max },
            tokio::sync::TryAcquireError::Closed => SessionError::Stopping,
        })
    }
}
