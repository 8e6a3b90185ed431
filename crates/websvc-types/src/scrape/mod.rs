//! Request, options and response of a scrape (specification, section 2.2).

mod audit;
mod location;
mod options;
mod parse;
mod parser;
mod profile;
mod proxy;
mod redact;
mod request;
mod response;
mod threat;
mod viewport;

pub use audit::AuditMetadata;
pub use location::Location;
pub use options::ScrapeOptions;
#[cfg(feature = "schemars")]
pub(crate) use options::add_header_patterns;
pub use parse::{
    ParseFormat, ParseFormatList, ParseFormats, ParseOptions, ParseUploadRequest, UploadUrl,
    UploadUrlRequest, UploadUrlResponse,
};
pub use parser::{Parser, ParserKind, ParserMode};
pub use profile::Profile;
pub use proxy::Proxy;
pub use redact::{RedactEntity, RedactMode, RedactOptions, RedactPii, ReplaceStyle};
pub use request::ScrapeRequest;
pub use response::ScrapeResponse;
pub use threat::{ThreatFailurePolicy, ThreatMode, ThreatProtection};
pub use viewport::Viewport;
