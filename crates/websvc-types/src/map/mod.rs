//! The map: the URLs of a site.

mod first_version;
mod request;
mod response;

pub use first_version::{MapRequestV1, MapResponseV1};
pub use request::{MapRequest, SitemapUse};
pub use response::{MapLink, MapResponse};
