//! Old names of public types, kept for one release.

use crate::{ApiError, JobStream, RetryPolicy, SearchBuilder};

/// Old name of [`ApiError`].
#[deprecated(note = "renamed to `ApiError`")]
pub type Refusal = ApiError;

/// Old name of [`RetryPolicy`].
#[deprecated(note = "renamed to `RetryPolicy`")]
pub type Retry = RetryPolicy;

/// Old name of [`SearchBuilder`].
#[deprecated(note = "renamed to `SearchBuilder`")]
pub type Search = SearchBuilder;

/// Old name of [`JobStream`].
#[deprecated(note = "renamed to `JobStream`")]
pub type Watch = JobStream;
