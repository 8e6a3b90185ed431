//! The bounds that keep a hostile page from costing more than a large honest one.

/// Deepest nesting of elements kept; what is nested deeper becomes siblings at this depth.
pub const MAX_DEPTH: usize = 256;

/// Most bytes read of one page. Callers bound what they fetch far below this; it keeps offsets within four bytes.
pub(crate) const MAX_SOURCE_BYTES: usize = 256 << 20;

/// Most nodes kept of one page; the rest of the page is left out with a warning.
pub const MAX_NODES: usize = 1_000_000;

/// Most bytes written for one format of one page; the rest is left out.
pub const MAX_OUTPUT_BYTES: usize = 32 << 20;

/// Most cells written for one table, spans expanded.
pub(crate) const MAX_TABLE_CELLS: usize = 20_000;

/// Most JSON-LD read of one page, in bytes.
pub(crate) const MAX_JSON_LD_BYTES: usize = 2 << 20;

/// Most styles kept of one page, in bytes.
pub(crate) const MAX_STYLE_BYTES: usize = 256 << 10;

/// Most images of one page that are described.
pub const MAX_IMAGES: usize = 200;

/// Most links of one page's content that are listed with their texts.
pub const MAX_CONTENT_LINKS: usize = 200;

/// Most characters of a text beside an image or of a link's text.
pub(crate) const MAX_CAPTION_CHARS: usize = 200;
