//! The attempts at a page: which page may be what ends the process, and when it is given up.
//!
//! A process that ends during the work on a page interrupts it, and so does a failure to store its result. The first
//! interruptions may be the fault of another page that was in flight, so a page that was interrupted repeatedly runs
//! alone. Further interruptions are its own.

use websvc_store::{JobLease, UrlOutcome};
use websvc_tasks::TaskError;
use websvc_types::ErrorCode;

use super::failed;
use crate::jobs::Jobs;

/// Number of interruptions after which a page is given up.
const MAX_ATTEMPTS: u32 = 10;

/// Number of interruptions after which a page runs alone.
const MAX_SHARED: u32 = 2;

/// Returns whether no other page may be in flight together with this one.
pub(crate) fn runs_alone(lease: &JobLease) -> bool {
    (MAX_SHARED..MAX_ATTEMPTS).contains(&lease.interruptions())
}

/// Returns the outcome of a page that must not be attempted again.
pub(super) fn given_up(lease: &JobLease) -> Option<UrlOutcome> {
    let error = format!(
        "gave up after {MAX_ATTEMPTS} attempts: each time, the service ended meanwhile or the result could not be stored"
    );
    (lease.interruptions() >= MAX_ATTEMPTS).then(|| failed(ErrorCode::UnknownError, error))
}

/// Records that the work on a page begins. Returns false if its lease has ended.
pub(crate) async fn begin(jobs: &Jobs, lease: &JobLease) -> Result<bool, TaskError> {
    let lease = lease.clone();
    jobs.with_store(move |store, _| store.begin_job_url(&lease)).await
}

/// Records that a page waits, and is not worked on.
pub(crate) async fn pause(jobs: &Jobs, lease: &JobLease) -> Result<(), TaskError> {
    let lease = lease.clone();
    jobs.with_store(move |store, _| store.pause_job_url(&lease)).await.map(drop)
}
