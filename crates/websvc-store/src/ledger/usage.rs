//! Usage of requests, and its conversion to daily sums and rows of the log.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::api_version::ApiVersion;
use crate::key::KeyId;

/// Maximum of log rows in memory. Further requests are counted in the sums only.
const MAX_LOG_ROWS: usize = 65_536;
pub(super) const DAY_MS: u64 = 86_400_000;

/// The part of a request's usage that may be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsageRetention {
    /// All of it.
    Whole,
    /// No content of the request or the response.
    Zero,
    /// No content, and no team, key or identifier of the request. The credits count for the team.
    Anonymous,
}

impl UsageRetention {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            UsageRetention::Whole => "whole",
            UsageRetention::Zero => "zero",
            UsageRetention::Anonymous => "anonymous",
        }
    }
}

/// An item of the cost of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageItem {
    /// Name of the item.
    pub item: String,
    /// Number of units.
    pub count: u64,
    /// Credits of all units together.
    pub credits: u64,
}

/// The duration of a stage of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageStage {
    /// Name of the stage.
    pub stage: String,
    /// Duration of the stage.
    pub elapsed: Duration,
}

/// Usage of one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// API key of the request; `None` for an anonymous request.
    pub key: Option<KeyId>,
    /// Identifier of the request.
    pub request: String,
    /// ID by which the client knows the result, if it can rate it. Only a digest is stored, and only with
    /// [`UsageRetention::Whole`].
    pub result: Option<String>,
    /// Operation of the request, such as `search`.
    pub operation: &'static str,
    /// Version of the API that the client called.
    pub api_version: ApiVersion,
    /// HTTP status of the response.
    pub status: u16,
    /// Duration of the request.
    pub elapsed: Duration,
    /// Cost by item.
    pub items: Vec<UsageItem>,
    /// Durations of its stages, in their order.
    pub stages: Vec<UsageStage>,
    /// Query of a search, or URL; stored only with [`UsageRetention::Whole`].
    pub query: Option<String>,
    /// The part that may be stored.
    pub retention: UsageRetention,
}

impl Usage {
    /// Returns the sum of the credits of all items.
    #[must_use]
    pub fn price(&self) -> u64 {
        self.items.iter().fold(0, |sum, item| sum.saturating_add(item.credits))
    }
}

/// Key of a daily sum.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SumKey {
    pub(super) day: u64,
    pub(super) team: Arc<str>,
    pub(super) key: Option<KeyId>,
    pub(super) operation: &'static str,
}

/// Sums over the requests of a day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct DailySum {
    pub(super) requests: u64,
    pub(super) failed: u64,
    pub(super) credits: u64,
    pub(super) last_success_ms: Option<u64>,
}

/// A request in the log.
#[derive(Debug)]
pub(super) struct LogRow {
    pub(super) at_ms: u64,
    pub(super) team: Option<Arc<str>>,
    pub(super) charged: u64,
    pub(super) usage: Usage,
}

/// A lease from which credits were spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SpendingLease {
    pub(super) grant: i64,
    pub(super) lease: i64,
}

/// Usage that has not been written.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// Sums, in the order in which all transactions change them.
    pub(super) sums: BTreeMap<SumKey, DailySum>,
    pub(super) log_rows: Vec<LogRow>,
    /// Spent credits, in the order of the grants, in which all transactions change them.
    pub(super) spent: BTreeMap<SpendingLease, u64>,
    /// Leases to be returned, from which no more credits will be spent.
    pub(super) returned: BTreeSet<SpendingLease>,
}

impl Pending {
    pub(super) fn is_empty(&self) -> bool {
        let Self { sums, log_rows, spent, returned } = self;
        sums.is_empty() && log_rows.is_empty() && spent.is_empty() && returned.is_empty()
    }

    /// Records the usage of a request, for which `team` was charged `charged` credits.
    pub(super) fn record(&mut self, team: &Arc<str>, charged: u64, at_ms: u64, mut usage: Usage) {
        let is_anonymous = usage.retention == UsageRetention::Anonymous;
        if usage.retention != UsageRetention::Whole {
            (usage.query, usage.result) = (None, None);
        }
        if is_anonymous {
            usage.key = None;
            usage.request.clear();
        }
        let key = SumKey {
            day: at_ms / DAY_MS,
            team: Arc::clone(team),
            key: usage.key.clone(),
            operation: usage.operation,
        };
        let sum = self.sums.entry(key).or_default();
        sum.requests += 1;
        sum.credits = sum.credits.saturating_add(charged);
        if usage.status < 400 {
            sum.last_success_ms = Some(at_ms);
        } else {
            sum.failed += 1;
        }
        if self.log_rows.len() < MAX_LOG_ROWS {
            let team = (!is_anonymous).then(|| Arc::clone(team));
            self.log_rows.push(LogRow { at_ms, team, charged, usage });
        }
    }
}
