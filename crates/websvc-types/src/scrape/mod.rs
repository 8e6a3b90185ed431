//! How pages are scraped (specification, section 2.2).

mod audit;
mod location;
mod options;
mod parser;
mod profile;
mod proxy;
mod redact;
mod threat;
mod viewport;

pub use audit::AuditMetadata;
pub use location::Location;
pub use options::ScrapeOptions;
pub(crate) use options::add_header_patterns;
pub use parser::{Parser, ParserKind, ParserMode};
pub use profile::Profile;
pub use proxy::Proxy;
pub use redact::{RedactEntity, RedactMode, RedactOptions, RedactPii, ReplaceStyle};
pub use threat::{ThreatFailurePolicy, ThreatMode, ThreatProtection};
pub use viewport::Viewport;
