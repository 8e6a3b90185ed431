//! Configuration of monitors and their messages.

use std::time::Duration;

use url::Url;
use websvc_notify::Mailer;
use websvc_notify::webhook::BackoffSchedule;
use websvc_store::{ConfirmationLimits, MonitorLimits};

/// Limits and clock of monitors.
#[derive(Debug, Clone)]
pub struct MonitorsConfig {
    /// Limits of the monitors of a team.
    pub limits: MonitorLimits,
    /// Minimum time between two scheduled checks of a monitor.
    pub min_interval: Duration,
    /// Maximum number of checks that this process works on at the same time.
    pub concurrency: usize,
    /// Time limit of a check.
    pub check_timeout: Duration,
    /// Time limit of a check that has only searches.
    pub search_check_timeout: Duration,
    /// The mail server for notifications; `None` sends no emails.
    pub mail: Option<MailSettings>,
    /// The attempts to send emails and Slack messages.
    pub messages: MessageConfig,
}

/// The mail server for notifications.
#[derive(Debug, Clone)]
pub struct MailSettings {
    /// Delivers the emails.
    pub mailer: Mailer,
    /// URL of this service for the links in emails.
    pub public_url: Url,
}

/// The attempts to send emails and Slack messages.
#[derive(Debug, Clone, Copy)]
pub struct MessageConfig {
    /// Maximum number of attempts to send a message.
    pub max_attempts: u32,
    /// The delays between the attempts.
    pub backoff: BackoffSchedule,
    /// Maximum time until the service of a channel responds.
    pub channel_timeout: Duration,
    /// Time after which a message that was not sent fails.
    pub max_age: Duration,
    /// Limits of the emails that ask for a confirmation.
    pub confirmations: ConfirmationLimits,
}

impl Default for MessageConfig {
    fn default() -> Self {
        Self {
            max_attempts: 8,
            backoff: BackoffSchedule {
                initial: Duration::from_secs(5),
                factor: 4,
                max: Duration::from_secs(4 * 60 * 60),
            },
            channel_timeout: Duration::from_secs(10),
            max_age: Duration::from_secs(72 * 60 * 60),
            confirmations: ConfirmationLimits::default(),
        }
    }
}

impl Default for MonitorsConfig {
    fn default() -> Self {
        Self {
            limits: MonitorLimits::default(),
            min_interval: Duration::from_secs(5 * 60),
            concurrency: 32,
            check_timeout: Duration::from_secs(60 * 60),
            search_check_timeout: Duration::from_secs(10 * 60),
            mail: None,
            messages: MessageConfig::default(),
        }
    }
}
