//! Browser sessions of a running service: start, code, list and end, with or without a scrape.

use std::time::Duration;

use websvc_types::interact::{
    BrowserListResponse, BrowserSessionStatus, CreateBrowserRequest, CreateBrowserResponse,
    EndBrowserResponse, ExecuteRequest, ExecuteResponse, InteractRequest, InteractResponse,
};
use websvc_types::limits::{INTERACT_TIMEOUT_DEFAULT_S, INTERACT_TIMEOUT_MAX_S};

use crate::call::{ApiCall, Idempotency, segment};
use crate::client::Client;
use crate::error::ClientError;

const PATH: &str = "v2/browser";

/// Time for the start of a browser, and for the code of other requests that runs before. Calls may take it in addition to
/// the time limit of their code.
const START_TIMEOUT: Duration = Duration::from_secs(90);

impl Client {
    /// Starts a browser session: `POST /v2/browser`.
    ///
    /// The request is sent as it is. It is repeated only if the service certainly did not process it, because every
    /// request starts a session. End the session when it is no longer needed: it costs credits.
    ///
    /// # Errors
    /// Any [`ClientError`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
    /// use websvc::types::interact::{CreateBrowserRequest, ExecuteRequest};
    ///
    /// let request = CreateBrowserRequest { ttl: Some(120), ..CreateBrowserRequest::default() };
    /// let session = client.start_browser(&request).await?;
    /// let code = "await page.goto('https://tea.example/'); await page.title()".to_owned();
    /// let outcome = client.execute_code(&session.id, &ExecuteRequest { code, ..ExecuteRequest::default() }).await?;
    /// println!("{}", outcome.result.unwrap_or_default());
    /// client.end_browser(&session.id).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn start_browser(
        &self,
        request: &CreateBrowserRequest,
    ) -> Result<CreateBrowserResponse, ClientError> {
        let timeout = self.timeout.unwrap_or(START_TIMEOUT);
        let mut call = ApiCall::post(PATH, request, timeout)?;
        call.idempotency = Idempotency::NotIdempotent;
        self.transport.call(&call).await
    }

    /// Returns browser sessions of the team, the newest first: `GET /v2/browser`. With a status, only sessions in that
    /// state.
    ///
    /// # Errors
    /// Any [`ClientError`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
    /// use websvc::types::interact::BrowserSessionStatus;
    ///
    /// for session in client.browser_sessions(Some(BrowserSessionStatus::Active)).await?.sessions {
    ///     println!("{}  {}", session.id, session.live_view_url);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn browser_sessions(
        &self,
        status: Option<BrowserSessionStatus>,
    ) -> Result<BrowserListResponse, ClientError> {
        let call = ApiCall::get(PATH, self.timeout());
        let call = match status {
            None => call,
            Some(BrowserSessionStatus::Active) => call.query("status=active".to_owned()),
            Some(BrowserSessionStatus::Destroyed) => call.query("status=destroyed".to_owned()),
        };
        self.transport.call(&call).await
    }

    /// Runs code in a browser session: `POST /v2/browser/{id}/execute`. Code that fails is a result: see `exit_code` and
    /// `error`. The request is repeated as that of [`start_browser`](Self::start_browser) is.
    ///
    /// # Errors
    /// Any [`ClientError`]. A session that has ended is a [`ClientError::Api`] with status 410.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client, id: &str) -> Result<(), websvc::ClientError> {
    /// use websvc::types::interact::{ExecuteRequest, InteractLanguage};
    ///
    /// let request = ExecuteRequest {
    ///     code: "open tea.example && snapshot -i".to_owned(),
    ///     language: Some(InteractLanguage::Bash),
    ///     ..ExecuteRequest::default()
    /// };
    /// let outcome = client.execute_code(id, &request).await?;
    /// println!("{}{}", outcome.stdout, outcome.error.unwrap_or_default());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn execute_code(
        &self,
        id: &str,
        request: &ExecuteRequest,
    ) -> Result<ExecuteResponse, ClientError> {
        let timeout = self.timeout.unwrap_or_else(|| code_timeout(request.timeout));
        let mut call = ApiCall::post(format!("{PATH}/{}/execute", segment(id)), request, timeout)?;
        call.idempotency = Idempotency::NotIdempotent;
        self.transport.call(&call).await
    }

    /// Ends a browser session, and saves its profile: `DELETE /v2/browser/{id}`.
    ///
    /// # Errors
    /// Any [`ClientError`]. Ending it twice succeeds: the second response has no credits.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client, id: &str) -> Result<(), websvc::ClientError> {
    /// println!("{} credits", client.end_browser(id).await?.credits_billed.unwrap_or_default());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn end_browser(&self, id: &str) -> Result<EndBrowserResponse, ClientError> {
        let timeout = self.timeout.unwrap_or(START_TIMEOUT);
        self.transport.call(&ApiCall::delete(format!("{PATH}/{}", segment(id)), timeout)).await
    }

    /// Runs code, or the prompt of a task, in the page of a scrape: `POST /v2/scrape/{id}/interact`. The ID is
    /// `scrape_id` of the metadata of its response. The first request opens a session, and later ones use it.
    ///
    /// Code that fails is a result whose `success` is false. The request is repeated as that of
    /// [`start_browser`](Self::start_browser) is.
    ///
    /// # Errors
    /// Any [`ClientError`]. A session that has ended is a [`ClientError::Api`] with status 410: scrape the page again.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
    /// use websvc::types::ScrapeRequest;
    /// use websvc::types::interact::InteractRequest;
    ///
    /// let page = client.scrape(&ScrapeRequest::new("https://tea.example/")).await?.data;
    /// let id = page.metadata.and_then(|metadata| metadata.scrape_id).unwrap_or_default();
    /// let code = "await page.getByText('More').click(); await page.locator('li').count()";
    /// let request = InteractRequest { code: Some(code.to_owned()), ..InteractRequest::default() };
    /// println!("{}", client.interact(&id, &request).await?.result.unwrap_or_default());
    /// client.end_interaction(&id).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn interact(
        &self,
        scrape_id: &str,
        request: &InteractRequest,
    ) -> Result<InteractResponse, ClientError> {
        let InteractRequest { code, prompt: _, language: _, timeout, origin: _, integration: _ } = request;
        // The time limit of a prompt is longer than that of code if the request has none.
        let limit = timeout.or_else(|| code.is_none().then_some(f64::from(INTERACT_TIMEOUT_MAX_S)));
        let timeout = self.timeout.unwrap_or_else(|| code_timeout(limit));
        let mut call = ApiCall::post(interact_path(scrape_id), request, timeout)?;
        call.idempotency = Idempotency::NotIdempotent;
        self.transport.call(&call).await
    }

    /// Ends the session of a scrape: `DELETE /v2/scrape/{id}/interact`.
    ///
    /// # Errors
    /// Any [`ClientError`]. A scrape without a session is a [`ClientError::Api`] with status 404.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client, scrape_id: &str) -> Result<(), websvc::ClientError> {
    /// client.end_interaction(scrape_id).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn end_interaction(&self, scrape_id: &str) -> Result<EndBrowserResponse, ClientError> {
        let timeout = self.timeout.unwrap_or(START_TIMEOUT);
        self.transport.call(&ApiCall::delete(interact_path(scrape_id), timeout)).await
    }
}

fn interact_path(scrape_id: &str) -> String {
    format!("v2/scrape/{}/interact", segment(scrape_id))
}

/// Returns the time limit of a call whose code has this time limit in seconds.
fn code_timeout(seconds: Option<f64>) -> Duration {
    let seconds = seconds.unwrap_or(f64::from(INTERACT_TIMEOUT_DEFAULT_S));
    // The service rejects a number that is not a duration.
    Duration::try_from_secs_f64(seconds).unwrap_or_default().saturating_add(START_TIMEOUT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_timeout_is_that_of_the_code_and_the_start_of_a_browser() {
        for (seconds, expected) in
            [(None, 120_000), (Some(0.5), 90_500), (Some(300.0), 390_000), (Some(-1.0), 90_000)]
        {
            assert_eq!(code_timeout(seconds), Duration::from_millis(expected), "{seconds:?}");
        }
    }
}
