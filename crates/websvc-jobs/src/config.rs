//! Configuration of jobs.

use serde::Deserialize;
use websvc_scrape::BackgroundLimits;
use websvc_store::JobLimits;

use crate::webhook::WebhookConfig;

/// The pace of requests to one host.
///
/// A delay that robots.txt, the crawl or an overloaded host requests applies in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pace {
    /// The duration of the last response, at most 10 seconds.
    #[default]
    Adaptive,
    /// No delay beyond the requested ones: for hosts of the operator.
    Requested,
}

/// Limits and pace of jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobsConfig {
    /// Limits of one job, and of all jobs of one team.
    pub limits: JobLimits,
    /// Maximum of concurrent pages of all jobs.
    pub concurrency: usize,
    /// Maximum of concurrent pages of a team without a limit of its own; `None` sets no limit.
    pub team_concurrency: Option<u32>,
    /// Maximum of concurrent requests to one host, those of all jobs together.
    pub max_per_host: usize,
    /// The delay after each request to a host.
    pub pace: Pace,
    /// The part of the engine's pools that jobs may use.
    pub background_limits: BackgroundLimits,
    /// Delivery of webhook events.
    pub webhooks: WebhookConfig,
    /// Maximum of open WebSockets of one team that watch jobs.
    pub max_sockets_per_team: usize,
}

impl Default for JobsConfig {
    fn default() -> Self {
        Self {
            limits: JobLimits::default(),
            concurrency: 8,
            team_concurrency: None,
            max_per_host: 2,
            pace: Pace::default(),
            background_limits: BackgroundLimits::default(),
            webhooks: WebhookConfig::default(),
            max_sockets_per_team: 100,
        }
    }
}
