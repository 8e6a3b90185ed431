//! Extracts the content of a page from its bytes: charset, DOM, main content, markdown, links, images, metadata, the
//! product and the menu.
//!
//! The crate is pure: no IO, no async, no clock. A page is parsed once into one compact DOM ([`Document::parse`]), and
//! all formats are written from views of that DOM ([`Document::content`]).
//!
//! ```
//! use websvc_extract::{ContentOptions, Document, Source};
//!
//! let url = url::Url::parse("https://example.com/a/")?;
//! let bytes = b"<h1>Tea</h1><p>Steep for <b>three</b> minutes. <a href=more>More</a></p>";
//! let page = Document::parse(Source { bytes, content_type: Some("text/html"), url: &url })?;
//! let content = page.content(&ContentOptions::default());
//! assert_eq!(content.markdown(), "# Tea\n\nSteep for **three** minutes. [More](https://example.com/a/more)\n");
//! assert_eq!(content.links(), ["https://example.com/a/more"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod article;
mod atomic_blocks;
mod attributes;
mod binary;
mod brand;
mod charset;
mod content;
mod content_kind;
mod content_rating;
mod content_view;
mod country;
mod document;
mod dom;
mod embed;
mod embedded;
mod error;
mod feed;
mod hidden;
mod images;
mod json_ld;
mod json_ld_content;
mod limits;
mod links;
mod main_content;
mod menu;
mod meta_tags;
mod metadata;
mod offer;
mod options;
mod output;
mod page;
pub mod passages;
mod product;
mod structured;
mod text;
mod videos;
mod xml;

pub use article::Article;
pub use attributes::PageAttributes;
pub use binary::binary_kind;
pub use brand::DeclaredBrand;
pub use charset::undeclared_charset;
pub use content::Content;
pub use content_kind::ContentKind;
pub use document::{Anchor, Document, Robots, Source};
pub use error::ExtractError;
pub use images::{ImageDetail, image_size};
pub use limits::{
    MAX_ATTRIBUTES, MAX_CONTENT_LINKS, MAX_DEPTH, MAX_IMAGES, MAX_NODES, MAX_OUTPUT_BYTES, MAX_SCORED_NODES,
    MAX_SOURCE_BYTES,
};
#[doc(hidden)]
pub use main_content::BlockReport;
pub use meta_tags::MetaValue;
pub use metadata::PageMetadata;
pub use options::{Base64Images, ContentOptions, ContentScope, Selectors};
