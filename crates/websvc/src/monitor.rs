//! Monitors of a running service: creation, lists, changes, checks and their pages.

use std::fmt;

use serde::Serialize;
use serde_json::Value;
use websvc_types::limits::MONITOR_LIST_LIMIT_DEFAULT;
use websvc_types::monitor::{
    ChannelTestResponse, CreateMonitorRequest, DeleteMonitorResponse, MonitorCheckListResponse,
    MonitorCheckResponse, MonitorCheckStatus, MonitorListResponse, MonitorPageStatus, MonitorResponse,
    NotificationChannel, RunMonitorRequest, RunMonitorResponse, UpdateMonitorRequest,
};

use crate::call::{ApiCall, Idempotency, segment};
use crate::client::Client;
use crate::error::ClientError;

const PATH: &str = "v2/monitor";

/// Part of a list: at most `limit` items after the first `skip`. By default, the first 25.
///
/// # Examples
///
/// ```
/// use websvc::ListRange;
///
/// let second_part = ListRange { skip: 25, ..ListRange::default() };
/// assert_eq!(second_part.limit, 25);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListRange {
    /// Number of items before the first one.
    pub skip: u64,
    /// Maximum number of items, 1 to 100.
    pub limit: u64,
}

impl Default for ListRange {
    fn default() -> Self {
        Self { skip: 0, limit: MONITOR_LIST_LIMIT_DEFAULT }
    }
}

impl fmt::Display for ListRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "limit={}&skip={}", self.limit, self.skip)
    }
}

