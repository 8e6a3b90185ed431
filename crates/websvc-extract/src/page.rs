//! The parts of a page that can be read from its document, each by a reader in a module of its own.

use crate::attributes::{self, PageAttributes};
use crate::brand::{self, DeclaredBrand};
use crate::content::Content;
use crate::document::Document;
use crate::error::ExtractError;
use crate::images::{self, ImageDetail};
use crate::main_content::{self, BlockReport};
use crate::metadata::{self, PageMetadata};
use crate::options::ContentOptions;
use crate::{menu, product, videos};
use websvc_types::format::AttributeSelector;
use websvc_types::menu::PageMenu;
use websvc_types::product::PageProduct;
use websvc_types::video::PageVideo;

impl Document {
    /// Returns the title of the page.
    pub fn title(&self) -> Option<String> {
        metadata::title(&self.dom)
    }

    /// Returns the declared language of the page.
    pub fn language(&self) -> Option<String> {
        metadata::language(&self.dom)
    }

    /// Returns the metadata of the page.
    pub fn metadata(&self) -> PageMetadata {
        metadata::read(self)
    }

    /// Returns the product that the page offers, from its structured data; `None` if it is a page about something else, or
    /// a list of products.
    pub fn product(&self) -> Option<PageProduct> {
        product::read(self)
    }

    /// Returns the menu of the restaurant or shop that the page shows, from its structured data or its visible text.
    pub fn menu(&self) -> Option<PageMenu> {
        menu::read(self)
    }

    /// Returns the videos that the page contains, at most [`VIDEOS_MAX`](websvc_types::limits::VIDEOS_MAX).
    pub fn videos(&self) -> Vec<PageVideo> {
        videos::read(self)
    }

    /// Returns the values of attributes of the elements that selectors match, in the whole page.
    ///
    /// # Errors
    /// [`ExtractError::Selector`] for a selector that cannot be parsed.
    pub fn attributes(&self, selectors: &[AttributeSelector]) -> Result<PageAttributes, ExtractError> {
        attributes::read(self, selectors)
    }

    /// Returns the brand that the page declares in its structured data, meta tags and links.
    pub fn declared_brand(&self) -> DeclaredBrand {
        brand::read(self)
    }

    /// Returns the part of the page that `options` select.
    pub fn content(&self, options: &ContentOptions) -> Content<'_> {
        Content::select(self, options)
    }

    /// Returns the absolute URLs of the page's images in document order, each once (clients.md 6.5).
    pub fn images(&self) -> Vec<String> {
        images::all(&self.dom, &self.base)
    }

    /// Returns the page's images with the text around them, in document order, each once; at most
    /// [`MAX_IMAGES`](crate::MAX_IMAGES).
    ///
    /// These are all `<img>` elements and `og:image`, except for `data:` URLs and decoration: images with a side that
    /// is known to be shorter than 32 pixels, `.ico` files, and files that are named as a sprite, spacer, favicon or
    /// tracking pixel.
    pub fn image_details(&self) -> Vec<ImageDetail> {
        images::details(&self.dom, &self.base)
    }

    /// Returns the text blocks of the page with the features of their score, for training and diagnosis.
    #[doc(hidden)]
    pub fn blocks(&self) -> Vec<BlockReport> {
        main_content::describe(&self.dom, &self.visible(), &self.base)
    }
}
