//! The arguments of `websvc monitor`.

use clap::{ArgGroup, Args, Subcommand};
use websvc_types::limits::{
    MONITOR_LIST_LIMIT_DEFAULT, MONITOR_LIST_LIMIT_MAX, MONITOR_LIST_LIMIT_MIN, MONITOR_RETENTION_MAX_DAYS,
    MONITOR_RETENTION_MIN_DAYS,
};

use super::common::{ServerArgs, server_help};

#[derive(Debug, Args)]
#[command(mut_args(server_help("Server that runs the monitors")))]
pub(crate) struct Monitor {
    #[command(subcommand)]
    pub(crate) command: MonitorCommand,
    #[command(flatten)]
    pub(crate) at: ServerArgs,
    /// Print the response as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MonitorCommand {
    /// Create a monitor of pages, a site or searches
    Create(Box<CreateMonitor>),
    /// Change the name, the schedule, the goal or the notifications of a monitor
    #[command(alias = "update")]
    Edit(Box<EditMonitor>),
    /// List the monitors of the team
    List,
    /// Show a monitor and its last checks
    Show {
        /// ID of the monitor
        id: String,
    },
    /// Start a check now
    Run {
        /// ID of the monitor
        id: String,
        /// Wait for the end of the check, and print the result of each page
        #[arg(long)]
        wait: bool,
    },
    /// Stop the scheduled checks of a monitor
    Pause {
        /// ID of the monitor
        id: String,
    },
    /// Continue the scheduled checks of a monitor
    Resume {
        /// ID of the monitor
        id: String,
    },
    /// Delete a monitor, its checks and its history
    Delete {
        /// ID of the monitor
        id: String,
    },
    /// List the checks of a monitor, the newest first
    Checks {
        /// ID of the monitor
        id: String,
        /// Maximum number of checks, 1 to 100
        #[arg(
            long,
            value_name = "NUMBER",
            default_value_t = MONITOR_LIST_LIMIT_DEFAULT,
            value_parser = clap::value_parser!(u64).range(MONITOR_LIST_LIMIT_MIN..=MONITOR_LIST_LIMIT_MAX)
        )]
        limit: u64,
    },
    /// Send a test message to a channel, such as ntfy://TOPIC
    TestChannel {
        /// URL of the channel
        url: String,
    },
    /// Print the changes that a check found, as a diff
    Diff {
        /// ID of the monitor
        id: String,
        /// ID of the check [default: the last one that ended]
        check: Option<String>,
    },
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("times").required(true).args(["every", "cron"])))]
#[command(group(ArgGroup::new("targets").required(true).multiple(true).args(["urls", "crawl", "searches"])))]
pub(crate) struct CreateMonitor {
    /// Name of the monitor
    #[arg(long)]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) schedule: ScheduleArgs,
    /// Check this page; repeat for several
    #[arg(long = "url", value_name = "URL")]
    pub(crate) urls: Vec<String>,
    /// Check the pages of this site
    #[arg(long, value_name = "URL")]
    pub(crate) crawl: Option<String>,
    /// Check the results of this search; repeat for several
    #[arg(long = "search", value_name = "QUERY")]
    pub(crate) searches: Vec<String>,
    #[command(flatten)]
    pub(crate) settings: MonitorSettings,
}

/// The options of `websvc monitor edit` of which at least one is required.
const CHANGES: [&str; 15] = [
    "name",
    "every",
    "cron",
    "timezone",
    "goal",
    "no_goal",
    "webhook",
    "no_webhook",
    "emails",
    "no_email",
    "slack",
    "no_slack",
    "channels",
    "no_notify",
    "retention",
];

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("times").args(["every", "cron"])))]
#[command(group(ArgGroup::new("changes").required(true).multiple(true).args(CHANGES)))]
pub(crate) struct EditMonitor {
    /// ID of the monitor
    pub(crate) id: String,
    /// New name of the monitor
    #[arg(long)]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) schedule: ScheduleArgs,
    #[command(flatten)]
    pub(crate) settings: MonitorSettings,
    /// Remove the goal; changes are then not judged
    #[arg(long, conflicts_with = "goal")]
    pub(crate) no_goal: bool,
    /// Remove the webhook
    #[arg(long, conflicts_with = "webhook")]
    pub(crate) no_webhook: bool,
    /// Send no more emails
    #[arg(long, conflicts_with = "emails")]
    pub(crate) no_email: bool,
    /// Send no more messages to Slack
    #[arg(long, conflicts_with = "slack")]
    pub(crate) no_slack: bool,
    /// Send no more messages to channels
    #[arg(long, conflicts_with = "channels")]
    pub(crate) no_notify: bool,
}

/// Times of the checks.
#[derive(Debug, Args)]
pub(crate) struct ScheduleArgs {
    /// Schedule in words, such as "every day at 9:00" or "every 30 minutes"
    #[arg(long, value_name = "TEXT")]
    pub(crate) every: Option<String>,
    /// Schedule as a cron expression with five fields, such as "0 9 * * 1-5"
    #[arg(long, value_name = "EXPRESSION")]
    pub(crate) cron: Option<String>,
    /// Time zone of the schedule, such as Europe/Berlin [default of a new monitor: UTC]
    #[arg(long, value_name = "ZONE")]
    pub(crate) timezone: Option<String>,
}

/// Options that a new monitor may have, and that can be changed.
#[derive(Debug, Args)]
pub(crate) struct MonitorSettings {
    /// Changes that matter, in words; a language model judges each change
    #[arg(long, value_name = "TEXT")]
    pub(crate) goal: Option<String>,
    /// Send the events of the monitor to this URL
    #[arg(long, value_name = "URL")]
    pub(crate) webhook: Option<String>,
    /// Send an email about changes to this address; repeat for several
    #[arg(long = "email", value_name = "ADDRESS")]
    pub(crate) emails: Vec<String>,
    /// Add the changed lines to emails
    #[arg(long, requires = "emails")]
    pub(crate) email_diffs: bool,
    /// Send a message about changes to this incoming webhook of Slack or a compatible service
    #[arg(long, value_name = "URL")]
    pub(crate) slack: Option<String>,
    /// Send a message about changes to this channel, such as ntfy://TOPIC or tgram://BOT_TOKEN/CHAT_ID; repeat for several
    #[arg(long = "notify", value_name = "URL")]
    pub(crate) channels: Vec<String>,
    /// Days for which checks are stored, 1 to 365 [default of a new monitor: 30]
    #[arg(
        long,
        value_name = "DAYS",
        value_parser = clap::value_parser!(u32)
            .range(i64::from(MONITOR_RETENTION_MIN_DAYS)..=i64::from(MONITOR_RETENTION_MAX_DAYS))
    )]
    pub(crate) retention: Option<u32>,
}
