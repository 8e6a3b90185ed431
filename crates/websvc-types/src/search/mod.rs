//! Request and response of a search, `POST /v2/search` (specification, sections 2.1 and 2.6).

mod category;
mod enterprise;
mod request;
mod response;
mod source;

pub use category::Category;
pub use enterprise::RetentionOption;
pub use request::SearchRequest;
#[cfg(feature = "schemars")]
pub(crate) use request::exclude_two_lists_of_domains;
pub use response::{ImageResult, NewsResult, PageContent, SearchData, SearchResponse, WebResult};
pub use source::{Source, SourceKind};
