//! Monitors: recurring checks of pages, sites and searches, with the changes that they find (operations.md, section 3).
//!
//! [`Monitors`] is the handle. It creates, reads and changes monitors of the store. [`Monitors::run`] starts the checks
//! that are due and works on them until it is dropped. The pages of a check are scraped by jobs, with their pacing and
//! fairness. A check stores the result of each page together with the content for the next comparison and the event that
//! reports it, so that a check that is interrupted continues without doing anything twice.

#![deny(missing_docs)]

mod baseline;
mod channel;
mod check;
mod compare;
mod conditions;
mod config;
mod credits;
mod feed;
mod judge;
mod message;
mod metrics;
mod monitors;
mod notification;
mod options;
mod page;
mod progress;
mod report;
mod responses;
mod runner;
mod scheduler;
mod stored;
mod subscription;
mod time;
mod token;
mod webhook;

pub use config::{MailSettings, MessageConfig, MonitorsConfig};
pub use message::{CountedOutcome, MessageMetrics};
pub use metrics::CheckMetrics;
pub use monitors::{CreateOutcome, CreditEstimate, Monitors, RunOutcome};
pub use responses::{check, check_page, definition, monitor};
pub use subscription::LinkRecipient;
