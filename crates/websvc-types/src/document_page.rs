//! Pages of a document, and the blocks on them.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Page of a PDF.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DocumentPage {
    /// Number of the page, from 1.
    pub page_number: u32,
    /// Content of the page as markdown; empty for a page without text.
    pub markdown: String,
}

impl DocumentPage {
    /// Creates a page.
    #[must_use]
    pub fn new(page_number: u32, markdown: String) -> Self {
        Self { page_number, markdown }
    }
}

/// Layout of a page of a PDF.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PageBlocks {
    /// Number of the page, from 1.
    pub page_number: u32,
    /// Width in points; null if it is not known.
    pub width: Option<f64>,
    /// Height in points; null if it is not known.
    pub height: Option<f64>,
    /// `ok`, or `empty` for a page without text.
    pub status: BlocksStatus,
    /// Blocks in reading order.
    pub items: Vec<PageBlock>,
}

/// Outcome of reading the blocks of a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum BlocksStatus {
    /// The page has blocks.
    #[default]
    Ok,
    /// The page has no text.
    Empty,
}

/// Block of a page of a PDF.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PageBlock {
    /// ID of the block in the document, such as `p1.b0`.
    pub id: String,
    /// `title`, `heading`, `text`, `list_item`, `code`, `table` or `contents`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Always null: no model labels the blocks.
    pub label: Option<String>,
    /// Left, upper, right and lower edge, as shares of the width and height of the page from its upper left corner; null
    /// for text that is not upright, or that was recognized.
    pub bbox: Option<[f64; 4]>,
    /// Content of the block as markdown.
    pub content: String,
    /// Always null: the markdown of the document joins sentences across blocks.
    pub markdown_span: Option<[u32; 2]>,
    /// Position on the page, from 0.
    pub reading_order: u32,
    /// `native_text`: the text of the file; `ocr`: recognized text.
    pub source: Option<BlockSource>,
    /// Confidence of the reader.
    pub confidence: BlockConfidence,
}

/// Origin of the text of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BlockSource {
    /// Text of the file.
    NativeText,
    /// Text that character recognition read.
    Ocr,
}

/// Confidence of the reader in a block. The rules that find blocks know none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct BlockConfidence {
    /// Always null.
    pub layout: Option<f64>,
    /// Always null.
    pub ocr: Option<f64>,
}
