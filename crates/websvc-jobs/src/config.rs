//! What jobs are told.

use websvc_scrape::ShareConfig;
use websvc_store::JobLimits;

use crate::webhook::WebhookConfig;

/// The bounds of jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobsConfig {
    /// The most of one job and of one team.
    pub limits: JobLimits,
    /// Pages of all jobs that are worked on at one time.
    pub concurrency: usize,
    /// Requests against one host at one time, those of all jobs.
    pub per_host: usize,
    /// The part of the engine's pools that jobs may take.
    pub share: ShareConfig,
    /// How events of jobs are delivered.
    pub webhooks: WebhookConfig,
}

impl Default for JobsConfig {
    fn default() -> Self {
        Self {
            limits: JobLimits::default(),
            concurrency: 8,
            per_host: 2,
            share: ShareConfig::default(),
            webhooks: WebhookConfig::default(),
        }
    }
}
