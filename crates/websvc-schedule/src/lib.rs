//! Schedules: cron expressions and texts such as "every day at 9:00", in time zones, with the instants of their runs.
//!
//! - [`Cron`] is a checked cron expression of five fields. [`Cron::from_text`] makes one from a text in English.
//! - [`Zone`] is a time zone of the IANA database.
//! - [`Schedule`] joins both: it has the runs after an instant, the description for people, and the rules for schedules
//!   that are too frequent or never run.
//!
//! Runs follow the local wall clock. A time that a clock change skips has no run on that day; a time that occurs twice
//! has one run, at its first occurrence.
//!
//! The crate does no IO and reads no clock: the current time is an argument, and the time zones are part of the
//! program. The database of the system is not used on purpose. Replicas with different databases would disagree about
//! the next run, and an image without `/usr/share/zoneinfo` would know no zone. The copy adds about 240 kB to the
//! program.
//!
//! ```
//! use websvc_schedule::{Cron, Schedule, Zone};
//!
//! let schedule = Schedule::new(Cron::from_text("Every day at 9:00")?, Zone::from_name("Europe/Berlin")?);
//! assert_eq!(schedule.cron().as_str(), "0 9 * * *");
//! assert_eq!(schedule.to_string(), "Every day at 09:00 (Europe/Berlin)");
//!
//! let now = "2026-03-28T12:00:00Z".parse()?;
//! let runs: Vec<String> = schedule.runs_after(now).take(2).map(|run| run.to_string()).collect();
//! assert_eq!(runs, ["2026-03-29T07:00:00Z", "2026-03-30T07:00:00Z"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]

mod cron;
mod description;
mod distance;
mod field;
mod schedule;
mod text;
mod zone;

pub use cron::{Cron, CronError};
pub use distance::{ScheduleError, in_words};
pub use field::{CronField, CronRule};
pub use schedule::{Runs, Schedule};
pub use text::{EXAMPLES, TextError};
pub use zone::{Zone, ZoneError};
