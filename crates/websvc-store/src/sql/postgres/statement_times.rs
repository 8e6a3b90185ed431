//! The durations of the statements to a server.

use std::time::Duration;

use websvc_stage::{Distribution, Histogram};

use super::StatementClass;

/// Upper bounds of the durations that are counted, in microseconds: a statement takes at least a round trip.
pub(crate) const BOUNDS_US: &[u64] = &[
    500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    5_000_000,
];

/// The durations of statements by class.
#[derive(Debug)]
pub(crate) struct StatementTimes([Histogram; 3]);

impl StatementTimes {
    pub(crate) fn new() -> Self {
        Self([(); 3].map(|()| Histogram::new(BOUNDS_US)))
    }

    pub(crate) fn count(&self, class: StatementClass, duration: Duration) {
        match class {
            StatementClass::Watch => self.0[0].count(duration),
            StatementClass::Request => self.0[1].count(duration),
            StatementClass::Background => self.0[2].count(duration),
            // Of a command, not of the service.
            StatementClass::Migration => {}
        }
    }

    pub(crate) fn distributions(&self) -> Vec<(&'static str, Distribution)> {
        let names = ["watch", "request", "background"];
        names.into_iter().zip(self.0.iter().map(Histogram::distribution)).collect()
    }
}
