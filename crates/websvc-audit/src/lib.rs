//! Audit events: a record of the requests of a team for a SIEM.
//!
//! An event is written to a spool on disk before the response is sent ([`Audit::record`]). From there it is delivered
//! to every [`Sink`] independently, so a failed sink does not delay the others:
//!
//! - A killed process loses no event of a request that was answered: the next process delivers it.
//! - A sink that recovers receives the events that it missed, in order. Delivery is at least once, so an event may be
//!   delivered again.
//! - The spool is bounded. When it is full, its oldest events are removed. They are lost for the sinks that had not
//!   received them, and are counted per sink ([`SinkMetrics::lost`]).
//! - A power failure may lose the most recent events that were not delivered yet, because requests do not wait for the
//!   disk.

#![deny(missing_docs)]

mod audit;
mod error;
mod event;
mod sink;
mod spool;

pub use audit::{Audit, AuditConfig, AuditMetrics, Receipt, SinkMetrics};
pub use error::{AuditError, SinkError};
pub use event::{Event, RetentionMode};
pub use sink::{Sink, SyslogAddress, WebhookSecret};
