//! Values of attributes of the elements that selectors match.

use websvc_types::format::{AttributeSelector, AttributeValues};
use websvc_types::limits::{ATTRIBUTE_VALUES_MAX, ATTRIBUTE_VALUES_MAX_BYTES};

use crate::document::Document;
use crate::dom::{MatchScope, NodeId, SelectorSet};
use crate::error::ExtractError;

/// Values of attributes of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageAttributes {
    /// One item for each selector.
    pub values: Vec<AttributeValues>,
    /// False if values were left out because of a limit.
    pub is_complete: bool,
}

/// Reads the values of attributes of the whole page.
pub(crate) fn read(
    document: &Document,
    selectors: &[AttributeSelector],
) -> Result<PageAttributes, ExtractError> {
    let mut page = PageAttributes { values: Vec::with_capacity(selectors.len()), is_complete: true };
    let mut free_bytes = ATTRIBUTE_VALUES_MAX_BYTES;
    for AttributeSelector { selector, attribute } in selectors {
        let mut set = SelectorSet::default();
        set.add(selector.trim())
            .map_err(|source| ExtractError::Selector { selector: selector.clone(), source })?;
        let (elements, scope) = set.matches(&document.dom, NodeId::ROOT);
        page.is_complete &= scope == MatchScope::All;
        // Attributes of HTML are in lower case; some of SVG, such as `viewBox`, are not.
        let name = attribute.trim();
        let lower = name.to_ascii_lowercase();
        let value = |id| document.dom.attribute(id, name).or_else(|| document.dom.attribute(id, &lower));
        let mut values = Vec::new();
        for value in elements.into_iter().filter_map(value) {
            if values.len() == ATTRIBUTE_VALUES_MAX || value.len() > free_bytes {
                page.is_complete = false;
                break;
            }
            free_bytes -= value.len();
            values.push(value.to_owned());
        }
        let mut found = AttributeValues::default();
        found.selector.clone_from(selector);
        found.attribute.clone_from(attribute);
        found.values = values;
        page.values.push(found);
    }
    Ok(page)
}
