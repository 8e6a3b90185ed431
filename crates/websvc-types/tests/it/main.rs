//! The wire models: written forms, round trips, and the published schemas.

mod forms;
mod schemas;
