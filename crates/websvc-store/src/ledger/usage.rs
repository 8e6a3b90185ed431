//! Usage of a request, and its conversion to sums and rows.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::key::KeyId;

/// The most lines that wait to be written; what comes beyond is counted in the sums and has no line.
const LINES_MAX: usize = 65_536;
const DAY_MS: u64 = 86_400_000;

/// How much of a request may be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsageRetention {
    /// All of it.
    Whole,
    /// Nothing that the caller sent or got.
    Zero,
    /// Nothing that the caller sent or got, and no team, key or request; the credits are counted for the team.
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

/// One line of what a request cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageItem {
    /// Name of the item.
    pub item: String,
    /// How many of it.
    pub count: u64,
    /// Credits of all units together.
    pub credits: u64,
}

/// One stage of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageStage {
    /// Its name.
    pub stage: String,
    /// How long it took.
    pub took: Duration,
}

/// Usage of one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// The key; `None` when nobody was asked for one.
    pub key: Option<KeyId>,
    /// The identifier of the request.
    pub request: String,
    /// Operation of the request, such as `search`.
    pub operation: &'static str,
    /// The HTTP status of the answer.
    pub status: u16,
    /// How long it took.
    pub took: Duration,
    /// Cost by item.
    pub items: Vec<UsageItem>,
    /// How long its stages took, in their order.
    pub stages: Vec<UsageStage>,
    /// Query of a search, or the like; stored only with [`UsageRetention::Whole`].
    pub query: Option<String>,
    /// How much of it may be kept.
    pub retention: UsageRetention,
}

impl Usage {
    /// Returns the sum of the items.
    #[must_use]
    pub fn price(&self) -> u64 {
        self.items.iter().fold(0, |sum, item| sum.saturating_add(item.credits))
    }
}

/// Key of a usage sum.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct SumKey {
    pub(super) day: u64,
    pub(super) team: Arc<str>,
    pub(super) key: Option<KeyId>,
    pub(super) operation: &'static str,
}

/// The sums of a day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct DailySum {
    pub(super) requests: u64,
    pub(super) failed: u64,
    pub(super) credits: u64,
    pub(super) last_success_ms: Option<u64>,
}

/// A request as the log has it.
#[derive(Debug)]
pub(super) struct LogRow {
    pub(super) at_ms: u64,
    pub(super) team: Option<Arc<str>>,
    pub(super) charged: u64,
    pub(super) usage: Usage,
}

/// Usage that has not been written.
#[derive(Debug, Default)]
pub(super) struct Pending {
    pub(super) sums: HashMap<SumKey, DailySum>,
    pub(super) lines: Vec<LogRow>,
    /// Spent credits, by lease.
    pub(super) spent: HashMap<i64, u64>,
    /// Leases that go back; nothing more will be spent from them.
    pub(super) returned: Vec<i64>,
}

impl Pending {
    pub(super) fn is_empty(&self) -> bool {
        let Self { sums, lines, spent, returned } = self;
        sums.is_empty() && lines.is_empty() && spent.is_empty() && returned.is_empty()
    }

    /// Notes a request of `team` of which `charged` credits were paid.
    pub(super) fn note(&mut self, team: &Arc<str>, charged: u64, at_ms: u64, mut usage: Usage) {
        let anonymous = usage.retention == UsageRetention::Anonymous;
        if usage.retention != UsageRetention::Whole {
            usage.query = None;
        }
        if anonymous {
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
        if self.lines.len() < LINES_MAX {
            let team = (!anonymous).then(|| Arc::clone(team));
            self.lines.push(LogRow { at_ms, team, charged, usage });
        }
    }
}
