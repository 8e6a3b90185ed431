//! Monitors and checks on the wire.

use websvc_store::{
    BillingStatus, CheckDeliveries, CheckPageRecord, CheckRecord, CheckStatus, CheckSummary, CheckTrigger,
    MonitorRecord, MonitorStatus,
};
use websvc_types::monitor as wire;
use websvc_types::monitor::{
    Monitor, MonitorBillingStatus, MonitorCheck, MonitorCheckPage, MonitorCheckStatus, MonitorCheckSummary,
    MonitorTrigger,
};

use websvc_validate::MonitorDefinition;

use crate::notification;
use crate::page::{PageFields, page_status};
use crate::progress::CheckProgress;
use crate::stored::StoredDefinition;
use crate::time::from_ms;

/// Returns a monitor as clients see it; `None` if a later version stored it.
#[must_use]
pub fn monitor(record: &MonitorRecord) -> Option<Monitor> {
    let StoredDefinition { definition, check_credits: _, month_credits } =
        StoredDefinition::decode(&record.definition)?;
    Some(Monitor {
        id: record.id.clone(),
        name: definition.name.clone(),
        status: match record.status {
            MonitorStatus::Active => wire::MonitorStatus::Active,
            MonitorStatus::Paused => wire::MonitorStatus::Paused,
        },
        schedule: definition.wire_schedule(),
        next_run_at: record.next_run_ms.map(timestamp),
        last_run_at: record.last_run_ms.map(timestamp),
        current_check_id: record.current_check.clone(),
        targets: definition.targets.clone(),
        webhook: definition.webhook.clone(),
        notification: definition.notification.clone(),
        retention_days: definition.retention_days,
        estimated_credits_per_month: Some(month_credits),
        last_check_summary: record.last_summary.map(summary),
        goal: definition.goal.clone(),
        judge_enabled: definition.judge_enabled(),
        created_at: timestamp(record.created_at_ms),
        updated_at: timestamp(record.updated_at_ms),
        feed_url: None,
        email_recipient_subscriptions: None,
    })
}

/// Returns the definition of a monitor; `None` if a later version stored it.
#[must_use]
pub fn definition(record: &MonitorRecord) -> Option<MonitorDefinition> {
    StoredDefinition::decode(&record.definition).map(|stored| stored.definition)
}

/// Returns a check as clients see it, with the events that are not delivered.
#[must_use]
pub fn check(record: &CheckRecord, deliveries: &CheckDeliveries) -> MonitorCheck {
    let progress = CheckProgress::decode(&record.progress);
    let notification_status = StoredDefinition::decode(&record.definition)
        .and_then(|stored| notification::status(record, &stored.definition, &progress, deliveries));
    let is_finished = record.finished_at_ms.is_some();
    let targets: Vec<_> = progress.targets.into_iter().map(|target| target.result).collect();
    MonitorCheck {
        id: record.id.clone(),
        monitor_id: record.monitor_id.clone(),
        status: check_status(record.status),
        trigger: match record.trigger {
            CheckTrigger::Scheduled => MonitorTrigger::Scheduled,
            CheckTrigger::Manual => MonitorTrigger::Manual,
        },
        scheduled_for: record.scheduled_for_ms.map(timestamp),
        started_at: record.started_at_ms.map(timestamp),
        finished_at: record.finished_at_ms.map(timestamp),
        estimated_credits: Some(record.estimated_credits),
        reserved_credits: Some(record.reserved_credits),
        actual_credits: is_finished.then_some(record.actual_credits),
        billing_status: match record.billing {
            BillingStatus::NotApplicable => MonitorBillingStatus::NotApplicable,
            BillingStatus::Reserved => MonitorBillingStatus::Reserved,
            BillingStatus::Confirmed => MonitorBillingStatus::Confirmed,
            BillingStatus::Released => MonitorBillingStatus::Released,
            BillingStatus::Failed => MonitorBillingStatus::Failed,
        },
        summary: summary(record.summary),
        target_results: (!targets.is_empty()).then_some(targets),
        notification_status,
        error: record.error.clone(),
        created_at: timestamp(record.created_at_ms),
        updated_at: timestamp(record.updated_at_ms),
    }
}

/// Returns a page of a check as clients see it.
#[must_use]
pub fn check_page(record: CheckPageRecord) -> MonitorCheckPage {
    let CheckPageRecord { id, target, url, status, document, created_at_ms } = record;
    let PageFields {
        previous_scrape_id,
        current_scrape_id,
        status_code,
        error,
        metadata,
        diff,
        snapshot,
        judgment,
    } = serde_json::from_slice(&document).unwrap_or_default();
    MonitorCheckPage {
        id,
        target_id: target,
        url,
        status: page_status(status),
        previous_scrape_id,
        current_scrape_id,
        status_code,
        error,
        metadata,
        diff,
        snapshot,
        judgment,
        created_at: timestamp(created_at_ms),
    }
}

fn check_status(status: CheckStatus) -> MonitorCheckStatus {
    match status {
        CheckStatus::Queued => MonitorCheckStatus::Queued,
        CheckStatus::Running => MonitorCheckStatus::Running,
        CheckStatus::Completed => MonitorCheckStatus::Completed,
        CheckStatus::Partial => MonitorCheckStatus::Partial,
        CheckStatus::Failed => MonitorCheckStatus::Failed,
        CheckStatus::SkippedOverlap => MonitorCheckStatus::SkippedOverlap,
        CheckStatus::SkippedNoCredits => MonitorCheckStatus::SkippedNoCredits,
    }
}

fn summary(summary: CheckSummary) -> MonitorCheckSummary {
    let CheckSummary { total, same, changed, new, removed, error } = summary;
    MonitorCheckSummary { total_pages: total, same, changed, new, removed, error }
}

/// Returns a time as ISO 8601 with milliseconds.
fn timestamp(ms: u64) -> String {
    format!("{:.3}", from_ms(ms))
}
