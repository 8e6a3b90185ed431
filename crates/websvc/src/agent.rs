//! Agent runs of a running service: start, status, trace, list, threads and cancellation.

use std::time::Duration;

use websvc_types::agent::{
    AgentList, AgentRequest, AgentSnapshotResponse, AgentStarted, AgentStatus, AgentStatusResponse,
    AgentThreadResponse, AgentTraceResponse, CancelAgentResponse,
};

use crate::call::{ApiCall, Idempotency, segment};
use crate::client::Client;
use crate::error::ClientError;

const PATH: &str = "v2/agent";

impl Client {
    /// Starts an agent run, which collects data from the web: `POST /v2/agent`.
    ///
    /// The request is sent as it is. It is repeated only if the service certainly did not process it, because every
    /// request starts a run.
    ///
    /// # Errors
    /// Any [`ClientError`]. Without a language model, it is a [`ClientError::Api`] with status 501.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
    /// use std::time::Duration;
    ///
    /// use websvc::types::agent::AgentRequest;
    ///
    /// let request = AgentRequest {
    ///     urls: Some(vec!["https://shop.example".to_owned()]),
    ///     max_credits: Some(100),
    ///     ..AgentRequest::new("What do the teas of this shop cost?")
    /// };
    /// let run = client.start_agent(&request).await?;
    /// let ended = client.wait_for_agent(&run.id, Duration::from_secs(2)).await?;
    /// println!("{:?}", ended.data);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn start_agent(&self, request: &AgentRequest) -> Result<AgentStarted, ClientError> {
        let mut call = ApiCall::post(PATH, request, self.timeout())?;
        call.idempotency = Idempotency::NotIdempotent;
        self.transport.call(&call).await
    }

    /// Returns the status of a run, and its data once it has ended: `GET /v2/agent/{id}`.
    ///
    /// # Errors
    /// Any [`ClientError`]. An unknown run is a [`ClientError::Api`] with status 404.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client, id: &str) -> Result<(), websvc::ClientError> {
    /// let run = client.agent_status(id).await?;
    /// println!("{:?}: {}", run.status, run.stop_reason.unwrap_or_default());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn agent_status(&self, id: &str) -> Result<AgentStatusResponse, ClientError> {
        self.transport.call(&ApiCall::get(path(id), self.timeout())).await
    }

    /// Reads the status of a run every `interval` until the run has ended, and returns it. A failed or cancelled run is no
    /// error: its `status` is `Failed`.
    ///
    /// # Errors
    /// As [`agent_status`](Self::agent_status). The run continues.
    pub async fn wait_for_agent(
        &self,
        id: &str,
        interval: Duration,
    ) -> Result<AgentStatusResponse, ClientError> {
        loop {
            let run = self.agent_status(id).await?;
            match run.status {
                AgentStatus::Completed | AgentStatus::Failed => return Ok(run),
                AgentStatus::Processing => tokio::time::sleep(interval).await,
            }
        }
    }

    /// Cancels a run: `DELETE /v2/agent/{id}`. Its status is `Failed` a few seconds later.
    ///
    /// # Errors
    /// Any [`ClientError`]. A run that has ended, or was cancelled before, is a [`ClientError::Api`] with status 409.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client, id: &str) -> Result<(), websvc::ClientError> {
    /// client.cancel_agent(id).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn cancel_agent(&self, id: &str) -> Result<CancelAgentResponse, ClientError> {
        self.transport.call(&ApiCall::delete(path(id), self.timeout())).await
    }

    /// Returns at most 20 runs of the team, the newest first: `GET /v2/agent`. With `before`, only runs that were started
    /// before this time, in milliseconds since the Unix epoch.
    ///
    /// # Errors
    /// Any [`ClientError`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
    /// for run in client.agents(None).await?.agents {
    ///     println!("{}  {}", run.id, run.options.prompt);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn agents(&self, before: Option<u64>) -> Result<AgentList, ClientError> {
        let call = ApiCall::get(PATH, self.timeout());
        let call = match before {
            Some(before) => call.query(format!("before={before}")),
            None => call,
        };
        self.transport.call(&call).await
    }

    /// Returns the events of a run so far: `GET /v2/agent/{id}/trace`.
    ///
    /// # Errors
    /// Any [`ClientError`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client, id: &str) -> Result<(), websvc::ClientError> {
    /// for event in client.agent_trace(id).await?.events {
    ///     println!("{}: {:?}", event.occurred_at, event.detail);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn agent_trace(&self, id: &str) -> Result<AgentTraceResponse, ClientError> {
        self.transport.call(&ApiCall::get(format!("{}/trace", path(id)), self.timeout())).await
    }

    /// Returns the content of an artifact that an event `artifact.updated` names: `GET /v2/agent/{id}/snapshots/{snapshotId}`.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn agent_snapshot(
        &self,
        id: &str,
        snapshot_id: &str,
    ) -> Result<AgentSnapshotResponse, ClientError> {
        let path = format!("{}/snapshots/{}", path(id), segment(snapshot_id));
        self.transport.call(&ApiCall::get(path, self.timeout())).await
    }

    /// Returns the runs of a thread with their data: `GET /v2/agent/threads/{id}?includeData=true`.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn agent_thread(&self, id: &str) -> Result<AgentThreadResponse, ClientError> {
        let path = format!("{PATH}/threads/{}", segment(id));
        let call = ApiCall::get(path, self.timeout()).query("includeData=true".to_owned());
        self.transport.call(&call).await
    }
}

fn path(id: &str) -> String {
    format!("{PATH}/{}", segment(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_stays_one_segment() {
        assert_eq!(path("a/../b?c"), "v2/agent/a%2F..%2Fb%3Fc");
    }
}
