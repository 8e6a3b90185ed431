//! Names of states and results, as in responses.

use websvc::types::monitor::{
    MonitorCheckStatus, MonitorConfidence, MonitorPageStatus, MonitorSearchStatus, MonitorStatus,
};

pub(super) fn status_name(status: MonitorStatus) -> &'static str {
    match status {
        MonitorStatus::Active => "active",
        MonitorStatus::Paused => "paused",
        MonitorStatus::Deleted => "deleted",
    }
}

pub(super) fn check_status_name(status: MonitorCheckStatus) -> &'static str {
    match status {
        MonitorCheckStatus::Queued => "queued",
        MonitorCheckStatus::Running => "running",
        MonitorCheckStatus::Completed => "completed",
        MonitorCheckStatus::Failed => "failed",
        MonitorCheckStatus::Partial => "partial",
        MonitorCheckStatus::SkippedOverlap => "skipped_overlap",
        MonitorCheckStatus::SkippedNoCredits => "skipped_no_credits",
    }
}

pub(super) fn page_status_name(status: MonitorPageStatus) -> &'static str {
    match status {
        MonitorPageStatus::Same => "same",
        MonitorPageStatus::New => "new",
        MonitorPageStatus::Changed => "changed",
        MonitorPageStatus::Removed => "removed",
        MonitorPageStatus::Error => "error",
    }
}

pub(super) fn search_status_name(status: MonitorSearchStatus) -> &'static str {
    match status {
        MonitorSearchStatus::Alert => "alert",
        MonitorSearchStatus::AlreadySeen => "already_seen",
        MonitorSearchStatus::Watching => "watching",
        MonitorSearchStatus::Ignored => "ignored",
        MonitorSearchStatus::Skipped => "skipped",
    }
}

pub(super) fn confidence_name(confidence: MonitorConfidence) -> &'static str {
    match confidence {
        MonitorConfidence::High => "high",
        MonitorConfidence::Medium => "medium",
        MonitorConfidence::Low => "low",
    }
}
