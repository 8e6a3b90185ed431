//! The summary at the end of a job, and the exit status.

use anyhow::{Result, bail};
use serde_json::{Map, Value, json};
use websvc::JobKind;
use websvc::types::job::{JobErrorsResponse, JobStatus, JobStatusResponse};
use websvc_types::counted;

use super::ErrorPagePolicy;
use super::page_writer::{MAX_PRINTED_FAILURES, PageWriter};
use crate::args::{Common, OutputArgs, Remote};
use crate::output;

/// The outcome of a command that runs a job.
#[derive(Debug)]
pub(super) enum JobOutcome {
    /// The job has ended.
    Ended(Box<JobStatusResponse>),
    /// The command was interrupted before the end of the job.
    Interrupted(DetachReason),
}

/// The state of a job after an interrupted command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DetachReason {
    /// The job is paused and can be resumed.
    Resumable,
    /// The job continues without this process.
    Continues,
    /// The job is cancelled. Its pages are stored.
    Cancelled,
    /// The job ended before it could be cancelled.
    Ended,
}

/// The data of the final output.
#[derive(Debug)]
pub(super) struct JobSummary {
    pub(super) kind: JobKind,
    pub(super) id: String,
    pub(super) outcome: JobOutcome,
    pub(super) errors: JobErrorsResponse,
    /// Inputs that are not valid page URLs.
    pub(super) invalid: Vec<String>,
    pub(super) error_pages: ErrorPagePolicy,
    /// The command that resumes the job.
    pub(super) resume_command: String,
}

/// The parts of a status that are not in the summary.
const NOT_IN_SUMMARY: [&str; 4] = ["success", "next", "data", "duration"];

/// Returns the summary as JSON, for programs.
fn summary_json(
    id: &str,
    state: Option<&JobStatusResponse>,
    errors: &JobErrorsResponse,
    invalid: &[String],
) -> Result<Map<String, Value>> {
    let mut summary = Map::from_iter([("id".to_owned(), json!(id))]);
    let fields = |part: Value| part.as_object().cloned().unwrap_or_default().into_iter();
    let state = fields(serde_json::to_value(state)?);
    summary.extend(state.filter(|(name, _)| !NOT_IN_SUMMARY.contains(&name.as_str())));
    summary.extend(fields(serde_json::to_value(errors)?));
    if !invalid.is_empty() {
        summary.insert("invalidURLs".to_owned(), json!(invalid));
    }
    Ok(summary)
}

pub(super) fn name(kind: JobKind) -> &'static str {
    match kind {
        JobKind::Crawl => "crawl",
        JobKind::Batch => "batch",
    }
}

/// Returns the command that resumes a job.
pub(super) fn resume_command(kind: JobKind, id: &str, at: &Remote, common: &Common) -> String {
    let line = format!("{} --resume {id}", name(kind));
    match at.server {
        Some(_) => format!("`websvc {line}{}`", at.option()),
        None => format!("`{}`", common.command(&line)),
    }
}

/// Prints the summary of a job.
///
/// # Errors
/// The job was interrupted or failed, or pages are missing.
pub(super) fn report(job: &JobSummary, writer: &PageWriter, output_args: &OutputArgs) -> Result<()> {
    let JobSummary { kind, id, outcome, errors, invalid, error_pages, resume_command } = job;
    print_failures(errors, invalid, output_args);
    let state = match outcome {
        JobOutcome::Ended(state) => Some(&**state),
        JobOutcome::Interrupted(_) => None,
    };
    if output_args.json {
        output::json(&summary_json(id, state, errors, invalid)?)?;
    }
    let state = match outcome {
        JobOutcome::Ended(state) => state,
        JobOutcome::Interrupted(reason) => bail!("{}", interruption(*reason, resume_command)),
    };
    output::note(&summary(*kind, state, errors, writer));
    let failed = errors.errors.len() + invalid.len();
    match state.status {
        JobStatus::Completed => {}
        JobStatus::Failed => {
            bail!("the job failed: {}", state.error.as_deref().unwrap_or("unknown error"))
        }
        JobStatus::Cancelled => bail!("the job was cancelled"),
        JobStatus::Scraping => bail!("the job is still running; {resume_command} waits for it"),
    }
    if writer.conflicts > 0 {
        bail!(
            "{} not written, because other files with such names exist; --force replaces them",
            counted(writer.conflicts, "page was", "pages were")
        );
    }
    match kind {
        JobKind::Crawl if state.completed == 0 => bail!("no page could be scraped"),
        JobKind::Batch if failed > 0 => bail!("{} could not be scraped", counted(failed, "page", "pages")),
        _ if *error_pages == ErrorPagePolicy::Fail && writer.error_pages > 0 => {
            let pages = counted(writer.error_pages, "page", "pages");
            bail!("{pages} responded with an error; --allow-errors accepts that")
        }
        JobKind::Crawl | JobKind::Batch => Ok(()),
    }
}

fn print_failures(errors: &JobErrorsResponse, invalid: &[String], output_args: &OutputArgs) {
    let max = if output_args.errors { usize::MAX } else { MAX_PRINTED_FAILURES };
    let invalid_lines = invalid.iter().map(|text| format!("failed {text:?}: not a valid URL"));
    let failed = errors.errors.iter().map(|error| format!("failed {}: {}", error.url, error.error));
    let blocked = errors.robots_blocked.iter().map(|url| format!("skipped {url}: disallowed by robots.txt"));
    let total = invalid.len() + errors.errors.len() + errors.robots_blocked.len();
    for line in invalid_lines.chain(failed).chain(blocked).take(max) {
        output::note(&line);
    }
    if total > max {
        output::note(&format!("and {} more; --errors lists all", total - max));
    }
}

fn interruption(reason: DetachReason, resume_command: &str) -> String {
    match reason {
        DetachReason::Resumable => format!("interrupted; {resume_command} resumes it"),
        DetachReason::Continues => {
            format!("interrupted: the job continues on the server; {resume_command} waits for it")
        }
        DetachReason::Cancelled => {
            format!("interrupted: the job was cancelled; {resume_command} writes the pages that it has")
        }
        DetachReason::Ended => {
            format!("interrupted: the job has ended; {resume_command} writes its pages")
        }
    }
}

fn summary(
    kind: JobKind,
    state: &JobStatusResponse,
    errors: &JobErrorsResponse,
    writer: &PageWriter,
) -> String {
    let mut line = format!("{}: {}", name(kind), counted(state.completed, "page", "pages"));
    if writer.error_pages > 0 {
        line.push_str(&format!(" ({} responded with an error)", writer.error_pages));
    }
    line.push_str(&format!(
        ", {} failed, {} disallowed by robots.txt, {}",
        errors.errors.len(),
        errors.robots_blocked.len(),
        counted(state.credits_used, "credit", "credits")
    ));
    if writer.written > 0 {
        line.push_str(&format!("; {} written", counted(writer.written, "file", "files")));
    }
    line
}
