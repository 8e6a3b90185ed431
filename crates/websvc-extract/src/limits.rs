//! Limits that keep a hostile page from costing more than a large honest one.

/// Maximum depth of elements. Elements that are nested deeper become siblings at this depth.
pub const MAX_DEPTH: usize = 256;

/// Maximum number of bytes that are read of a page. The rest is ignored, with a warning. The tree, the text and each
/// format take a multiple of this at the same time.
pub const MAX_SOURCE_BYTES: usize = 10 << 20;

/// Maximum number of nodes of a page. The rest of the page is ignored, with a warning.
pub const MAX_NODES: usize = 1_000_000;

/// Maximum number of attributes of an element: the tokenizer compares each with all before it.
pub const MAX_ATTRIBUTES: usize = 512;

/// Maximum number of attributes of a page, including those of repeated formatting elements.
pub(crate) const MAX_ATTRIBUTES_OF_PAGE: usize = 1_000_000;

/// Maximum number of nodes of a page whose main content is selected. The features of its blocks take ten times the
/// memory of the tree. A larger page is returned in full, with a warning.
pub const MAX_SCORED_NODES: usize = 250_000;

/// Maximum number of bytes of one format of a page. The rest is cut off, with a warning.
pub const MAX_OUTPUT_BYTES: usize = 16 << 20;

/// Maximum number of cells of a table, with spans expanded.
pub(crate) const MAX_TABLE_CELLS: usize = 20_000;

/// Maximum number of bytes of JSON-LD that are read of a page.
pub(crate) const MAX_JSON_LD_BYTES: usize = 2 << 20;

/// Maximum number of bytes of JSON-LD that stay parsed while the formats of a page are made.
pub(crate) const MAX_KEPT_JSON_LD_BYTES: usize = 256 << 10;

/// Maximum number of bytes of styles that are stored of a page.
pub(crate) const MAX_STYLE_BYTES: usize = 256 << 10;

/// Maximum number of images of a page that are described.
pub const MAX_IMAGES: usize = 200;

/// Maximum number of links of a page's content that are listed with their texts.
pub const MAX_CONTENT_LINKS: usize = 200;

/// Maximum number of sibling steps that the selectors of one list may take on a page: `.a ~ b` visits all siblings
/// before each `b`.
pub(crate) const MAX_SIBLING_STEPS: u32 = 20_000_000;

/// Maximum number of bytes of the URLs in one list of a page, such as that of its links. The rest is left out, with a
/// warning.
pub(crate) const MAX_LIST_BYTES: usize = 8 << 20;

/// Maximum number of meta tags of a page that are read.
pub(crate) const MAX_META_TAGS: usize = 2_000;

/// Maximum number of bytes of a heading or of a link's text that are read: they may be nested and share one long text.
pub(crate) const MAX_LABEL_BYTES: usize = 4 << 10;

/// Maximum number of characters of a text around an image or of a link's text.
pub(crate) const MAX_CAPTION_CHARS: usize = 200;
