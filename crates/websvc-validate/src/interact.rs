//! Rules of browser sessions (operations.md, sections 1 and 2): converts requests to plans.

use std::time::Duration;

use websvc_types::interact::{CreateBrowserRequest, ExecuteRequest, InteractLanguage, InteractRequest};
use websvc_types::limits::{
    INTERACT_ACTIVITY_TTL_DEFAULT_S, INTERACT_CODE_MAX_CHARS, INTERACT_CODE_MIN_CHARS,
    INTERACT_PROMPT_MAX_CHARS, INTERACT_PROMPT_MIN_CHARS, INTERACT_TIMEOUT_DEFAULT_S, INTERACT_TIMEOUT_MAX_S,
    INTERACT_TIMEOUT_MIN_S, INTERACT_TTL_DEFAULT_S,
};
use websvc_types::{ScrapeOptions, ViolationCode};

use crate::bounds;
use crate::path::Path;
use crate::policy::Policy;
use crate::report::Report;
use crate::request::Request;
use crate::scrape;
use crate::scrape_plan::ScrapePlan;

/// A checked request for a browser session.
#[derive(Debug, Clone, PartialEq)]
pub struct BrowserPlan {
    /// Time to live.
    pub ttl: Duration,
    /// Time after which an unused session ends.
    pub activity_ttl: Duration,
    /// The value of the request, which is only listed.
    pub stream_web_view: bool,
    /// The settings of its pages: profile, location and advertising.
    pub scrape: ScrapePlan,
}

/// Checked code for a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodePlan {
    /// The code.
    pub code: String,
    /// Its language.
    pub language: InteractLanguage,
    /// The maximum duration of the run.
    pub timeout: Duration,
}

/// A checked request to a session of a scrape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InteractPlan {
    /// Code to run.
    Code(CodePlan),
    /// A task for a language model.
    Prompt {
        /// The task.
        prompt: String,
        /// The maximum duration; `None` for the default of prompts.
        timeout: Option<Duration>,
    },
}

impl Request for CreateBrowserRequest {
    type Plan = BrowserPlan;
    type Context<'a> = &'a Policy;

    const MAY_BE_EMPTY: bool = true;

    fn plan(self, report: &mut Report, policy: &Policy) -> Option<BrowserPlan> {
        Some(check_create(report, self, policy))
    }
}

/// Checks a request for a session. The plan is valid only if the report has no violation.
fn check_create(report: &mut Report, request: CreateBrowserRequest, policy: &Policy) -> BrowserPlan {
    let CreateBrowserRequest {
        ttl,
        activity_ttl,
        stream_web_view,
        profile,
        block_ads,
        location,
        // Sessions are not recorded.
        record_session: _,
        // Accepted for compatibility and not used.
        origin: _,
        integration: _,
    } = request;
    let options = ScrapeOptions { profile, block_ads, location, ..ScrapeOptions::default() };
    BrowserPlan {
        ttl: Duration::from_secs(ttl.unwrap_or(INTERACT_TTL_DEFAULT_S).into()),
        activity_ttl: Duration::from_secs(activity_ttl.unwrap_or(INTERACT_ACTIVITY_TTL_DEFAULT_S).into()),
        stream_web_view: stream_web_view.unwrap_or(true),
        scrape: scrape::check_single(report, options, policy),
    }
}

/// Checks code for a session. The plan is valid only if the report has no violation.
pub(crate) fn check_execute(report: &mut Report, request: ExecuteRequest) -> CodePlan {
    // The origin and the integration are accepted for compatibility and not used.
    let ExecuteRequest { code, language, timeout, origin: _, integration: _ } = request;
    if !report.has(&Path::Root.key("code")) {
        check_code(report, &code);
    }
    let timeout = check_timeout(report, timeout).unwrap_or(DEFAULT_TIMEOUT);
    CodePlan { code, language: language.unwrap_or_default(), timeout }
}

/// The time limit of code.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(INTERACT_TIMEOUT_DEFAULT_S as u64);

/// Checks a request to the session of a scrape. The plan is valid only if the report has no violation.
pub(crate) fn check_interact(report: &mut Report, request: InteractRequest) -> InteractPlan {
    // The origin and the integration are accepted for compatibility and not used.
    let InteractRequest { code, prompt, language, timeout, origin: _, integration: _ } = request;
    let timeout = check_timeout(report, timeout);
    if let Some(prompt) = &prompt {
        let path = Path::Root;
        bounds::chars(
            report,
            &path.key("prompt"),
            prompt,
            INTERACT_PROMPT_MIN_CHARS,
            INTERACT_PROMPT_MAX_CHARS,
        );
    }
    match (code, prompt) {
        (Some(code), _) => {
            check_code(report, &code);
            let timeout = timeout.unwrap_or(DEFAULT_TIMEOUT);
            InteractPlan::Code(CodePlan { code, language: language.unwrap_or_default(), timeout })
        }
        (None, Some(prompt)) => InteractPlan::Prompt { prompt, timeout },
        (None, None) => {
            let path = Path::Root;
            let path = path.key("code");
            if !report.has(&path) && !report.has(&Path::Root.key("prompt")) {
                report.violation(&path, ViolationCode::Missing, |_| "code or prompt is required".to_owned());
            }
            InteractPlan::Prompt { prompt: String::new(), timeout }
        }
    }
}

fn check_code(report: &mut Report, code: &str) {
    let path = Path::Root;
    bounds::chars(report, &path.key("code"), code, INTERACT_CODE_MIN_CHARS, INTERACT_CODE_MAX_CHARS);
}

fn check_timeout(report: &mut Report, timeout: Option<f64>) -> Option<Duration> {
    let seconds = timeout?;
    let path = Path::Root;
    let (min, max) = (f64::from(INTERACT_TIMEOUT_MIN_S), f64::from(INTERACT_TIMEOUT_MAX_S));
    bounds::number(report, &path.key("timeout"), seconds, min, max)
        .then(|| Duration::try_from_secs_f64(seconds).unwrap_or(DEFAULT_TIMEOUT))
}
