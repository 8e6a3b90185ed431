//! Options for the content of a page.

use crate::dom::SelectorSet;
use crate::error::ExtractError;

/// Which part of the page is wanted, and how.
#[derive(Debug, Clone, Default)]
pub struct ContentOptions {
    /// The whole page, or its main content only.
    pub scope: ContentScope,
    /// Elements to keep; empty keeps all. They are taken from the whole page.
    pub include_tags: Selectors,
    /// Elements to leave out.
    pub exclude_tags: Selectors,
    /// Elements to leave out unless they hold a `main`, an `article` or an `h1`: questions about cookies and the like.
    pub banners: Selectors,
    /// Handling of images embedded as `data:` URLs.
    pub base64_images: Base64Images,
}

/// How much of the page counts as content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContentScope {
    /// Only the main content: no navigation, banners, sidebars, footers.
    #[default]
    Main,
    /// Everything visible.
    Full,
}

/// The treatment of images embedded as `data:` URLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Base64Images {
    /// The data gives way to the marker `<Base64-Image-Removed>`; the alternative text stays.
    #[default]
    Replace,
    /// The data stays in the output.
    Keep,
}

/// A list of CSS selectors or tag names that parsed without error.
#[derive(Debug, Clone, Default)]
pub struct Selectors(pub(crate) SelectorSet);

impl Selectors {
    /// Reads every entry of `list` as a CSS selector (a tag name is one); blank entries count for nothing.
    ///
    /// # Errors
    /// [`ExtractError::Selector`] names the first entry that is not a selector.
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

    /// Tells whether nothing is selected.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
