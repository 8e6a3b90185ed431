//! Audit events: what a team's requests did, for a system elsewhere that watches (SIEM).
//!
//! An event is written to a spool on disk before the request is answered ([`Audit::record`]), and from there delivered
//! to every [`Sink`], each at its own pace: one that is down holds up no other. So
//!
//! - a process that is killed loses no event of a request that was answered: the next one delivers it;
//! - a sink that comes back gets what it missed, in order; at least once, so the same event may come again;
//! - the spool is bounded: when it is full, its oldest events go, and whoever had not got them has lost them, which is
//!   counted for each sink ([`SinkMetrics::lost`]);
//! - a power failure may lose the events of the last moments that were not delivered yet: nobody waits for the disk.

#![deny(missing_docs)]

mod audit;
mod error;
mod event;
mod sink;
mod spool;

pub use audit::{Audit, AuditConfig, AuditMetrics, SinkMetrics};
pub use error::{AuditError, SinkError};
pub use event::{Event, RetentionMode};
pub use sink::{Sink, SyslogAddress, WebhookSecret};
