//! Durable tasks: work that is stored, belongs to one replica at a time, and continues after a restart.
//!
//! [`run`] works on the tasks of a kind, which implements [`Work`]: it claims the tasks of this process, gives each an
//! asynchronous task of tokio, ends those that panicked, cancels those that now belong to another replica, and deletes
//! old ones. Checks of monitors, their messages, agent runs and extractions are such work. Jobs schedule single pages
//! instead of whole tasks, so they have a scheduler of their own, and share the rest.

#![deny(missing_docs)]

mod blocking;
mod credits;
mod error;
mod runner;
mod sweep;
mod work;

pub use blocking::run_blocking;
pub use credits::{hold_for_task, hold_for_team, is_anonymous};
pub use error::TaskError;
pub use runner::run;
pub use sweep::Sweep;
pub use work::{Active, Work};
