//! Monitors: recurring checks of pages, sites and searches, and notifications about changes (operations.md, sections 0
//! and 3).

mod channel;
mod check;
mod condition;
mod event;
mod notification;
mod page;
mod page_status;
mod request;
mod response;
mod target;
mod webhook;

pub use channel::{ChannelDelivery, ChannelTestResponse, NotificationChannel};
pub use check::{
    MonitorBillingStatus, MonitorCheck, MonitorCheckStatus, MonitorCheckSummary, MonitorTargetResult,
    MonitorTrigger,
};
pub use condition::{ConditionText, MonitorCondition};
pub use event::{MonitorCheckEvent, MonitorPageEvent, MonitorPageEventDiff};
pub use notification::{
    EmailDelivery, EmailNotification, EmailSubscription, EmailSubscriptionSource, EmailSubscriptionStatus,
    MonitorEmailRequest, MonitorEmailResponse, MonitorEmailResult, MonitorNotification,
    MonitorNotificationStatus, SlackDelivery, SlackNotification, WebhookDelivery,
};
pub use page::{
    MeaningfulChange, MeaningfulChangeKind, MonitorCheckDetail, MonitorCheckPage, MonitorConfidence,
    MonitorJudgment, MonitorPageDiff, MonitorPageMetadata, MonitorPageSnapshot, MonitorSearchStatus,
};
pub use page_status::MonitorPageStatus;
pub use request::{
    CreateMonitorRequest, MonitorRequestSchedule, MonitorStateRequest, RunMonitorRequest,
    UpdateMonitorRequest,
};
pub use response::{
    DeleteMonitorResponse, Monitor, MonitorCheckListResponse, MonitorCheckResponse, MonitorListResponse,
    MonitorResponse, MonitorSchedule, MonitorStatus, RunMonitorResponse,
};
pub use target::{
    CrawlTarget, MonitorCrawlOptions, MonitorTarget, MonitorTargetKind, ScrapeTarget, SearchTarget,
    SearchWindow,
};
pub use webhook::{MonitorEventKind, MonitorWebhook, MonitorWebhookOptions};
