//! Case of the conformance table: a body and its expected result.

use std::fmt::Debug;

use websvc_types::{SearchRequest, Violation, ViolationCode};
use websvc_validate::{Checked, Policy, Rejection, SearchPlan, read_request};

/// Body with its expected result.
pub(crate) struct Case {
    /// Label of the body on the page. `None` if another case has the same label.
    pub(crate) label: Option<String>,
    /// JSON Pointer of the value that the case is about.
    pub(crate) pointer: String,
    /// Request body.
    pub(crate) body: String,
    /// Policy of the sender's team.
    pub(crate) policy: Policy,
    /// Expected result.
    pub(crate) expected: Expected,
}

/// Expected result for a body.
pub(crate) enum Expected {
    /// The body is accepted.
    Accepted {
        /// Part of the only warning. `None` if there must be no warning.
        warning: Option<&'static str>,
        /// Expected values of the plan.
        reading: Option<Reading>,
    },
    /// The body has exactly these violations: pointers and codes, in order.
    Invalid(Vec<(String, ViolationCode)>),
    /// The team lacks the permission.
    Forbidden,
    /// The body is not JSON.
    Malformed,
}

/// Check of a plan. The error describes the difference.
type PlanCheck = Box<dyn Fn(&SearchPlan) -> Result<(), String>>;

/// Expected values of a plan.
pub(crate) struct Reading {
    /// Text on the page.
    pub(crate) label: String,
    /// Check of the plan.
    check: PlanCheck,
}

impl Reading {
    /// Expects that `read` returns `expected` for the plan.
    pub(crate) fn new<T: PartialEq + Debug + 'static>(
        read: impl Fn(&SearchPlan) -> T + 'static,
        expected: T,
    ) -> Self {
        let label = format!("{expected:?}");
        let check = move |plan: &SearchPlan| {
            let found = read(plan);
            if found == expected { Ok(()) } else { Err(format!("{found:?} instead of {expected:?}")) }
        };
        Self { label, check: Box::new(check) }
    }
}

impl Case {
    /// Reads the body.
    pub(crate) fn outcome(&self) -> Result<Checked<SearchPlan>, Rejection> {
        read_request::<SearchRequest>(self.body.as_bytes(), &self.policy)
    }

    /// Runs the case.
    ///
    /// # Errors
    /// A description of the difference to the expected result.
    pub(crate) fn run(&self) -> Result<(), String> {
        match (&self.expected, self.outcome()) {
            (Expected::Accepted { warning, reading }, Ok(Checked { plan, warnings })) => {
                match (warning, &warnings[..]) {
                    (None, []) => {}
                    (Some(words), [warning]) if warning.contains(words) => {}
                    _ => return Err(format!("warns {warnings:?} instead of {warning:?}")),
                }
                reading.as_ref().map_or(Ok(()), |reading| (reading.check)(&plan))
            }
            (Expected::Invalid(rules), Err(Rejection::Invalid(found))) if pairs(&found) == *rules => Ok(()),
            (Expected::Invalid(rules), outcome) => Err(format!("{} instead of {rules:?}", describe(outcome))),
            (Expected::Forbidden, Err(Rejection::Forbidden { .. }))
            | (Expected::Malformed, Err(Rejection::Json { .. })) => Ok(()),
            (_, outcome) => Err(describe(outcome)),
        }
    }
}

fn pairs(violations: &[Violation]) -> Vec<(String, ViolationCode)> {
    violations.iter().map(|violation| (violation.path.clone(), violation.code)).collect()
}

fn describe(outcome: Result<Checked<SearchPlan>, Rejection>) -> String {
    match outcome {
        Ok(_) => "accepted".to_owned(),
        Err(Rejection::Invalid(found)) => format!("violations {:?}", pairs(&found)),
        Err(other) => format!("rejected: {other}"),
    }
}
