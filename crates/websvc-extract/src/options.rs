//! Options for the content of a page.

use crate::dom::SelectorSet;
use crate::error::ExtractError;

/// The part of the page to return, and its form.
#[derive(Debug, Clone, Default)]
pub struct ContentOptions {
    /// The whole page or its main content.
    pub scope: ContentScope,
    /// Elements to include. Empty includes all. They are selected from the whole page.
    pub include_tags: Selectors,
    /// Elements to exclude.
    pub exclude_tags: Selectors,
    /// Elements to exclude unless they contain a `main`, an `article` or an `h1`: cookie banners and similar.
    pub banners: Selectors,
    /// Handling of images in `data:` URLs.
    pub base64_images: Base64Images,
}

/// The part of the page that counts as content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContentScope {
    /// Only the main content, without navigation, banners, sidebars and footers.
    #[default]
    Main,
    /// All visible content.
    Full,
}

/// Handling of images in `data:` URLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Base64Images {
    /// Replaces the data by the marker `<Base64-Image-Removed>`. The alternative text remains.
    #[default]
    Replace,
    /// Includes the data in the output.
    Keep,
}

/// A list of parsed CSS selectors or tag names.
#[derive(Debug, Clone, Default)]
pub struct Selectors(pub(crate) SelectorSet);

impl Selectors {
    /// Parses each entry of `list` as a CSS selector (a tag name is one). Blank entries are ignored.
    ///
    /// # Errors
    /// [`ExtractError::Selector`] with the first invalid entry.
    pub fn parse<S: AsRef<str>>(list: &[S]) -> Result<Selectors, ExtractError> {
        let mut set = SelectorSet::default();
        for entry in list {
            let entry = entry.as_ref().trim();
            if !entry.is_empty() {
                set.add(entry)
                    .map_err(|source| ExtractError::Selector { selector: entry.to_owned(), source })?;
            }
        }
        Ok(Selectors(set))
    }

    /// Returns whether there are no selectors.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
