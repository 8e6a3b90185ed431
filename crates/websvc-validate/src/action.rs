//! Rules of browser actions (specification, section 2.2.2).

use websvc_selector::Dialect;
use websvc_types::action::{Click, ExecuteJavascript, Pdf, Press, Scrape, Scroll, Wait, Write};
use websvc_types::limits::{ACTIONS_MAX, WAIT_TOTAL_MAX_MS};
use websvc_types::{Action, ViolationCode};

use crate::path::Path;
use crate::report::Report;
use crate::{bounds, selector};

/// Checks the actions, and the sum of all waits.
pub(crate) fn check(report: &mut Report, path: &Path<'_>, actions: &[Action], wait_for_ms: u64) {
    if !bounds::items(report, path, actions.len(), ACTIONS_MAX) {
        return;
    }
    let mut waits_ms: u64 = 0;
    for (index, action) in actions.iter().enumerate() {
        check_one(report, &path.index(index), action);
        if let Action::Wait(Wait { milliseconds: Some(milliseconds), selector: _ }) = action {
            waits_ms = waits_ms.saturating_add(*milliseconds);
        }
    }
    let total_ms = waits_ms.saturating_add(wait_for_ms);
    if total_ms > WAIT_TOTAL_MAX_MS {
        report.violation(path, ViolationCode::TooBig, |name| {
            let wait_for = if wait_for_ms == 0 { "" } else { " and waitFor" };
            format!("{name}{wait_for} must wait at most {WAIT_TOTAL_MAX_MS} ms in total, not {total_ms}")
        });
    }
}

fn check_one(report: &mut Report, path: &Path<'_>, action: &Action) {
    match action {
        Action::Wait(wait) => check_wait(report, path, wait),
        Action::Click(Click { selector, all: _ }) => {
            selector::check(report, &path.key("selector"), selector, Dialect::Browser);
        }
        // Any text can be typed, even an empty one.
        Action::Write(Write { text: _ }) | Action::Scrape(Scrape {}) | Action::Screenshot(_) => {}
        Action::Press(Press { key }) => {
            // A space is a valid key, so blank text is allowed.
            bounds::chars(report, &path.key("key"), key, 1, u32::MAX);
        }
        Action::Scroll(Scroll { direction: _, selector }) => {
            if let Some(selector) = selector {
                selector::check(report, &path.key("selector"), selector, Dialect::Browser);
            }
        }
        Action::ExecuteJavascript(ExecuteJavascript { script }) => {
            bounds::not_blank(report, &path.key("script"), script);
        }
        Action::Pdf(Pdf { format: _, landscape: _, scale }) => {
            if let Some(scale) = scale.filter(|scale| !(scale.is_finite() && *scale > 0.0)) {
                report.violation(&path.key("scale"), ViolationCode::TooSmall, |name| {
                    format!("{name} must be a number above 0, not {scale}")
                });
            }
        }
    }
}

fn check_wait(report: &mut Report, path: &Path<'_>, wait: &Wait) {
    let Wait { milliseconds, selector } = wait;
    match (milliseconds, selector) {
        (Some(_), None) => {}
        (None, Some(selector)) => {
            selector::check(report, &path.key("selector"), selector, Dialect::Browser);
        }
        (Some(_), Some(_)) => report.violation(path, ViolationCode::Conflict, |name| {
            format!("{name} must have either milliseconds or selector, not both")
        }),
        // An invalid field was removed and already has a violation.
        (None, None) if ["milliseconds", "selector"].iter().any(|field| report.has(&path.key(field))) => {}
        (None, None) => report.violation(path, ViolationCode::Missing, |name| {
            format!("{name} must have milliseconds or selector")
        }),
    }
}
