//! The definition of a monitor, as the store keeps it: with its price, which is computed once.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use websvc_engine::{Engine, MonitorEstimate};
use websvc_validate::{MonitorDefinition, MonitorPlan};

/// A definition with the estimates of its credits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredDefinition {
    pub(crate) definition: MonitorDefinition,
    /// Estimate of a check.
    pub(crate) check_credits: u64,
    /// Estimate of all checks of 30 days.
    pub(crate) month_credits: u64,
}

impl StoredDefinition {
    /// Estimates the credits of a definition, with its plan.
    pub(crate) fn new(
        engine: &Engine,
        definition: MonitorDefinition,
        plan: &MonitorPlan,
        now: Timestamp,
    ) -> Self {
        let runs = definition.schedule().map_or(0, |schedule| schedule.runs_per_30_days(now));
        let is_judged = definition.judges().is_some() && engine.completion_model().is_some();
        let MonitorEstimate { check, month } = engine.estimate_monitor(plan, is_judged, runs);
        Self { definition, check_credits: check, month_credits: month }
    }

    /// Reads a stored definition; `None` if a later version stored it.
    pub(crate) fn decode(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    pub(crate) fn encode(&self) -> String {
        serde_json::to_string(self).expect("a definition is read from JSON, so it can be written as such")
    }
}
