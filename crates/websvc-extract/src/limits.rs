//! The bounds that keep a hostile page from costing more than a large honest one.

/// Deepest nesting of elements kept; what is nested deeper becomes siblings at this depth.
pub const MAX_DEPTH: usize = 256;

/// Most bytes read of one page; the rest is left out with a warning. The tree, the text and every format take a
/// multiple of this at one time.
pub const MAX_SOURCE_BYTES: usize = 10 << 20;

/// Most nodes kept of one page; the rest of the page is left out with a warning.
pub const MAX_NODES: usize = 1_000_000;

/// Most attributes kept of one element: the tokenizer compares each with all before it.
pub const MAX_ATTRIBUTES: usize = 512;

/// Most attributes kept of one page, those of repeated formatting elements included.
pub(crate) const MAX_ATTRIBUTES_OF_PAGE: usize = 1_000_000;

/// Most nodes of a page whose main content is looked for. The signals of its blocks take ten times the memory of the
/// tree; a larger page is given in full, with a warning.
pub const MAX_JUDGED_NODES: usize = 250_000;

/// Most bytes written for one format of one page; the rest is left out with a warning.
pub const MAX_OUTPUT_BYTES: usize = 16 << 20;

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

/// Most steps from an element to one before or behind it that the selectors of one list may take on a page: `.a ~ b` looks
/// at all that is before every `b`.
pub(crate) const MAX_SIBLING_STEPS: u32 = 20_000_000;

/// Most bytes of the URLs in one list of a page, such as that of its links; the others are left out with a warning.
pub(crate) const MAX_LIST_BYTES: usize = 8 << 20;

/// Most meta tags of one page that are read.
pub(crate) const MAX_META_TAGS: usize = 2_000;

/// Most bytes of a heading or of a link's text that are read: they may hold each other, and share one long text.
pub(crate) const MAX_LABEL_BYTES: usize = 4 << 10;

/// Most characters of a text beside an image or of a link's text.
pub(crate) const MAX_CAPTION_CHARS: usize = 200;
