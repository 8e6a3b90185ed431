//! The output formats: each is a walk over a view of the DOM.

mod boxes;
mod callout;
mod card_title;
mod code;
mod code_writer;
mod escape;
mod footnotes;
mod heading;
mod html;
mod inline;
mod labels;
mod lines;
mod list;
mod markdown;
mod math;
mod note;
mod plain;
mod reference;
mod table;
mod toolbar;

pub(crate) use html::write as html;
pub(crate) use markdown::write as markdown;
pub(crate) use plain::write as plain;

use crate::content_view::ContentView;
use crate::dom::Dom;
use crate::options::Base64Images;
use url::Url;

/// A page in an output format.
#[derive(Debug)]
pub(crate) struct FormattedText {
    pub(crate) text: String,
    /// True if the text was cut off at [`MAX_OUTPUT_BYTES`](crate::MAX_OUTPUT_BYTES).
    pub(crate) truncated: bool,
}

/// The input of all output formats.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputContext<'a> {
    pub(crate) dom: &'a Dom,
    pub(crate) view: &'a ContentView,
    pub(crate) base: &'a Url,
    pub(crate) base64_images: Base64Images,
}

/// The marker that replaces an embedded image.
const BASE64_MARKER: &str = "<Base64-Image-Removed>";
