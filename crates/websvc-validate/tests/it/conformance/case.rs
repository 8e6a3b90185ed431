//! A body, and what becomes of it.

use std::fmt::Debug;

use websvc_types::{Violation, ViolationCode};
use websvc_validate::{Checked, Policy, Rejection, SearchPlan, read_search};

/// A body, and what becomes of it.
pub(crate) struct Case {
    /// What the page shows of the body.
    pub(crate) label: String,
    /// The place that the case is about, as a JSON Pointer.
    pub(crate) pointer: String,
    /// The body.
    pub(crate) body: String,
    /// What its sender may do.
    pub(crate) policy: Policy,
    /// What becomes of it.
    pub(crate) expected: Expected,
}

/// What becomes of a body.
pub(crate) enum Expected {
    /// It is accepted without a warning.
    Accepted,
    /// It is accepted with one warning, which holds these words.
    Warned(&'static str),
    /// It is accepted without a warning, and this is in the plan.
    Read {
        /// What, as the page shows it.
        shown: String,
        /// Compares; the error is what is there instead.
        compare: Box<dyn Fn(&SearchPlan) -> Result<(), String>>,
    },
    /// It breaks exactly these rules: pointers and codes, in order.
    Refused(Vec<(String, ViolationCode)>),
    /// Its sender may not.
    Forbidden,
    /// It cannot be read as JSON.
    Unreadable,
}

impl Expected {
    /// Expects that `read` finds `expected` in the plan.
    pub(crate) fn read<T: PartialEq + Debug + 'static>(
        read: impl Fn(&SearchPlan) -> T + 'static,
        expected: T,
    ) -> Self {
        let shown = format!("{expected:?}");
        let compare = move |plan: &SearchPlan| {
            let found = read(plan);
            if found == expected { Ok(()) } else { Err(format!("{found:?} instead of {expected:?}")) }
        };
        Self::Read { shown, compare: Box::new(compare) }
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
            (Expected::Accepted, Ok(Checked { warnings, .. })) if warnings.is_empty() => Ok(()),
            (Expected::Read { compare, .. }, Ok(Checked { plan, warnings })) if warnings.is_empty() => {
                compare(&plan)
            }
            (Expected::Accepted | Expected::Read { .. }, Ok(Checked { warnings, .. })) => {
                Err(format!("warns {warnings:?}"))
            }
            (Expected::Warned(words), Ok(Checked { warnings, .. })) => match &warnings[..] {
                [warning] if warning.contains(words) => Ok(()),
                _ => Err(format!("warns {warnings:?}, not of {words:?}")),
            },
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
