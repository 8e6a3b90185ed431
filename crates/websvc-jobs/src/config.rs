//! Configuration of jobs.

use serde::Deserialize;
use websvc_scrape::BackgroundLimits;
use websvc_store::JobLimits;

use crate::webhook::WebhookConfig;

/// How long a host is left alone after an answer. What robots.txt, a crawl or an overloaded host asks for is kept in any
/// case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HostPause {
    /// As long as it took to answer, at most 10 seconds.
    #[default]
    Answer,
    /// No longer than it asks for: for hosts of one's own.
    Asked,
}

/// The bounds of jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobsConfig {
    /// The most of one job and of one team.
    pub limits: JobLimits,
    /// Pages of all jobs that are worked on at one time.
    pub concurrency: usize,
    /// Requests against one host at one time, those of all jobs.
    pub per_host: usize,
    /// The pause after each of them.
    pub pause: HostPause,
    /// The part of the engine's pools that jobs may take.
    pub share: BackgroundLimits,
    /// How events of jobs are delivered.
    pub webhooks: WebhookConfig,
    /// Sockets of one team that tell how jobs go.
    pub sockets_per_team: usize,
}

impl Default for JobsConfig {
    fn default() -> Self {
        Self {
            limits: JobLimits::default(),
            concurrency: 8,
            per_host: 2,
            pause: HostPause::default(),
            share: BackgroundLimits::default(),
            webhooks: WebhookConfig::default(),
            sockets_per_team: 100,
        }
    }
}
