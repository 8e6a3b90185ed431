//! A body, and what becomes of it.

use std::fmt::Debug;

use websvc_types::{Violation, ViolationCode};
use websvc_validate::{Checked, Policy, Rejection, SearchPlan, read_search};

/// A body, and what becomes of it.
pub(crate) struct Case {
    /// Label of the body on the page; none if another case has the same.
    pub(crate) label: Option<String>,
    /// The place that the case is about, as a JSON Pointer.
    pub(crate) pointer: String,
    /// The body.
    pub(crate) body: String,
    /// Policy of the sender's team.
    pub(crate) policy: Policy,
    /// Expected result.
    pub(crate) expected: Expected,
}

/// Expected result for a body.
pub(crate) enum Expected {
    /// It is accepted.
    Accepted {
        /// The words of the only warning; none means that there is no warning.
        warning: Option<&'static str>,
        /// Expected values of the plan.
        reading: Option<Reading>,
    },
    /// It breaks exactly these rules: pointers and codes, in order.
    Refused(Vec<(String, ViolationCode)>),
    /// Its sender may not.
    Forbidden,
    /// It cannot be read as JSON.
    Unreadable,
}

/// Looks into a plan; the error is what is there instead of what is expected.
type Find = Box<dyn Fn(&SearchPlan) -> Result<(), String>>;

/// Expected values of a plan.
pub(crate) struct Reading {
    /// As the page shows it.
    pub(crate) shown: String,
    /// Looks for it.
    find: Find,
}

impl Reading {
    /// Expects that `read` finds `expected` in the plan.
    pub(crate) fn new<T: PartialEq + Debug + 'static>(
        read: impl Fn(&SearchPlan) -> T + 'static,
        expected: T,
    ) -> Self {
        let shown = format!("{expected:?}");
        let find = move |plan: &SearchPlan| {
            let found = read(plan);
            if found == expected { Ok(()) } else { Err(format!("{found:?} instead of {expected:?}")) }
        };
        Self { shown, find: Box::new(find) }
    }
}

impl Case {
    /// Reads the body.
    pub(crate) fn outcome(&self) -> Result<Checked<SearchPlan>, Rejection> {
        read_search(self.body.as_bytes(), &self.policy)
    }

    /// Runs the case.
    ///
    /// # Errors
    /// What is not as expected.
    pub(crate) fn run(&self) -> Result<(), String> {
        match (&self.expected, self.outcome()) {
            (Expected::Accepted { warning, reading }, Ok(Checked { plan, warnings })) => {
                match (warning, &warnings[..]) {
                    (None, []) => {}
                    (Some(words), [warning]) if warning.contains(words) => {}
                    _ => return Err(format!("warns {warnings:?} instead of {warning:?}")),
                }
                reading.as_ref().map_or(Ok(()), |reading| (reading.find)(&plan))
            }
            (Expected::Refused(rules), Err(Rejection::Invalid(found))) if pairs(&found) == *rules => Ok(()),
            (Expected::Refused(rules), outcome) => Err(format!("{} instead of {rules:?}", told(outcome))),
            (Expected::Forbidden, Err(Rejection::Forbidden { .. }))
            | (Expected::Unreadable, Err(Rejection::Json { .. })) => Ok(()),
            (_, outcome) => Err(told(outcome)),
        }
    }
}

fn pairs(violations: &[Violation]) -> Vec<(String, ViolationCode)> {
    violations.iter().map(|violation| (violation.path.clone(), violation.code)).collect()
}

fn told(outcome: Result<Checked<SearchPlan>, Rejection>) -> String {
    match outcome {
        Ok(_) => "is accepted".to_owned(),
        Err(Rejection::Invalid(found)) => format!("breaks {:?}", pairs(&found)),
        Err(other) => format!("is refused: {other}"),
    }
}
