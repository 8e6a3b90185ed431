//! The values of sessions: what is created, seen, run and ended.

use std::time::Duration;

use url::Url;
use uuid::Uuid;
use websvc_scrape::UrlBoundary;
use websvc_store::{BrowserSessionRecord, CreditHold, KeyId, UsageRetention};
use websvc_types::limits::INTERACT_OUTPUT_MAX_BYTES;
use websvc_validate::ScrapePlan;

use crate::code::Outcome;
use crate::urls::SessionUrls;

/// A session to create.
#[derive(Debug)]
pub struct NewSession {
    /// The team that owns it.
    pub team: String,
    /// The scrape whose page it opens; `None` for an empty page.
    pub scrape: Option<(Uuid, Url)>,
    /// The settings of its page.
    pub plan: ScrapePlan,
    /// The URLs that it may load; `None` if only the rules of the service and the team apply.
    pub boundary: Option<UrlBoundary>,
    /// The time to live.
    pub ttl: Duration,
    /// The time after which it ends if it is not used.
    pub activity_ttl: Duration,
    /// The value of the request.
    pub stream_web_view: bool,
    /// The concurrency limit of the team.
    pub concurrency: Option<u32>,
    /// The credits for its whole time to live, and who pays.
    pub billing: SessionBilling,
}

/// The credits of a session, and who pays.
#[derive(Debug)]
pub struct SessionBilling {
    /// The held credits.
    pub hold: CreditHold,
    /// The key of the request; `None` for an anonymous one.
    pub key: Option<KeyId>,
    /// The ID of the request.
    pub request: String,
    /// The part of the request that may be stored.
    pub retention: UsageRetention,
    /// The work that the session is charged with.
    pub charge: SessionCharge,
}

/// The work that a session is charged with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionCharge {
    /// The session itself, at its end.
    Own,
    /// Other work, such as an agent run. The session only computes its credits; its caller charges them.
    Included,
}

/// A session as its team sees it.
#[derive(Debug, Clone)]
pub struct SessionView {
    /// The row of the session.
    pub record: BrowserSessionRecord,
    /// The tokens of its URLs; `None` if it has ended or runs in another process.
    pub urls: Option<SessionUrls>,
}

/// The actions that a viewer may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewMode {
    /// It only sees the page.
    ReadOnly,
    /// It also uses mouse and keyboard.
    Interactive,
}

/// The end of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionEnd {
    /// Its duration.
    pub duration: Duration,
    /// The charged credits; `None` if it had ended before.
    pub credits: Option<u64>,
}

/// The outcome of code with outputs of limited size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// The outcome.
    pub outcome: Outcome,
    /// True if an output was cut.
    pub is_truncated: bool,
}

impl Execution {
    /// Cuts the outputs of code.
    pub(crate) fn limited(mut outcome: Outcome) -> Self {
        let mut is_truncated = outcome.truncated;
        is_truncated |= cut(&mut outcome.stdout);
        is_truncated |= cut(&mut outcome.stderr);
        is_truncated |= outcome.result.as_mut().is_some_and(cut);
        Self { outcome, is_truncated }
    }
}

fn cut(text: &mut String) -> bool {
    let is_long = text.len() > INTERACT_OUTPUT_MAX_BYTES;
    text.truncate(text.floor_char_boundary(INTERACT_OUTPUT_MAX_BYTES));
    is_long
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_cut_at_a_character() {
        let long = "é".repeat(INTERACT_OUTPUT_MAX_BYTES / 2 + 1);
        let outcome = Outcome { stdout: format!("a{long}"), ..Outcome::default() };
        let Execution { outcome, is_truncated } = Execution::limited(outcome);
        assert!(is_truncated && outcome.stdout.len() == INTERACT_OUTPUT_MAX_BYTES - 1);
        let short = Outcome { stdout: "x".repeat(INTERACT_OUTPUT_MAX_BYTES), ..Outcome::default() };
        assert!(!Execution::limited(short).is_truncated);
    }
}