impl Client {
    /// Creates a monitor, which checks pages, sites and searches by a schedule: `POST /v2/monitor`.
    ///
    /// The request is sent as it is. It is repeated only if the service certainly did not process it, because every
    /// request creates a monitor.
    ///
    /// # Errors
    /// Any [`ClientError`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
    /// use websvc::types::monitor::{
    ///     CreateMonitorRequest, MonitorRequestSchedule, MonitorTarget, ScrapeTarget,
    /// };
    ///
    /// let request = CreateMonitorRequest {
    ///     name: "Prices".to_owned(),
    ///     schedule: MonitorRequestSchedule {
    ///         text: Some("every day at 9:00".to_owned()),
    ///         ..MonitorRequestSchedule::default()
    ///     },
    ///     targets: vec![MonitorTarget::Scrape(ScrapeTarget {
    ///         urls: vec!["https://tea.example/prices".to_owned()],
    ///         ..ScrapeTarget::default()
    ///     })],
    ///     ..CreateMonitorRequest::default()
    /// };
    /// let monitor = client.create_monitor(&request).await?.data;
    /// println!("{} runs at {}", monitor.id, monitor.next_run_at.unwrap_or_default());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn create_monitor(
        &self,
        request: &CreateMonitorRequest,
    ) -> Result<MonitorResponse, ClientError> {
        let mut call = ApiCall::post(PATH, request, self.timeout())?;
        call.idempotency = Idempotency::NotIdempotent;
        self.transport.call(&call).await
    }

    /// Returns monitors of the team, the newest first: `GET /v2/monitor`.
    ///
    /// # Errors
    /// Any [`ClientError`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
    /// for monitor in client.monitors(websvc::ListRange::default()).await?.data {
    ///     println!("{}  {}", monitor.id, monitor.name);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn monitors(&self, range: ListRange) -> Result<MonitorListResponse, ClientError> {
        let call = ApiCall::get(PATH, self.timeout()).query(range.to_string());
        self.transport.call(&call).await
    }

    /// Returns a monitor: `GET /v2/monitor/{id}`.
    ///
    /// # Errors
    /// Any [`ClientError`]. An unknown monitor is a [`ClientError::Api`] with status 404.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client, id: &str) -> Result<(), websvc::ClientError> {
    /// let monitor = client.monitor(id).await?.data;
    /// println!("{}: {} ({})", monitor.name, monitor.schedule.cron, monitor.schedule.timezone);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn monitor(&self, id: &str) -> Result<MonitorResponse, ClientError> {
        self.transport.call(&ApiCall::get(path(id), self.timeout())).await
    }

    /// Changes a monitor, pauses it or resumes it: `PATCH /v2/monitor/{id}`. Absent fields stay as they are. The request
    /// is sent as it is, and repeated as a search is.
    ///
    /// # Errors
    /// Any [`ClientError`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client, id: &str) -> Result<(), websvc::ClientError> {
    /// use websvc::types::monitor::{MonitorStateRequest, UpdateMonitorRequest};
    ///
    /// let pause = UpdateMonitorRequest {
    ///     status: Some(MonitorStateRequest::Paused),
    ///     ..UpdateMonitorRequest::default()
    /// };
    /// client.update_monitor(id, &pause).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn update_monitor(
        &self,
        id: &str,
        request: &UpdateMonitorRequest,
    ) -> Result<MonitorResponse, ClientError> {
        self.transport.call(&ApiCall::patch(path(id), request, self.timeout())?).await
    }

    /// Deletes a monitor, its checks and its history: `DELETE /v2/monitor/{id}`.
    ///
    /// # Errors
    /// Any [`ClientError`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client, id: &str) -> Result<(), websvc::ClientError> {
    /// client.delete_monitor(id).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn delete_monitor(&self, id: &str) -> Result<DeleteMonitorResponse, ClientError> {
        self.transport.call(&ApiCall::delete(path(id), self.timeout())).await
    }

    /// Starts a check of a monitor: `POST /v2/monitor/{id}/run`. The request is repeated as that of
    /// [`create_monitor`](Self::create_monitor) is.
    ///
    /// # Errors
    /// Any [`ClientError`]. If a check runs, or the monitor is paused, it is a [`ClientError::Api`] with status 409.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client, id: &str) -> Result<(), websvc::ClientError> {
    /// let check = client.run_monitor(id).await?.data;
    /// println!("check {} is {:?}", check.id, check.status);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn run_monitor(&self, id: &str) -> Result<RunMonitorResponse, ClientError> {
        let path = format!("{}/run", path(id));
        let mut call = ApiCall::post(path, &RunMonitorRequest::default(), self.timeout())?;
        call.idempotency = Idempotency::NotIdempotent;
        self.transport.call(&call).await
    }

    /// Sends a test message to a channel: `POST /v2/monitor/notification/test`. The outcome is in the response, and an
    /// invalid channel is an error. The request is not repeated.
    ///
    /// # Errors
    /// Any [`ClientError`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
    /// use websvc::types::monitor::NotificationChannel;
    ///
    /// let channel = NotificationChannel { url: "ntfy://tea-prices".into(), ..NotificationChannel::default() };
    /// let sent = client.test_monitor_channel(&channel).await?;
    /// println!("{}: {}", sent.service, sent.error.unwrap_or_default());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn test_monitor_channel(
        &self,
        channel: &NotificationChannel,
    ) -> Result<ChannelTestResponse, ClientError> {
        let mut call = ApiCall::post(format!("{PATH}/notification/test"), channel, self.timeout())?;
        call.idempotency = Idempotency::NotIdempotent;
        self.transport.call(&call).await
    }

    /// Returns checks of a monitor, the newest first: `GET /v2/monitor/{id}/checks`. With a status, only checks in that
    /// state.
    ///
    /// # Errors
    /// Any [`ClientError`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client, id: &str) -> Result<(), websvc::ClientError> {
    /// use websvc::ListRange;
    /// use websvc::types::monitor::MonitorCheckStatus;
    ///
    /// let failed = Some(MonitorCheckStatus::Failed);
    /// for check in client.monitor_checks(id, failed, ListRange::default()).await?.data {
    ///     println!("{}: {}", check.created_at, check.error.unwrap_or_default());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn monitor_checks(
        &self,
        id: &str,
        status: Option<MonitorCheckStatus>,
        range: ListRange,
    ) -> Result<MonitorCheckListResponse, ClientError> {
        let path = format!("{}/checks", path(id));
        let call = ApiCall::get(path, self.timeout()).query(query(status, range)?);
        self.transport.call(&call).await
    }

    /// Returns a check of a monitor, and pages of it in the order in which they were done, at most 10 MiB:
    /// `GET /v2/monitor/{id}/checks/{checkId}`. With a status, only pages with that result.
    ///
    /// If the response has `next`, there are further pages: skip those that you have.
    ///
    /// # Errors
    /// Any [`ClientError`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client, id: &str, check: &str) -> Result<(), websvc::ClientError> {
    /// use websvc::ListRange;
    /// use websvc::types::monitor::MonitorPageStatus;
    ///
    /// let changed = Some(MonitorPageStatus::Changed);
    /// for page in client.monitor_check(id, check, changed, ListRange::default()).await?.data.pages {
    ///     println!("{}\n{}", page.url, page.diff.and_then(|diff| diff.text).unwrap_or_default());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn monitor_check(
        &self,
        id: &str,
        check_id: &str,
        status: Option<MonitorPageStatus>,
        range: ListRange,
    ) -> Result<MonitorCheckResponse, ClientError> {
        let path = format!("{}/checks/{}", path(id), segment(check_id));
        let call = ApiCall::get(path, self.timeout()).query(query(status, range)?);
        self.transport.call(&call).await
    }
}

fn path(id: &str) -> String {
    format!("{PATH}/{}", segment(id))
}

/// Returns the query of a list, with the status by its name on the wire.
fn query<S: Serialize>(status: Option<S>, range: ListRange) -> Result<String, ClientError> {
    match serde_json::to_value(status).map_err(ClientError::Encode)? {
        Value::String(name) => Ok(format!("{range}&status={name}")),
        _ => Ok(range.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_stays_one_segment() {
        assert_eq!(path("a/../b?c"), "v2/monitor/a%2F..%2Fb%3Fc");
    }

    #[test]
    fn query_has_the_range_and_the_name_of_the_status() {
        let range = ListRange { skip: 3, limit: 100 };
        assert_eq!(query(None::<MonitorPageStatus>, range).unwrap(), "limit=100&skip=3");
        let status = Some(MonitorCheckStatus::SkippedNoCredits);
        assert_eq!(query(status, range).unwrap(), "limit=100&skip=3&status=skipped_no_credits");
    }
}
