//! Jobs: requests whose pages are got after they were answered (clients.md, sections 2.4 to 2.7).

mod batch;
mod status;

pub use batch::BatchScrapeRequest;
pub use status::{JobCancelled, JobDocument, JobErrors, JobFailure, JobStarted, JobStatus, JobStatusResponse};
