//! Requests and responses of a map, `POST /v2/map`: the URLs of a site.

mod request;
mod response;
mod v1;

pub use request::MapRequest;
pub use response::{MapLink, MapResponse};
pub use v1::{MapRequestV1, MapResponseV1};

pub use crate::sitemap_mode::SitemapMode;
