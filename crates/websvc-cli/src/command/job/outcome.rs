//! Summary at the end of a job, and the exit status.

use anyhow::{Result, bail};
use serde::Serialize;
use websvc::JobKind;
use websvc::types::job::{JobErrorsResponse, JobStatus};

use super::State;
use super::page_writer::PageWriter;
use crate::args::{Common, OutputArgs, Remote};
use crate::output;

/// So many pages that could not be had are named when nobody asked for all.
const NAMED: usize = 10;

/// How a command ended.
#[derive(Debug)]
pub(super) enum JobOutcome {
    /// With the job.
    Ended(State),
    /// Before it.
    Stopped(DetachReason),
}

/// Reason why the command left a running job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DetachReason {
    /// It rests, and goes on when it is asked to.
    Resumable,
    /// It goes on without this process.
    GoesOn,
    /// It is cancelled; what it has is kept.
    Cancelled,
    /// It ended by itself.
    EndedMeanwhile,
}

/// All that there is to tell.
#[derive(Debug)]
pub(super) struct JobSummary {
    pub(super) kind: JobKind,
    pub(super) id: String,
    pub(super) ending: JobOutcome,
    pub(super) errors: JobErrorsResponse,
    /// Inputs that are not valid page URLs.
    pub(super) invalid: Vec<String>,
    /// How to go on.
    pub(super) how: String,
}

/// Summary as JSON, for programs.
#[derive(Debug, Serialize)]
struct Summary<'a> {
    id: &'a str,
    #[serde(flatten)]
    state: Option<&'a State>,
    #[serde(flatten)]
    errors: &'a JobErrorsResponse,
    #[serde(rename = "invalidURLs", skip_serializing_if = "<[String]>::is_empty")]
    invalid_urls: &'a [String],
}

pub(super) fn name(kind: JobKind) -> &'static str {
    match kind {
        JobKind::Crawl => "crawl",
        JobKind::Batch => "batch",
    }
}

/// Returns how to go on with a job.
pub(super) fn how_to_go_on(kind: JobKind, id: &str, at: &Remote, common: &Common) -> String {
    let line = format!("{} --resume {id}", name(kind));
    match &at.server {
        Some(server) => format!("`websvc {line} --server {server}`"),
        None => format!("`{}`", common.command(&line)),
    }
}

/// Says how it ended.
///
/// # Errors
/// What was asked for is not there, or not all of it.
pub(super) fn tell(told: &JobSummary, hand: &PageWriter, handing: &OutputArgs) -> Result<()> {
    let JobSummary { kind, id, ending, errors, invalid, how } = told;
    name_failures(errors, invalid, handing);
    let state = match ending {
        JobOutcome::Ended(state) => Some(state),
        JobOutcome::Stopped(_) => None,
    };
    if handing.json {
        output::json(&Summary { id, state, errors, invalid_urls: invalid })?;
    }
    let state = match ending {
        JobOutcome::Ended(state) => state,
        JobOutcome::Stopped(stop) => bail!("{}", stopped(*stop, how)),
    };
    output::note(&summary(*kind, state, errors, hand));
    let failed = errors.errors.len() + invalid.len();
    match state.status {
        JobStatus::Completed => {}
        JobStatus::Failed => {
            bail!("the job failed: {}", state.error.as_deref().unwrap_or("nothing is known why"))
        }
        JobStatus::Cancelled => bail!("the job was cancelled"),
        JobStatus::Scraping => bail!("the job goes on: {how}"),
    }
    if hand.occupied > 0 {
        bail!("{} pages were not written, because files of others are in the way", hand.occupied);
    }
    match kind {
        JobKind::Crawl if state.completed == 0 => bail!("no page could be had"),
        JobKind::Batch if failed > 0 => bail!("{failed} pages could not be had"),
        JobKind::Crawl | JobKind::Batch => Ok(()),
    }
}

fn name_failures(errors: &JobErrorsResponse, invalid: &[String], handing: &OutputArgs) {
    let most = if handing.errors { usize::MAX } else { NAMED };
    let invalid_lines = invalid.iter().map(|text| format!("failed {text:?}: it is no address of a page"));
    let failed = errors.errors.iter().map(|error| format!("failed {}: {}", error.url, error.error));
    let blocked =
        errors.robots_blocked.iter().map(|url| format!("left out {url}: robots.txt does not allow it"));
    let total = invalid.len() + errors.errors.len() + errors.robots_blocked.len();
    for line in invalid_lines.chain(failed).chain(blocked).take(most) {
        output::note(&line);
    }
    if total > most {
        output::note(&format!("and {} more, which --errors names", total - most));
    }
}

fn stopped(stop: DetachReason, how: &str) -> String {
    match stop {
        DetachReason::Resumable => format!("interrupted: {how} goes on with it"),
        DetachReason::GoesOn => {
            format!("interrupted: the job goes on at the server; {how} waits for it again")
        }
        DetachReason::Cancelled => {
            format!("interrupted: the job is cancelled, what it has is kept; {how} hands it over")
        }
        DetachReason::EndedMeanwhile => {
            format!("interrupted: the job has ended; {how} hands over what it has")
        }
    }
}

fn summary(kind: JobKind, state: &State, errors: &JobErrorsResponse, hand: &PageWriter) -> String {
    let mut line = format!(
        "{}: {} pages, {} failed, {} not allowed by robots.txt, {} credits",
        name(kind),
        state.completed,
        errors.errors.len(),
        errors.robots_blocked.len(),
        state.credits_used
    );
    if hand.written > 0 {
        line.push_str(&format!("; {} files written", hand.written));
    }
    line
}
